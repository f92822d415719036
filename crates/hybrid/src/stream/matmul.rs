//! A product of matrices in tiles: read, copied, multiplied, copied back and written at the same time.
//!
//! Three threads meet in channels. The *reader* fills host memory with bands of panels, in the order in which they are needed. The
//! caller's thread *feeds* the device: it queues the copy of each band, and the product of a panel behind them. The *writer* queues the
//! copies of finished tiles back, and writes them. Memory goes round: who is done with it hands it back, and looking into host memory
//! waits for its copy. So nobody waits for more than the next thing to do.

use super::control::Control;
use super::engine::{Engine, Finish, Form, Multiplication, Multiplier, Queue};
use super::matmul_plan::MatmulPlan;
use super::pipeline::{Stop, count, filled_with};
use crate::Error;
use crate::dispatch::ProductExtents;
use crate::linear::Scalar;
use crate::store::{Extents, Sink, Source, Stored, Tile, read_staged, write_staged};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;

/// A factor of a product: a source, and how it enters.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    /// The stored matrix.
    pub source: &'a dyn Source,
    /// How it enters.
    pub form: Form,
}

/// `alpha * a * b + beta * c`.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    /// The first factor.
    pub a: Factor<'a>,
    /// The second.
    pub b: Factor<'a>,
    /// What is added, times `beta`; never read where `beta` is 0.
    pub c: Option<&'a dyn Source>,
    /// A number.
    pub alpha: T,
    /// Another.
    pub beta: T,
}

/// Host memory that a stream goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Staging {
    /// Slots on the way to the device, at least 1: with 3 a reader, a copy and a product are busy.
    pub(super) slots: usize,
    /// Slots on the way back, at least 1.
    pub(super) slots_back: usize,
    /// Elements of a slot; at least one row of a panel and of a tile is taken.
    pub(super) elements: usize,
    /// Threads that fill a slot.
    pub(super) threads: usize,
}

/// Bytes that were copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To the device.
    pub to_gpu: u64,
    /// Back.
    pub to_host: u64,
}

impl Factor<'_> {
    /// The tile of the stored matrix that is this part of the factor.
    pub(super) fn stored(&self, rows: Range<usize>, columns: Range<usize>) -> Tile {
        match self.form {
            Form::Plain => Tile { rows, columns },
            Form::Transposed | Form::Adjoint => Tile { rows: columns, columns: rows },
        }
    }
}

/// A tile of the result, and where in the whole it lies.
pub(super) struct Finished<E: Engine<T>, T> {
    pub(super) tile: Tile,
    pub(super) buffer: E::Buffer,
    pub(super) computed: E::Mark,
}

/// The memory of a tile that is free again, once the copies behind the mark have left it.
pub(super) type Free<T, E> = (<E as Engine<T>>::Buffer, Option<<E as Engine<T>>::Mark>);

/// Tiles that go round between who computes them and who copies them back.
pub(super) struct Tiles<T, E: Engine<T>> {
    pub(super) free: Receiver<Free<T, E>>,
    pub(super) finished: Sender<Finished<E, T>>,
}

