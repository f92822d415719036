//! An expression in bands on the CPU: one is read and one is written while another one is computed.

use super::bytes::{Bytes, values, values_mut};
use super::evaluation::{Evaluation, Fed, On, on_device};
use super::plan::ExpressionPlan;
use super::window::Band;
use crate::Error;
use crate::store::{Tile, read_staged, write_staged};
use crate::stream::control::Control;
use crate::stream::matmul::Traffic;
use crate::stream::turns::{Stop, filled_with};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tilewright_expr::DType;
use tilewright_expr::bind::{Axis, View};
use tilewright_expr::dtype::{HostSlice, HostSliceMut};
use tilewright_expr::eval::HostKernel;

/// The expression on windows in ordinary memory. There are two lengths of windows or three, each planned once; of those that are scattered the first one is
/// planned for itself.
pub(super) struct HostWindows<'a> {
    evaluation: &'a Evaluation<'a>,
    planned: Mutex<HashMap<(usize, bool), Arc<HostKernel>>>,
}

/// The expression on one window.
pub(super) struct HostWindow {
    kernel: Arc<HostKernel>,
    /// Whether it has an operand that is as long as the band and nobody reads.
    has_ruler: bool,
    /// What the expression is told of it.
    numbers: Vec<i32>,
    /// Types and bytes of operands and of results.
    operands: Vec<(DType, usize)>,
    results: Vec<(DType, usize)>,
}

impl<'a> HostWindows<'a> {
    pub(super) fn new(evaluation: &'a Evaluation<'a>) -> Self {
        HostWindows { evaluation, planned: Mutex::default() }
    }

    pub(super) fn of(&self, band: &Band) -> Result<HostWindow, Error> {
        let (graph, numbers) = (self.evaluation.launcher_of(band).graph(), self.evaluation.numbers(band)?);
        let [operands, results] = self.evaluation.axes(band);
        let ruler = self.evaluation.ruler(band);
        let kernel = self.kernel(band, [&operands, &results], (&ruler, numbers.len()))?;
        let dtypes = graph.operands.iter().map(|spec| spec.dtype);
        let results_of = graph.results().into_iter().map(|result| graph.outputs[result.outputs.start].node);
        let bytes = |(dtype, axes): (DType, &Vec<Axis>)| (dtype, View::reach(axes) as usize * dtype.size());
        Ok(HostWindow {
            kernel,
            has_ruler: ruler.is_some(),
            numbers,
            operands: dtypes.zip(&operands).map(bytes).collect(),
            results: results_of.map(|node| graph.node(node).dtype).zip(&results).map(bytes).collect(),
        })
    }

    fn kernel(
        &self,
        band: &Band,
        [operands, results]: [&[Vec<Axis>]; 2],
        (ruler, numbers): (&Option<[Axis; 1]>, usize),
    ) -> Result<Arc<HostKernel>, Error> {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let planned_for = (band.window.len(), self.evaluation.is_scattered() && band.indices.start == 0);
        if let Some(kernel) = planned.get(&planned_for) {
            return Ok(kernel.clone());
        }
        let numbers = vec![on_device(&[]); numbers];
        let views: Vec<View<'_>> = operands
            .iter()
            .map(|axes| on_device(axes))
            .chain(ruler.iter().map(|axes| on_device(axes)))
            .chain(numbers)
            .collect();
        let outs: Vec<View<'_>> = results.iter().map(|axes| on_device(axes)).collect();
        let kernel = Arc::new(HostKernel::new(self.evaluation.launcher_of(band).graph(), &views, &outs)?);
        planned.insert(planned_for, kernel.clone());
        Ok(kernel)
    }
}

