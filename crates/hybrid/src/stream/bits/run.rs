//! A product of bits in tiles, by the same three threads as a product of numbers ([`crate::stream::matmul`]): a reader, a feeder, a writer.
//!
//! The first band of columns comes whole; then, with each band of rows, a slice of the next band of columns. So the device waits for
//! operands once, at the begin.

use super::engine::{BitMultiplication, BitMultiplier};
use super::operands::Stored;
use super::packing;
use super::{Becomes, BitPlan, BitProduct, Bits};
use crate::Error;
use crate::bits::gpu::words_per_row;
use crate::store::{Sink, Stored as _, Tile, write_staged};
use crate::stream::engine::{Engine, Finish, Queue};
use crate::stream::matmul::{Finished, Free, Staging, Tiles};
use crate::stream::pipeline::{Stop, filled_with};
use crate::stream::{Control, STAGES, Traffic};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// A product under way.
struct Run<'a, E> {
    engine: &'a E,
    plan: &'a BitPlan,
    product: &'a BitProduct<'a>,
    becomes: Becomes,
    sink: &'a dyn Sink,
    stored: Stored,
    staging: Staging,
    control: Control<'a>,
}

/// Memory of the device for operands.
struct Operands<E: Engine<u32>> {
    /// Bands of rows, one after the other.
    lefts: Vec<E::Buffer>,
    /// Where the next band of columns comes to.
    arriving: E::Buffer,
    /// The band of columns that is multiplied.
    ready: E::Buffer,
}

/// What goes to the device at a time: bits of an operand, to a place of their own in its buffer.
struct Piece<'a> {
    bits: Bits<'a>,
    tile: Tile,
    /// Words before it in the buffer.
    at: usize,
}

