//! A left-looking pass: read, copied, computed, copied back and written at the same time, by the threads and channels of products.
//!
//! On the device a panel is stored column by column, as cuSOLVER wants it. What comes from a source lies row by row, goes through the memory of
//! a slice, and is transposed on its way into the panel. The scratch keeps the factors column by column, so that slices, and panels that go
//! back, are whole lines of it.

use super::super::control::Control;
use super::super::engine::{Eliminator, Finish, Form, Queue};
use super::super::matmul::{Factor, Free, Staging, Traffic};
use super::super::pipeline::{Stop, filled_with};
use super::elimination::Feeder;
use super::plan::{PanelPlan, Pass, count};
use super::schedule::Task;
use crate::Error;
use crate::linear::Scalar;
use crate::store::{Scratch, Sink, Stored, Tile, read_staged, rewrite_staged, write_staged};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Where a panel goes.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// To the scratch: it is a part of the factors.
    Factors,
    /// To a sink: it is a part of a solution.
    Solution(&'a dyn Sink),
}

/// A pass under way.
pub(super) struct Run<'a, E> {
    pub(super) engine: &'a E,
    pub(super) plan: &'a PanelPlan,
    pub(super) source: Factor<'a>,
    pub(super) scratch: &'a dyn Scratch,
    pub(super) target: Target<'a>,
    pub(super) staging: Staging,
    pub(super) watch: Watch<'a>,
}

/// Who watches a pass that may be a part of something longer.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    pub(super) control: Control<'a>,
    /// Steps before the pass.
    pub(super) before: u64,
    /// Steps of the whole.
    pub(super) steps: u64,
}

impl Watch<'_> {
    pub(super) fn check(&self, done: u64) -> Result<(), Error> {
        self.control.check(self.before + done, self.steps)
    }

    pub(super) fn tell(&self, done: u64) {
        self.control.tell(self.before + done, self.steps);
    }
}

/// What a pass found: exchanges of rows, block by block, and the diagonal of the factor.
#[derive(Clone, Debug)]
pub(super) struct Found<T> {
    pub(super) exchanges: Vec<Vec<usize>>,
    pub(super) diagonal: Vec<T>,
}

impl<T> Default for Found<T> {
    fn default() -> Found<T> {
        Found { exchanges: Vec::new(), diagonal: Vec::new() }
    }
}

/// A part of a panel on its way back, and where it belongs.
pub(super) struct Finished<E: super::super::engine::Engine<T>, T> {
    pub(super) tile: Tile,
    pub(super) buffer: E::Buffer,
    pub(super) computed: E::Mark,
}

impl<'a, E> Run<'a, E> {
    /// Runs the pass; `known` are the exchanges of factors that solutions are made with. Whoever fails first says why.
    pub(super) fn run<T: Scalar + Stored>(&self, known: &[Vec<usize>]) -> Result<(Found<T>, Traffic), Error>
    where
        E: Eliminator<T>,
    {
        let engine = self.engine;
        let buffers = |(number, elements): (usize, usize)| {
            (0..number).map(|_| engine.buffer(elements)).collect::<Result<VecDeque<_>, Error>>()
        };
        let [panels, slices, meets, back] = self.plan.buffers();
        let (panels, slices, meets, back) = (buffers(panels)?, buffers(slices)?, buffers(meets)?, buffers(back)?);
        let hosts = |number| (0..number).map(|_| engine.host(self.staging.elements)).collect::<Result<Vec<_>, Error>>();
        let (to_device, to_host) = (hosts(self.staging.slots)?, hosts(self.staging.slots_back)?);
        // What goes back is a panel, or a band of one.
        let (kept, given) = if self.plan.factors() { (VecDeque::new(), panels) } else { (panels, back) };
        let (free, to_fill) = filled_with(to_device);
        let (filled, to_feed) = channel();
        let (given_back, free_buffers) = filled_with(given.into_iter().map(|buffer| (buffer, None)));
        let (finished, to_write) = channel();
        let (landed, written) = channel();
        let _finish = Finish::at_the_end(engine);
        thread::scope(|scope| {
            let reader = scope.spawn(|| self.read::<T>(to_fill, filled, written));
            let writer = scope.spawn(|| self.write::<T>(to_host, to_write, given_back, landed));
            let feeder = Feeder {
                run: self,
                panels: kept,
                slices: slices.into_iter().map(|buffer| (buffer, None)).collect(),
                next: 0,
                meets: meets.into_iter().next(),
                under_way: VecDeque::new(),
                finished_panels: 0,
                exchanges: Vec::new(),
                found: Found::default(),
                filled: to_feed,
                free,
                free_buffers,
                finished,
            };
            let fed = feeder.feed(known);
            let [read, written] = [reader, writer].map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            match fed {
                Err(Stop::Here(error)) => Err(error),
                Err(Stop::Elsewhere) => {
                    Err(read.and(written).err().unwrap_or_else(|| unreachable!("somebody ended early")))
                }
                Ok(found) => read.and(written).map(|()| (found, self.traffic())),
            }
        })
    }