/// Runs a product on a device, tile by tile, into a sink, which is not committed. Whoever fails first says why.
pub(super) fn run<T: Scalar + Stored, E: Multiplier<T>>(
    engine: &E,
    plan: &MatmulPlan,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    staging: Staging,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let run = Run { engine, plan, product, sink, staging: staging.of(plan), control };
    let [rows, columns] = plan.tile;
    let panel = || Ok::<_, Error>([engine.buffer(rows * plan.panel)?, engine.buffer(plan.panel * columns)?]);
    let mut panels = (0..plan.stages).map(|_| panel()).collect::<Result<Vec<_>, _>>()?;
    let tiles = (0..plan.results()).map(|_| engine.buffer(rows * columns)).collect::<Result<Vec<_>, _>>()?;
    let [to_device, to_host] = [run.staging.slots, run.staging.slots_back]
        .map(|count| (0..count).map(|_| engine.host(run.staging.elements)).collect::<Result<Vec<_>, _>>());
    let (to_device, to_host) = (to_device?, to_host?);

    let (free, to_fill) = filled_with(to_device);
    let (filled, to_feed) = channel();
    let (tiles_back, free_tiles) = filled_with(tiles.into_iter().map(|tile| (tile, None)));
    let (finished, to_write) = channel();
    let _finish = Finish::at_the_end(engine);
    thread::scope(|scope| {
        let reader = scope.spawn(|| run.read(to_fill, filled));
        let writer = scope.spawn(|| run.write(to_host, to_write, tiles_back));
        let fed = run.feed(&mut panels, (to_feed, free), Tiles { free: free_tiles, finished });
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

impl Staging {
    /// With room for a row of whatever goes through.
    fn of(self, plan: &MatmulPlan) -> Staging {
        let longest = plan.panel.max(plan.tile[0]).max(plan.tile[1]);
        Staging {
            slots: self.slots.max(1),
            slots_back: self.slots_back.max(1),
            elements: self.elements.max(longest),
            threads: self.threads.max(1),
        }
    }
}

/// A product under way.
struct Run<'a, T, E> {
    engine: &'a E,
    plan: &'a MatmulPlan,
    product: &'a Product<'a, T>,
    sink: &'a dyn Sink,
    staging: Staging,
    control: Control<'a>,
}

impl<'a, T: Scalar + Stored, E: Multiplier<T>> Run<'a, T, E> {
    /// The tiles of the result, in their order.
    fn tiles(&self) -> impl Iterator<Item = Tile> {
        let ProductExtents { rows, columns, .. } = self.plan.extents;
        Extents::new(rows, columns).tiles(Extents::new(self.plan.tile[0], self.plan.tile[1]))
    }

    /// The parts of the depth that are added up, in their order: none where nothing of the factors enters.
    fn panels(&self) -> impl Iterator<Item = Range<usize>> {
        let depth = if self.product.alpha == T::ZERO { 0 } else { self.plan.extents.depth };
        (0..depth).step_by(self.plan.panel).map(move |begin| begin..(begin + self.plan.panel).min(depth))
    }

    /// What is added, where there is something to add.
    fn added(&self) -> Option<&'a dyn Source> {
        self.product.c.filter(|_| self.product.beta != T::ZERO)
    }

    /// What a panel of a tile is made of.
    fn pieces(&self, tile: &Tile, panel: &Range<usize>) -> [(&'a dyn Source, Tile); 2] {
        let Product { a, b, .. } = self.product;
        [
            (a.source, a.stored(tile.rows.clone(), panel.clone())),
            (b.source, b.stored(panel.clone(), tile.columns.clone())),
        ]
    }

    /// The bands of rows in which a tile goes through host memory.
    fn bands(&self, tile: &Tile) -> impl Iterator<Item = Tile> + use<T, E> {
        let (end, columns) = (tile.rows.end, tile.columns.clone());
        let height = (self.staging.elements / columns.len().max(1)).max(1);
        tile.rows.clone().step_by(height).map(move |top| {
            let rows = top..end.min(top.saturating_add(height));
            Tile { rows, columns: columns.clone() }
        })
    }

    fn steps(&self) -> u64 {
        (self.tiles().count() * self.panels().count().max(1)) as u64
    }

    /// Fills host memory with all that goes to the device, in the order of [`Run::feed`].
    fn read(&self, free: Receiver<E::Host>, filled: Sender<E::Host>) -> Result<(), Error> {
        let _finish = Finish::at_the_end(self.engine);
        let bring = |source: &dyn Source, tile: &Tile| -> Result<(), Stop> {
            for band in self.bands(tile) {
                let mut host = free.recv()?;
                let values = &mut host[..count(&band)];
                T::fill(values, &mut |bytes| read_staged(source, &band, bytes, self.staging.threads))?;
                filled.send(host)?;
            }
            Ok(())
        };
        let all = || -> Result<(), Stop> {
            for tile in self.tiles() {
                if let Some(c) = self.added() {
                    bring(c, &tile)?;
                }
                for panel in self.panels() {
                    for (source, piece) in self.pieces(&tile, &panel) {
                        bring(source, &piece)?;
                    }
                }
            }
            Ok(())
        };
        match all() {
            Err(Stop::Here(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Keeps the device busy.
    fn feed(
        &self,
        panels: &mut [[E::Buffer; 2]],
        (filled, free): (Receiver<E::Host>, Sender<E::Host>),
        tiles: Tiles<T, E>,
    ) -> Result<(), Stop> {
        let _finish = Finish::at_the_end(self.engine);
        let (engine, steps) = (self.engine, self.steps());
        let bring = |tile: &Tile, to: &mut E::Buffer| -> Result<(), Stop> {
            let mut at = 0;
            for band in self.bands(tile) {
                let host = filled.recv()?;
                engine.bring(&host, count(&band), to, at)?;
                // The reader is gone once it has read everything.
                let _ = free.send(host);
                at += count(&band);
            }
            Ok(())
        };
        // Behind the last product that read a stage's panels.
        let mut read: Vec<Option<E::Mark>> = panels.iter().map(|_| None).collect();
        let (mut done, mut stage) = (0, 0);
        for tile in self.tiles() {
            let (mut c, left) = tiles.free.recv()?;
            if let Some(left) = left {
                let first = if self.added().is_some() { Queue::In } else { Queue::Compute };
                engine.wait(first, &left)?;
            }
            if self.added().is_some() {
                bring(&tile, &mut c)?;
                engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            }
            let mut beta = self.product.beta;
            for panel in self.panels() {
                self.control.check(done, steps)?;
                if let Some(read) = &read[stage] {
                    engine.wait(Queue::In, read)?;
                }
                let [a, b] = &mut panels[stage];
                let [(_, of_a), (_, of_b)] = self.pieces(&tile, &panel);
                bring(&of_a, a)?;
                bring(&of_b, b)?;
                engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
                engine.multiply(&self.multiplication(&tile, panel.len(), beta), [a, b], &mut c)?;
                read[stage] = Some(engine.mark(Queue::Compute)?);
                beta = T::ONE;
                stage = (stage + 1) % panels.len();
                done += 1;
                self.control.tell(done, steps);
            }
            if self.panels().next().is_none() {
                self.control.check(done, steps)?;
                let [a, b] = &panels[stage];
                engine.multiply(&self.multiplication(&tile, 0, beta), [a, b], &mut c)?;
                done += 1;
                self.control.tell(done, steps);
            }
            tiles.finished.send(Finished { tile, buffer: c, computed: engine.mark(Queue::Compute)? })?;
        }
        Ok(())
    }

    fn multiplication(&self, tile: &Tile, depth: usize, beta: T) -> Multiplication<T> {
        let Product { a, b, alpha, .. } = *self.product;
        let (rows, columns) = (tile.rows.len(), tile.columns.len());
        Multiplication { rows, columns, depth, forms: [a.form, b.form], alpha, beta }
    }

    /// Copies tiles back and writes them: while one band is written the next one is on its way.
    fn write(
        &self,
        mut hosts: Vec<E::Host>,
        finished: Receiver<Finished<E, T>>,
        free: Sender<Free<T, E>>,
    ) -> Result<(), Error> {
        // Nobody waits for the last tiles; they stay until what is copied from them has been.
        let mut last = Vec::new();
        let _finish = Finish::at_the_end(self.engine);
        let engine = self.engine;
        let mut on_their_way: VecDeque<(E::Host, Tile)> = VecDeque::new();
        let land = |host: E::Host, band: &Tile| -> Result<E::Host, Error> {
            write_staged(self.sink, band, T::bytes(&host[..count(band)]), self.staging.threads)?;
            Ok(host)
        };
        while let Ok(Finished { tile, buffer, computed }) = finished.recv() {
            engine.wait(Queue::Out, &computed)?;
            let mut at = 0;
            for band in self.bands(&tile) {
                let mut host = match hosts.pop() {
                    Some(host) => host,
                    None => {
                        let Some((host, band)) = on_their_way.pop_front() else { continue };
                        land(host, &band)?
                    }
                };
                engine.take_back(&buffer, at, count(&band), &mut host)?;
                at += count(&band);
                on_their_way.push_back((host, band));
            }
            let left = engine.mark(Queue::Out)?;
            if let Err(SendError(tile)) = free.send((buffer, Some(left))) {
                last.push(tile);
            }
        }
        on_their_way.into_iter().try_for_each(|(host, band)| land(host, &band).map(drop))
    }

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let bytes = |elements: usize| elements as u64 * self.plan.element_bytes as u64;
        let mut traffic = Traffic::default();
        for tile in self.tiles() {
            let c = bytes(count(&tile));
            traffic.to_host += c;
            traffic.to_gpu += if self.added().is_some() { c } else { 0 };
            for panel in self.panels() {
                traffic.to_gpu += self.pieces(&tile, &panel).iter().map(|(_, piece)| bytes(count(piece))).sum::<u64>();
            }
        }
        traffic
    }
}