/// Runs a product of something on a device, tile by tile, into a sink, which is not committed. Whoever fails first says why.
pub(super) fn run<E: BitMultiplier>(
    engine: &E,
    (plan, staging): (&BitPlan, Staging),
    (product, becomes): (&BitProduct<'_>, Becomes),
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let stored = Stored::of(product, becomes, sink)?;
    let staging = Staging { elements: staging.elements.max(plan.longest_row()), ..staging };
    let run = Run { engine, plan, product, becomes, sink, stored, staging, control };
    let lefts = (0..STAGES).map(|_| engine.buffer(plan.left_words())).collect::<Result<Vec<_>, _>>()?;
    let [arriving, ready] = plan.right_words();
    let mut operands = Operands::<E> { lefts, arriving: engine.buffer(arriving)?, ready: engine.buffer(ready)? };
    let results = (0..plan.results()).map(|_| engine.buffer(plan.result_words())).collect::<Result<Vec<_>, _>>()?;
    let [to_device, to_host] = [staging.slots, staging.slots_back]
        .map(|count| (0..count).map(|_| engine.host(staging.elements)).collect::<Result<Vec<_>, _>>());
    let (to_device, to_host) = (to_device?, to_host?);

    let (free, to_fill) = filled_with(to_device);
    let (filled, to_feed) = channel();
    let (results_back, free_results) = filled_with(results.into_iter().map(|result| (result, None)));
    let (finished, to_write) = channel();
    let _finish = Finish::at_the_end(engine);
    thread::scope(|scope| {
        let reader = scope.spawn(|| run.read(to_fill, filled));
        let writer = scope.spawn(|| run.write(to_host, to_write, results_back));
        let fed = run.feed(&mut operands, (to_feed, free), Tiles { free: free_results, finished });
        let [read, written] = [reader, writer].map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        match fed {
            Err(Stop::Here(error)) => Err(error),
            _ => read.and(written).map(|()| run.traffic()),
        }
    })
}

impl<'a, E: BitMultiplier> Run<'a, E> {
    fn bands_of_rows(&self) -> impl Iterator<Item = Range<usize>> + use<E> {
        parts(0..self.plan.extents.rows, self.plan.tile[0])
    }

    fn bands_of_columns(&self) -> impl Iterator<Item = Range<usize>> + use<E> {
        parts(0..self.plan.extents.columns, self.plan.tile[1])
    }

    /// A band of rows of the left factor.
    fn left(&self, rows: &Range<usize>) -> Piece<'a> {
        let tile = Tile { rows: rows.clone(), columns: 0..self.plan.extents.depth };
        Piece { bits: self.product.left, tile, at: 0 }
    }

    /// A part of a band of columns of the right factor: one of `parts` slices of it as it is stored.
    fn right(&self, columns: &Range<usize>, part: usize, parts: usize) -> Piece<'a> {
        let Tile { rows, columns } = self.product.right_of(columns.clone());
        let [begin, end] = [part, part + 1].map(|part| rows.len() * part / parts);
        let tile = Tile { rows: rows.start + begin..rows.start + end, columns };
        Piece { bits: self.product.right, at: begin * words_per_row(tile.columns.len()), tile }
    }

    /// The tiles of the result in their order, with what goes to the device for each.
    fn steps(&self) -> impl Iterator<Item = Step<'a>> {
        let down = self.plan.counts()[0];
        let next = self.bands_of_columns().skip(1).map(Some).chain([None]);
        self.bands_of_columns().zip(next).flat_map(move |(columns, next)| {
            self.bands_of_rows().enumerate().map(move |(number, rows)| Step {
                left: self.left(&rows),
                next: next.as_ref().map(|next| self.right(next, number, down)),
                begins: number == 0,
                tile: Tile { rows, columns: columns.clone() },
            })
        })
    }

    /// The whole first band of columns.
    fn first(&self) -> Option<Piece<'a>> {
        self.bands_of_columns().next().map(|columns| self.right(&columns, 0, 1))
    }

    /// Rows that go through host memory at a time, of so many words.
    fn slots(&self, rows: Range<usize>, words: usize) -> impl Iterator<Item = Range<usize>> + use<E> {
        parts(rows, (self.staging.elements / words.max(1)).max(1))
    }

    fn slots_of(&self, piece: &Piece<'_>) -> impl Iterator<Item = Tile> + use<E> {
        let columns = piece.tile.columns.clone();
        self.slots(piece.tile.rows.clone(), words_per_row(columns.len()))
            .map(move |rows| Tile { rows, columns: columns.clone() })
    }

    /// Fills host memory with all that goes to the device, in the order of [`Run::feed`].
    fn read(&self, free: Receiver<E::Host>, filled: Sender<E::Host>) -> Result<(), Error> {
        let _finish = Finish::at_the_end(self.engine);
        let bring = |piece: Piece<'_>| -> Result<(), Stop> {
            for slot in self.slots_of(&piece) {
                let mut host = free.recv()?;
                packing::read(&piece.bits, &slot, &mut host[..words(&slot)], self.staging.threads)?;
                filled.send(host)?;
            }
            Ok(())
        };
        let all = || {
            self.first().into_iter().try_for_each(bring)?;
            self.steps().flat_map(|step| [Some(step.left), step.next]).flatten().try_for_each(bring)
        };
        match all() {
            Err(Stop::Here(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Keeps the device busy.
    fn feed(
        &self,
        operands: &mut Operands<E>,
        (filled, free): (Receiver<E::Host>, Sender<E::Host>),
        tiles: Tiles<u32, E>,
    ) -> Result<(), Stop> {
        let _finish = Finish::at_the_end(self.engine);
        let engine = self.engine;
        let bring = |piece: &Piece<'_>, to: &mut E::Buffer| -> Result<(), Stop> {
            let mut at = piece.at;
            for slot in self.slots_of(piece) {
                let host = filled.recv()?;
                engine.bring(&host, words(&slot), to, at)?;
                // The reader is gone once it has read everything.
                let _ = free.send(host);
                at += words(&slot);
            }
            Ok(())
        };
        let [down, across] = self.plan.counts();
        let (mut done, all) = (0, (down * across) as u64);
        self.control.check(done, all)?;
        if let Some(first) = self.first() {
            bring(&first, &mut operands.arriving)?;
        }
        // Behind the last product that read a band of rows, and behind what left the memory that bands of columns come to.
        let mut read: [Option<E::Mark>; STAGES] = [const { None }; STAGES];
        let mut left_behind = None;
        for (step, stage) in self.steps().zip((0..STAGES).cycle()) {
            self.control.check(done, all)?;
            if step.begins {
                self.turn(operands, step.tile.columns.len())?;
                left_behind = Some(engine.mark(Queue::Compute)?);
            }
            let (mut result, copied) = tiles.free.recv()?;
            if let Some(copied) = copied {
                engine.wait(Queue::Compute, &copied)?;
            }
            if let Some(read) = &read[stage] {
                engine.wait(Queue::In, read)?;
            }
            let left = &mut operands.lefts[stage];
            bring(&step.left, left)?;
            engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            engine.count_pairs(&self.multiplication(&step.tile), [left, &operands.ready], &mut result)?;
            read[stage] = Some(engine.mark(Queue::Compute)?);
            tiles.finished.send(Finished {
                tile: step.tile,
                buffer: result,
                computed: engine.mark(Queue::Compute)?,
            })?;
            done += 1;
            self.control.tell(done, all);
            if let Some(next) = &step.next {
                if let Some(left_behind) = &left_behind {
                    engine.wait(Queue::In, left_behind)?;
                }
                bring(next, &mut operands.arriving)?;
            }
        }
        Ok(())
    }

    /// Makes the band of columns that has come the one that is multiplied.
    fn turn(&self, operands: &mut Operands<E>, columns: usize) -> Result<(), Error> {
        let engine = self.engine;
        engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
        if self.product.transposes() {
            let Operands { arriving, ready, .. } = operands;
            return engine.transpose(arriving, [self.plan.extents.depth, columns], ready);
        }
        std::mem::swap(&mut operands.arriving, &mut operands.ready);
        Ok(())
    }

    fn multiplication(&self, tile: &Tile) -> BitMultiplication {
        let (rows, columns) = (tile.rows.len(), tile.columns.len());
        BitMultiplication { rows, columns, depth: self.plan.extents.depth, becomes: self.becomes }
    }

    /// Copies tiles back and writes them: while some rows are written the next ones are on their way.
    fn write(
        &self,
        mut hosts: Vec<E::Host>,
        finished: Receiver<Finished<E, u32>>,
        free: Sender<Free<u32, E>>,
    ) -> Result<(), Error> {
        let _finish = Finish::at_the_end(self.engine);
        let engine = self.engine;
        let mut on_their_way: VecDeque<(E::Host, Tile)> = VecDeque::new();
        while let Ok(Finished { tile, buffer, computed }) = finished.recv() {
            engine.wait(Queue::Out, &computed)?;
            let row = self.plan.result_row(tile.columns.len());
            let mut at = 0;
            for rows in self.slots(tile.rows.clone(), row) {
                let mut host = match hosts.pop() {
                    Some(host) => host,
                    None => {
                        let Some((host, slot)) = on_their_way.pop_front() else { continue };
                        self.land(host, &slot)?
                    }
                };
                let words = row * rows.len();
                engine.take_back(&buffer, at, words, &mut host)?;
                at += words;
                on_their_way.push_back((host, Tile { rows, columns: tile.columns.clone() }));
            }
            let left = engine.mark(Queue::Out)?;
            // Nobody waits for it behind the last tile.
            let _ = free.send((buffer, Some(left)));
        }
        on_their_way.into_iter().try_for_each(|(host, slot)| self.land(host, &slot).map(drop))
    }

    /// Waits for rows of results, and writes them.
    fn land(&self, mut host: E::Host, slot: &Tile) -> Result<E::Host, Error> {
        let words = self.plan.result_row(slot.columns.len()) * slot.rows.len();
        let (results, threads) = (&mut host[..words], self.staging.threads);
        match &self.stored {
            Stored::Counts => write_staged(self.sink, slot, u32::bytes(results), threads)?,
            Stored::Bits(packing) => packing::write((self.sink, packing), slot, results, threads)?,
        }
        Ok(host)
    }

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let [to_gpu, to_host] =
            [self.plan.bytes_to_gpu(), self.plan.bytes_to_host()].map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
        Traffic { to_gpu, to_host }
    }
}

/// A tile of the result, and what it needs.
struct Step<'a> {
    /// Has to be there before.
    left: Piece<'a>,
    /// May come meanwhile.
    next: Option<Piece<'a>>,
    /// Whether it is the first of its columns.
    begins: bool,
    tile: Tile,
}

/// A range in parts of so many, of which the last one may have fewer.
fn parts(all: Range<usize>, part: usize) -> impl Iterator<Item = Range<usize>> {
    let end = all.end;
    all.step_by(part).map(move |begin| begin..end.min(begin.saturating_add(part)))
}

/// Words of a tile of bits.
fn words(tile: &Tile) -> usize {
    tile.rows.len() * words_per_row(tile.columns.len())
}
