//! An expression in bands on a device: read, copied, computed, copied back and written at the same time.
//!
//! *Readers* fill host memory, each a slot of its own. The caller's thread *feeds* the device: it takes the slots in order, queues their copies,
//! and the kernel of a band behind them. One thread queues the copies back, and *writers* end them, each a slot of its own. Memory goes round:
//! who is done with it hands it back, and looking into host memory waits for its copy.

use super::evaluation::{Band, Evaluation, Fed, Made};
use super::plan::ExpressionPlan;
use crate::Error;
use crate::store::{Source, Tile};
use crate::stream::control::Control;
use crate::stream::engine::{Engine, Finish, Queue};
use crate::stream::matmul::{Staging, Traffic};
use crate::stream::pipeline::{InTurn, Shared, Stop, Turns, count, filled_with, parts};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;

/// What computes windows in the memory of a device.
pub(super) trait Compute<E: Engine<u8>>: Sync {
    /// Queues ([`Queue::Compute`]) the expression on a window.
    fn evaluate(
        &self,
        engine: &E,
        window: &Range<usize>,
        operands: &[&E::Buffer],
        results: &mut [E::Buffer],
    ) -> Result<(), Error>;

    /// What went wrong in what was queued, when all of it is done.
    fn outcome(&self) -> Result<(), Error>;
}

/// A window of the results.
struct Computed<E: Engine<u8>> {
    band: Band,
    buffers: Vec<E::Buffer>,
    done: E::Mark,
}

/// Memory of results that is free again, once the copies behind the mark have left it.
type Free<E> = (Vec<<E as Engine<u8>>::Buffer>, Option<<E as Engine<u8>>::Mark>);

/// Memory of results that goes round between who computes them and who copies them back.
struct Windows<E: Engine<u8>> {
    free: Receiver<Free<E>>,
    computed: Sender<Computed<E>>,
}

/// A part of a result on its way to where it is written.
struct Landing<H> {
    host: H,
    result: usize,
    part: Tile,
}

/// Runs an expression on a device, band by band, into sinks, which are not committed. Whoever fails first says why.
pub(super) fn run<E: Engine<u8>, C: Compute<E>>(
    engine: &E,
    compute: &C,
    (evaluation, plan): (&Evaluation<'_>, &ExpressionPlan),
    staging: Staging,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let run = Run { engine, compute, evaluation, plan, staging, control };
    let mut operands = run.operands()?;
    let results = (0..plan.stages).map(|_| Ok((run.results()?, None))).collect::<Result<Vec<_>, Error>>()?;
    let [to_device, to_host] = [staging.slots, staging.slots_back]
        .map(|slots| (0..slots.max(1)).map(|_| engine.host(staging.elements)).collect::<Result<Vec<_>, _>>());
    let (to_device, to_host) = (to_device?, to_host?);

    let (free, to_fill) = filled_with(to_device);
    let (readers, filled) = Turns::new(run.pieces(), to_fill);
    let (windows_back, free_windows) = filled_with(results);
    let (computed, to_take_back) = channel();
    let (hosts_back, free_hosts) = filled_with(to_host);
    let (landing, landed) = channel();
    let writers = Shared::new(landed);
    let _finish = Finish::at_the_end(engine);
    thread::scope(|scope| {
        for _ in 0..staging.threads.max(1) {
            scope.spawn(|| run.read(&readers));
        }
        let (run, writers) = (&run, &writers);
        let writing: Vec<_> = (0..staging.threads.max(1))
            .map(|_| {
                let back = hosts_back.clone();
                scope.spawn(move || run.write(writers, &back))
            })
            .collect();
        drop(hosts_back);
        let taking =
            scope.spawn(move || Stop::into_result(run.take_back(to_take_back, windows_back, (free_hosts, landing))));
        let windows = Windows { free: free_windows, computed };
        let fed = Stop::into_result(run.feed(&mut operands, (filled, free), windows, || writers.has_failed()));
        let others = std::iter::once(taking).chain(writing).map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        others.fold(fed, Result::and)
    })?;
    engine.finish();
    compute.outcome()?;
    Ok(run.traffic())
}

/// An expression under way.
struct Run<'a, E, C> {
    engine: &'a E,
    compute: &'a C,
    evaluation: &'a Evaluation<'a>,
    plan: &'a ExpressionPlan,
    staging: Staging,
    control: Control<'a>,
}