impl HostWindow {
    /// Computes a window of the results. Memory begins with the window's part of it, at addresses that its values may have.
    pub(super) fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), Error> {
        let inputs =
            self.operands.iter().zip(operands).map(|((dtype, bytes), memory)| values(*dtype, &memory[..*bytes]));
        let mut inputs: Vec<HostSlice<'_>> = inputs.collect::<Result<_, _>>()?;
        inputs.extend(self.has_ruler.then_some(HostSlice::U8(&[0])));
        inputs.extend(self.numbers.iter().map(|number| HostSlice::I32(std::slice::from_ref(number))));
        let outputs = self.results.iter().zip(results);
        let outputs = outputs.map(|((dtype, bytes), memory)| values_mut(*dtype, &mut memory[..*bytes]));
        let mut outputs: Vec<HostSliceMut<'_>> = outputs.collect::<Result<_, _>>()?;
        Ok(self.kernel.run(&inputs, &mut outputs)?)
    }
}

/// Windows of operands, or of results, in memory.
type Windows = Vec<Bytes>;

/// Windows in memory at once: one is computed with, the next one is read, the one before is written.
const WINDOWS: usize = 2;

/// Runs an expression on the CPU, band by band, into sinks, which are not committed. Whoever fails first says why.
pub(super) fn run_on_host(
    evaluation: &Evaluation<'_>,
    plan: &ExpressionPlan,
    (threads, releases): (usize, bool),
    control: Control<'_>,
) -> Result<Traffic, Error> {
    control.unverified("evaluate", "an expression")?;
    let run = Run { evaluation, plan, windows: HostWindows::new(evaluation), threads, releases, control };
    let once = run.once()?;
    let window = plan.window();
    let of_operands = || -> Windows {
        let fed = evaluation.banded(On::HOST).map(|(_, fed)| Bytes::new(evaluation.bytes_in(&fed.shape, window)));
        fed.collect()
    };
    let of_results = || -> Windows {
        evaluation.made.iter().map(|made| Bytes::new(evaluation.bytes_made(made, plan.made()))).collect()
    };
    let memories = if evaluation.is_scattered() { 1 } else { WINDOWS };
    let made: Vec<Windows> = (0..memories).map(|_| of_results()).collect();
    let (fed_back, to_fill) = filled_with((0..WINDOWS).map(|_| of_operands()).collect::<Vec<_>>());
    let (filled, to_compute) = channel();
    let (made_back, free) = filled_with(made);
    let (computed, to_write) = channel();
    thread::scope(|scope| {
        let run = &run;
        let reader = scope.spawn(move || Stop::into_result(run.read(to_fill, filled)));
        let writer = scope.spawn(move || run.write(to_write, made_back));
        let ran = Stop::into_result(run.compute(&once, (to_compute, fed_back), (free, computed)));
        [reader, writer].into_iter().map(joined).fold(ran, Result::and)
    })?;
    Ok(run.traffic())
}

fn joined(thread: thread::ScopedJoinHandle<'_, Result<(), Error>>) -> Result<(), Error> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// An expression under way.
struct Run<'a> {
    evaluation: &'a Evaluation<'a>,
    plan: &'a ExpressionPlan,
    windows: HostWindows<'a>,
    threads: usize,
    /// Whether stores are told what is not read again.
    releases: bool,
    control: Control<'a>,
}

