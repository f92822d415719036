//! A product of bits in tiles, through the pipeline.
//!
//! The first band of columns comes whole; then, with each band of rows, a slice of the next band of columns. So the device waits for
//! operands once, at the begin.

use super::engine::{BitMultiplication, BitMultiplier};
use super::operands::Stored;
use super::packing;
use super::{Becomes, BitPlan, BitProduct, Bits};
use crate::Error;
use crate::bits::gpu::words_per_row;
use crate::store::{Sink, Stored as _, Tile};
use crate::stream::engine::{Engine, Queue};
use crate::stream::hints::{self, Hinted, Read};
use crate::stream::pipeline::{self, Back, Feed, Flow};
use crate::stream::stages::facts;
use crate::stream::staging::Staging;
use crate::stream::turns::Stop;
use crate::stream::{Control, STAGES, Traffic};
use serde_json::Value;
use std::ops::Range;

/// A product under way.
struct Run<'a> {
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
    /// Whether nobody reads it again.
    is_last: bool,
}

/// Runs a product of something on a device, tile by tile, into a sink, which is not committed. Whoever fails first says why.
pub(super) fn run<E: BitMultiplier>(
    engine: &E,
    (plan, staging): (&BitPlan, Staging),
    (product, becomes): (&BitProduct<'_>, Becomes),
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    control.unverified("a streamed product of bits", sink.element().name())?;
    let stored = Stored::of(product, becomes, sink)?;
    stored.say(sink)?;
    let staging = Staging { elements: staging.elements.max(plan.longest_row()), ..staging };
    let run = Run { plan, product, becomes, sink, stored, staging, control };
    let lefts = (0..STAGES).map(|_| engine.buffer(plan.left_words())).collect::<Result<Vec<_>, _>>()?;
    let [arriving, ready] = plan.right_words();
    let mut operands = Operands::<E> { lefts, arriving: engine.buffer(arriving)?, ready: engine.buffer(ready)? };
    if becomes == Becomes::Distances {
        // What is transposed has there no bits behind its last ones.
        engine.clear(&mut operands.ready)?;
    }
    let result = |_| Ok::<_, Error>([engine.buffer(plan.result_words())?]);
    let mut results = (0..plan.results()).map(result).collect::<Result<Vec<_>, _>>()?;
    if !becomes.is_number() {
        // What is behind the last bits of a row goes back with them, though nobody reads it.
        results.iter_mut().try_for_each(|[result]| engine.clear(result))?;
    }
    pipeline::run(engine, &run, staging, results, |feed| run.feed(engine, &mut operands, feed))?;
    Ok(run.traffic())
}

impl<'a> Run<'a> {
    fn bands_of_rows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        parts(0..self.plan.extents.rows, self.plan.tile[0])
    }

    fn bands_of_columns(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        parts(0..self.plan.extents.columns, self.plan.tile[1])
    }

    /// A band of rows of the left factor, for some columns of the result.
    fn left(&self, rows: &Range<usize>, columns: &Range<usize>) -> Piece<'a> {
        let tile = Tile { rows: rows.clone(), columns: 0..self.plan.extents.depth };
        let is_last = columns.end == self.plan.extents.columns && !self.is_one_source();
        Piece { bits: self.product.left, tile, at: 0, is_last }
    }

    fn is_one_source(&self) -> bool {
        std::ptr::addr_eq(self.product.left.source, self.product.right.source)
    }

    /// A part of a band of columns of the right factor: one of `parts` slices of it as it is stored.
    fn right(&self, columns: &Range<usize>, part: usize, parts: usize) -> Piece<'a> {
        let Tile { rows, columns } = self.product.right_of(columns.clone());
        let [begin, end] = [part, part + 1].map(|part| rows.len() * part / parts);
        let tile = Tile { rows: rows.start + begin..rows.start + end, columns };
        let (at, is_last) = (begin * words_per_row(tile.columns.len()), !self.is_one_source());
        Piece { bits: self.product.right, at, tile, is_last }
    }

    /// The tiles of the result in their order, with what goes to the device for each.
    fn steps(&self) -> impl Iterator<Item = Step<'a>> {
        let down = self.plan.counts()[0];
        let next = self.bands_of_columns().skip(1).map(Some).chain([None]);
        self.bands_of_columns().zip(next).flat_map(move |(columns, next)| {
            self.bands_of_rows().enumerate().map(move |(number, rows)| Step {
                left: self.left(&rows, &columns),
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
    fn slots(&self, rows: Range<usize>, words: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        parts(rows, (self.staging.elements / words.max(1)).max(1))
    }

    fn slots_of(&self, tile: &Tile) -> impl Iterator<Item = Tile> + use<> {
        let columns = tile.columns.clone();
        self.slots(tile.rows.clone(), words_per_row(columns.len()))
            .map(move |rows| Tile { rows, columns: columns.clone() })
    }

    /// All that goes through slots.
    fn reads(&self) -> impl Iterator<Item = Read<'a, (Bits<'a>, Tile)>> {
        let of_steps = self.steps().flat_map(|step| [Some(step.left), step.next]).flatten();
        let slots = |Piece { bits, is_last, ref tile, .. }: Piece<'a>| {
            let of_slot = move |slot: Tile| {
                let part = bits.packing.stored(&slot);
                let done = is_last.then(|| part.clone());
                Read { piece: (bits, slot), part: Some((bits.source, part)), done }
            };
            self.slots_of(tile).map(of_slot)
        };
        self.first().into_iter().chain(of_steps).flat_map(slots)
    }

    /// Keeps the device busy.
    fn feed<E: BitMultiplier>(
        &self,
        engine: &E,
        operands: &mut Operands<E>,
        feed: &mut Feed<'_, u32, E, Self>,
    ) -> Result<(), Stop> {
        let [down, across] = self.plan.counts();
        let (mut done, all) = (0, (down * across) as u64);
        self.control.check(done, all)?;
        if let Some(first) = self.first() {
            self.bring(feed, &first, &mut operands.arriving)?;
        }
        // Behind the last product that read a band of rows, and behind what left the memory that bands of columns come to.
        let mut read: [Option<E::Mark>; STAGES] = [const { None }; STAGES];
        let mut left_behind = None;
        for (step, stage) in self.steps().zip((0..STAGES).cycle()) {
            self.control.check(done, all)?;
            if step.begins {
                self.turn(engine, operands, step.tile.columns.len())?;
                left_behind = Some(engine.mark(Queue::Compute)?);
            }
            let mut result = feed.take_for(Queue::Compute)?;
            if let Some(read) = &read[stage] {
                engine.wait(Queue::In, read)?;
            }
            let left = &mut operands.lefts[stage];
            self.bring(feed, &step.left, left)?;
            engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            let (what, ready) = (self.multiplication(&step.tile), &operands.ready);
            feed.compute(|| facts(&step.tile), || engine.count_pairs(&what, [left, ready], &mut result[0]))?;
            read[stage] = Some(engine.mark(Queue::Compute)?);
            feed.give(step.tile, result)?;
            done += 1;
            self.control.tell(done, all);
            if let Some(next) = &step.next {
                if let Some(left_behind) = &left_behind {
                    engine.wait(Queue::In, left_behind)?;
                }
                self.bring(feed, next, &mut operands.arriving)?;
            }
        }
        Ok(())
    }

    /// Has a piece come into its place in a buffer, in slots as they were read.
    fn bring<E: BitMultiplier>(
        &self,
        feed: &mut Feed<'_, u32, E, Self>,
        piece: &Piece<'_>,
        to: &mut E::Buffer,
    ) -> Result<(), Stop> {
        let mut at = piece.at;
        for slot in self.slots_of(&piece.tile) {
            feed.bring(words(&slot), to, at)?;
            at += words(&slot);
        }
        Ok(())
    }

    /// Makes the band of columns that has come the one that is multiplied.
    fn turn<E: BitMultiplier>(&self, engine: &E, operands: &mut Operands<E>, columns: usize) -> Result<(), Error> {
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

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let [to_gpu, to_host] =
            [self.plan.bytes_to_gpu(), self.plan.bytes_to_host()].map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
        Traffic { to_gpu, to_host }
    }
}

impl<'a, E: BitMultiplier> Flow<u32, E> for Run<'a> {
    type Piece = Hinted<'a, (Bits<'a>, Tile)>;
    type Memory = [E::Buffer; 1];
    type Results = Tile;
    type Part = Tile;

    fn pieces(&self) -> impl Iterator<Item = Result<Self::Piece, Stop>> + Send {
        hints::hinted(self.reads(), self.reads(), &self.staging).map(Ok)
    }

    fn facts_of_piece(&self, piece: &Self::Piece) -> Value {
        facts(&piece.piece.1)
    }

    fn facts_of_part(&self, tile: &Tile) -> Value {
        facts(tile)
    }

    fn read(&self, piece: Self::Piece, host: &mut E::Host) -> Result<(), Error> {
        piece.read(|(bits, slot)| packing::read(&bits, &slot, &mut host[..words(&slot)]))
    }

    fn parts(&self, tile: Tile) -> impl Iterator<Item = Back<Tile>> {
        let (row, mut at) = (self.plan.result_row(tile.columns.len()), 0);
        self.slots(tile.rows, row).map(move |rows| {
            let elements = row * rows.len();
            at += elements;
            Back { buffer: 0, at: at - elements, elements, part: Tile { rows, columns: tile.columns.clone() } }
        })
    }

    fn write(&self, slot: &Tile, host: &mut E::Host) -> Result<(), Error> {
        let results = &mut host[..self.plan.result_row(slot.columns.len()) * slot.rows.len()];
        match &self.stored {
            Stored::Counts => self.sink.write_tile(slot, u32::bytes(results)),
            Stored::Bits(packing) => packing::write((self.sink, packing), slot, results),
        }
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