/// Memory of the device for operands: what is brought once, and a stage for each window under way; by the operands' numbers.
struct Operands<E: Engine<u8>> {
    once: Vec<Option<E::Buffer>>,
    stages: Vec<Vec<Option<E::Buffer>>>,
}

impl<'a, E: Engine<u8>, C: Compute<E>> Run<'a, E, C> {
    fn operands(&self) -> Result<Operands<E>, Error> {
        let (evaluation, window) = (self.evaluation, self.plan.window());
        let mut once: Vec<Option<E::Buffer>> = evaluation.fed.iter().map(|_| None).collect();
        for (number, fed) in evaluation.brought_whole() {
            once[number] = Some(self.engine.buffer(fed.shape.bytes())?);
        }
        let stage = |_| {
            let mut stage: Vec<Option<E::Buffer>> = evaluation.fed.iter().map(|_| None).collect();
            for (number, fed) in evaluation.banded() {
                stage[number] = Some(self.engine.buffer(evaluation.bytes_in(&fed.shape, window))?);
            }
            Ok(stage)
        };
        Ok(Operands { once, stages: (0..self.plan.stages).map(stage).collect::<Result<_, Error>>()? })
    }

    fn results(&self) -> Result<Vec<E::Buffer>, Error> {
        let bytes = |made: &Made<'_>| self.evaluation.bytes_in(&made.shape, self.plan.window());
        self.evaluation.made.iter().map(|made| self.engine.buffer(bytes(made))).collect()
    }

    /// A tile in parts that fit a slot.
    fn parts(&self, tile: &Tile, element_bytes: usize) -> impl Iterator<Item = Tile> + use<E, C> {
        parts(tile, self.staging.elements / element_bytes)
    }