    fn traffic(&self) -> Traffic {
        let bytes = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        Traffic { to_gpu: bytes(self.plan.bytes_to_gpu()), to_host: bytes(self.plan.bytes_to_host()) }
    }

    /// What of the source becomes these rows of a panel.
    pub(super) fn loaded(&self, panel: usize, rows: &std::ops::Range<usize>) -> Tile {
        self.source.stored(rows.clone(), self.plan.columns_of(panel))
    }

    /// Parts of a tile that host memory has room for: rows, or parts of a row.
    pub(super) fn pieces(&self, tile: &Tile) -> impl Iterator<Item = Tile> + use<E> {
        let (width, elements) = (tile.columns.len(), self.staging.elements.max(1));
        let (height, across) = ((elements / width.max(1)).max(1), width.clamp(1, elements));
        let Tile { rows, columns } = tile.clone();
        rows.clone().step_by(height).flat_map(move |top| {
            let (rows, end) = (top..rows.end.min(top.saturating_add(height)), columns.end);
            let parts = columns.clone().step_by(across);
            parts.map(move |left| Tile { rows: rows.clone(), columns: left..end.min(left.saturating_add(across)) })
        })
    }

    /// Fills host memory with all that goes to the device, in the order of the tasks.
    fn read<T: Scalar + Stored>(
        &self,
        free: Receiver<E::Host>,
        filled: Sender<E::Host>,
        written: Receiver<()>,
    ) -> Result<(), Error>
    where
        E: Eliminator<T>,
    {
        let _finish = Finish::at_the_end(self.engine);
        let threads = self.staging.threads;
        let mut panels_written = 0;
        let mut all = || -> Result<(), Stop> {
            for task in self.plan.tasks() {
                if let Task::Load { panel, rows } = &task {
                    for piece in self.pieces(&self.loaded(*panel, rows)) {
                        let mut host = free.recv()?;
                        let values = &mut host[..count(&piece)];
                        T::fill(values, &mut |bytes| read_staged(self.source.source, &piece, bytes, threads))?;
                        self.adapt(values, &piece);
                        filled.send(host)?;
                    }
                }
                let Some(tile) = self.plan.streamed(&task) else { continue };
                while self.plan.factors() && panels_written * self.plan.panel < tile.rows.end {
                    written.recv()?;
                    panels_written += 1;
                }
                for piece in self.pieces(&tile) {
                    let mut host = free.recv()?;
                    let values = &mut host[..count(&piece)];
                    T::fill(values, &mut |bytes| read_staged(self.scratch, &piece, bytes, threads))?;
                    filled.send(host)?;
                }
            }
            Ok(())
        };
        match all() {
            Err(Stop::Here(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// What copies do not do: conjugates, and a diagonal without imaginary parts, of which Cholesky's factorisation knows nothing.
    fn adapt<T: Scalar>(&self, values: &mut [T], piece: &Tile) {
        if !T::COMPLEX {
            return;
        }
        if self.source.form == Form::Adjoint {
            values.iter_mut().for_each(|value| *value = value.conjugate());
        }
        if self.plan.pass == Pass::Cholesky {
            make_diagonal_real(values, piece);
        }
    }

    /// Copies what is finished back and writes it.
    fn write<T: Scalar + Stored>(
        &self,
        mut hosts: Vec<E::Host>,
        finished: Receiver<Finished<E, T>>,
        free: Sender<Free<T, E>>,
        landed: Sender<()>,
    ) -> Result<(), Error>
    where
        E: Eliminator<T>,
    {
        let _finish = Finish::at_the_end(self.engine);
        let engine = self.engine;
        while let Ok(Finished { tile, buffer, computed }) = finished.recv() {
            let on_their_way = self.take_back::<T>(&mut hosts, &tile, (&buffer, &computed)).inspect_err(|_| {
                // Copies may still read what is given back to the device now.
                engine.finish();
            })?;
            let left = engine.mark(Queue::Out).inspect_err(|_| engine.finish())?;
            if let Err(unwanted) = free.send((buffer, Some(left))) {
                // Nobody waits for it behind the last panel.
                engine.finish();
                drop(unwanted);
            }
            for (host, piece) in on_their_way {
                hosts.push(self.land::<T>(host, &piece)?);
            }
            let _ = landed.send(());
        }
        Ok(())
    }

    /// Queues the copies back of a tile and writes what has come; the last pieces are on their way then.
    fn take_back<T: Scalar + Stored>(
        &self,
        hosts: &mut Vec<E::Host>,
        tile: &Tile,
        (buffer, computed): (&E::Buffer, &E::Mark),
    ) -> Result<VecDeque<(E::Host, Tile)>, Error>
    where
        E: Eliminator<T>,
    {
        self.engine.wait(Queue::Out, computed)?;
        let (mut at, mut on_their_way) = (0, VecDeque::new());
        for piece in self.pieces(tile) {
            let mut host = match hosts.pop() {
                Some(host) => host,
                None => {
                    let Some((host, piece)) = on_their_way.pop_front() else { continue };
                    self.land::<T>(host, &piece)?
                }
            };
            self.engine.take_back(buffer, at, count(&piece), &mut host)?;
            at += count(&piece);
            on_their_way.push_back((host, piece));
        }
        Ok(on_their_way)
    }

    fn land<T: Scalar + Stored>(&self, mut host: E::Host, piece: &Tile) -> Result<E::Host, Error>
    where
        E: Eliminator<T>,
    {
        let (values, threads) = (&mut host[..count(piece)], self.staging.threads);
        if self.plan.pass == Pass::Cholesky {
            clear_above(values, piece);
            make_diagonal_real(values, piece);
        }
        match self.target {
            Target::Factors => rewrite_staged(self.scratch, piece, T::bytes(values), threads)?,
            Target::Solution(sink) => write_staged(sink, piece, T::bytes(values), threads)?,
        }
        Ok(host)
    }
}

/// The elements of a piece on the diagonal of the whole lose their imaginary parts.
fn make_diagonal_real<T: Scalar>(values: &mut [T], piece: &Tile) {
    for diagonal in piece.rows.start.max(piece.columns.start)..piece.rows.end.min(piece.columns.end) {
        let at = (diagonal - piece.rows.start) * piece.columns.len() + (diagonal - piece.columns.start);
        values[at] = T::from_f64(values[at].wide().re);
    }
}

/// Zeros above the diagonal, in a piece whose rows are columns of the factor.
fn clear_above<T: Scalar>(values: &mut [T], piece: &Tile) {
    for (line, column) in values.chunks_mut(piece.columns.len().max(1)).zip(piece.rows.clone()) {
        let above = column.clamp(piece.columns.start, piece.columns.end) - piece.columns.start;
        line[..above].fill(T::ZERO);
    }
}