impl Run<'_> {
    /// What is read once, by the operands' numbers.
    fn once(&self) -> Result<Vec<Option<Bytes>>, Error> {
        let mut once: Vec<Option<Bytes>> = self.evaluation.fed.iter().map(|_| None).collect();
        for (number, fed) in self.evaluation.brought_whole(On::HOST) {
            let mut bytes = Bytes::new(fed.shape.bytes());
            read_staged(fed.source(), &fed.shape.whole(), &mut bytes, self.threads)?;
            self.release(fed, &fed.shape.whole())?;
            once[number] = Some(bytes);
        }
        Ok(once)
    }

    fn read(&self, free: Receiver<Windows>, filled: Sender<Windows>) -> Result<(), Stop> {
        let mut bands = self.plan.bands().peekable();
        while let Some(band) = bands.next() {
            let mut memory = free.recv()?;
            for ((number, fed), bytes) in self.evaluation.banded(On::HOST).zip(&mut memory) {
                let tile = |indices: &Range<usize>| self.evaluation.tile(&fed.shape, indices);
                let window = self.evaluation.window_of(number, &band);
                let next = bands.peek().map(|next| self.evaluation.window_of(number, next));
                let next = next.as_ref();
                let mut ahead = next.into_iter().flat_map(|next| next.behind(&window).pieces());
                ahead.try_for_each(|piece| fed.source().prefetch(&tile(&piece)))?;
                for (tile, at) in self.evaluation.pieces(number, self.plan, &band) {
                    let length = tile.count() * fed.shape.element_bytes();
                    read_staged(fed.source(), &tile, &mut bytes[at..][..length], self.threads)?;
                }
                // Windows with a margin begin where the one before has not ended.
                window.done(next).map_or(Ok(()), |done| self.release(fed, &tile(&done)))?;
            }
            filled.send(memory)?;
        }
        Ok(())
    }

    /// What operands that lie on a GPU are copied from there, and results back.
    fn traffic(&self) -> Traffic {
        let bytes = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        let evaluation = self.evaluation;
        let indices: u128 = self.plan.bands().map(|band| band.window.len() as u128).sum();
        let is_there = |(_, fed): &(usize, &Fed<'_>)| fed.source().resident().is_some();
        let once = evaluation.brought_whole(On::HOST).filter(is_there).map(|(_, fed)| fed.shape.bytes() as u128);
        let banded = evaluation.banded(On::HOST).filter(is_there);
        let banded = banded.map(|(_, fed)| indices * evaluation.bytes_in(&fed.shape, 1) as u128);
        let made = evaluation.made.iter().filter(|made| made.goal.resident().is_some());
        let to_gpu = bytes(made.map(|made| made.shape.bytes() as u128).sum());
        Traffic { to_gpu, to_host: bytes(once.chain(banded).sum()) }
    }

    fn release(&self, fed: &Fed<'_>, tile: &Tile) -> Result<(), Error> {
        let is_done = self.releases && !self.evaluation.is_shared(fed);
        if is_done { fed.source().release(tile) } else { Ok(()) }
    }

    fn compute(
        &self,
        once: &[Option<Bytes>],
        (filled, back): (Receiver<Windows>, Sender<Windows>),
        (free, computed): (Receiver<Windows>, Sender<(Band, Windows)>),
    ) -> Result<(), Stop> {
        let steps = self.plan.count() as u64;
        let mut whole = None;
        for (done, band) in self.plan.bands().enumerate() {
            self.control.check(done as u64, steps)?;
            let (memory, mut results) = (filled.recv()?, whole.take().map_or_else(|| free.recv(), Ok)?);
            let mut windows = memory.iter();
            let operands: Vec<&[u8]> = once
                .iter()
                .filter_map(|once| once.as_ref().or_else(|| windows.next()))
                .map(|bytes| &bytes[..])
                .collect();
            let mut targets: Vec<&mut [u8]> = results.iter_mut().map(|bytes| &mut bytes[..]).collect();
            self.windows.of(&band)?.run(&operands, &mut targets)?;
            // The reader is gone once it has read everything.
            let _ = back.send(memory);
            // What bands are scattered into is written behind the last one.
            match self.evaluation.is_scattered() && done as u64 + 1 < steps {
                true => whole = Some(results),
                false => computed.send((band, results))?,
            }
            self.control.tell(done as u64 + 1, steps);
        }
        Ok(())
    }

    fn write(&self, computed: Receiver<(Band, Windows)>, free: Sender<Windows>) -> Result<(), Error> {
        while let Ok((band, results)) = computed.recv() {
            for (made, bytes) in self.evaluation.made.iter().zip(&results) {
                let (part, tile) = self.evaluation.part(made, self.plan, &band);
                write_staged(made.sink(), &tile, &bytes[part], self.threads)?;
            }
            // Nobody takes it behind the last window.
            let _ = free.send(results);
        }
        Ok(())
    }
}