    /// What is brought before the first window.
    fn pieces_once(&self) -> impl Iterator<Item = (usize, &'a Fed<'a>, Tile)> + use<'a, E, C> {
        self.evaluation.brought_whole().map(|(number, fed)| (number, fed, fed.shape.whole()))
    }

    /// What is brought for a window.
    fn pieces_of(&self, band: &Band) -> impl Iterator<Item = (usize, &'a Fed<'a>, Tile)> {
        self.evaluation.banded().map(|(number, fed)| (number, fed, self.evaluation.tile(&fed.shape, &band.window)))
    }

    /// All that goes to the device, in the order of [`Run::feed`], each part a slot.
    fn pieces(&self) -> impl Iterator<Item = (&'a dyn Source, Tile)> {
        let of_bands = self.plan.bands().flat_map(|band| self.pieces_of(&band).collect::<Vec<_>>());
        let all = self.pieces_once().chain(of_bands);
        all.flat_map(|(_, fed, tile)| {
            let source = fed.source();
            self.parts(&tile, fed.shape.element_bytes()).map(move |part| (source, part))
        })
    }

    /// Fills host memory.
    fn read<W: Iterator<Item = (&'a dyn Source, Tile)>>(&self, readers: &Turns<W, E::Host>) {
        readers.take_part(|(source, part), host| {
            let bytes = count(&part) * source.element().bytes();
            source.read_tile(&part, &mut host[..bytes])
        });
    }

    /// Keeps the device busy.
    fn feed(
        &self,
        operands: &mut Operands<E>,
        (mut filled, free): (InTurn<E::Host>, Sender<E::Host>),
        windows: Windows<E>,
        has_failed: impl Fn() -> bool,
    ) -> Result<(), Stop> {
        let _finish = Finish::at_the_end(self.engine);
        let (engine, steps) = (self.engine, self.plan.count() as u64);
        let mut bring = |fed: &Fed<'_>, tile: &Tile, to: &mut Option<E::Buffer>| -> Result<(), Stop> {
            let (Some(to), element) = (to, fed.shape.element_bytes()) else { return Ok(()) };
            let mut at = 0;
            for part in self.parts(tile, element) {
                let (host, bytes) = (filled.next()?, count(&part) * element);
                engine.bring(&host, bytes, to, at)?;
                // The readers are gone once they have read everything.
                let _ = free.send(host);
                at += bytes;
            }
            Ok(())
        };
        self.control.check(0, steps)?;
        for (number, fed, tile) in self.pieces_once() {
            bring(fed, &tile, &mut operands.once[number])?;
        }
        // Behind the last kernel that read a stage's windows.
        let mut read: Vec<Option<E::Mark>> = operands.stages.iter().map(|_| None).collect();
        for (number, band) in self.plan.bands().enumerate() {
            let (done, stage) = (number as u64, number % operands.stages.len());
            self.control.check(done, steps)?;
            if has_failed() {
                return Err(Stop::Elsewhere);
            }
            if let Some(read) = &read[stage] {
                engine.wait(Queue::In, read)?;
            }
            for (number, fed, tile) in self.pieces_of(&band) {
                bring(fed, &tile, &mut operands.stages[stage][number])?;
            }
            let (mut buffers, left) = windows.free.recv()?;
            if let Some(left) = left {
                engine.wait(Queue::Compute, &left)?;
            }
            engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            let all = operands.once.iter().zip(&operands.stages[stage]);
            let all: Vec<&E::Buffer> = all.filter_map(|(once, window)| once.as_ref().or(window.as_ref())).collect();
            self.compute.evaluate(engine, &band.window, &all, &mut buffers)?;
            read[stage] = Some(engine.mark(Queue::Compute)?);
            windows.computed.send(Computed { band, buffers, done: engine.mark(Queue::Compute)? })?;
            self.control.tell(done + 1, steps);
        }
        Ok(())
    }

    /// Queues the copies of windows back.
    fn take_back(
        &self,
        computed: Receiver<Computed<E>>,
        free: Sender<Free<E>>,
        (hosts, landing): (Receiver<E::Host>, Sender<Landing<E::Host>>),
    ) -> Result<(), Stop> {
        // Nobody waits for the last windows; they stay until what is copied from them has been.
        let mut last = Vec::new();
        let _finish = Finish::at_the_end(self.engine);
        let engine = self.engine;
        while let Ok(Computed { band, buffers, done }) = computed.recv() {
            engine.wait(Queue::Out, &done)?;
            for (result, (made, buffer)) in self.evaluation.made.iter().zip(&buffers).enumerate() {
                let mut at = self.evaluation.bytes_in(&made.shape, band.indices.start - band.window.start);
                for part in self.parts(&self.evaluation.tile(&made.shape, &band.indices), made.shape.element_bytes()) {
                    let (mut host, bytes) = (hosts.recv()?, count(&part) * made.shape.element_bytes());
                    engine.take_back(buffer, at, bytes, &mut host)?;
                    at += bytes;
                    landing.send(Landing { host, result, part })?;
                }
            }
            let left = engine.mark(Queue::Out)?;
            if let Err(SendError(window)) = free.send((buffers, Some(left))) {
                last.push(window);
            }
        }
        Ok(())
    }

    /// Writes what has come back.
    fn write(&self, writers: &Shared<Landing<E::Host>>, back: &Sender<E::Host>) -> Result<(), Error> {
        let end = |Landing { host, result, part }: &mut Landing<E::Host>| {
            let Made { sink, shape } = &self.evaluation.made[*result];
            sink.write_tile(part, &host[..count(part) * shape.element_bytes()])
        };
        writers.take_part(end, |landing| {
            // Nobody takes it behind the last window.
            let _ = back.send(landing.host);
        })
    }

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let [to_gpu, to_host] =
            [self.plan.bytes_to_gpu(), self.plan.bytes_to_host()].map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
        Traffic { to_gpu, to_host }
    }
}
