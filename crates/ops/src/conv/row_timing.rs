//! Configurations of a forward pass and of an input's gradient, timed on a GPU.

use super::ends::{Ends, Fusing};
use super::error::ConvError;
use super::gpu::{Ready, load_unrecorded, pass_file};
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Precision, Problem};
use super::refined::{Remembered, TIMED};
use super::scratch::{Scratch, compile_at_once};
use super::taken::Taken;
use crate::device::Gpu;
use crate::error::Error;
use std::time::Instant;

/// What a configuration is timed for: the device, the problem, the pass, what is read and written, whether there is a bias.
type Key = (usize, Problem, Pass, Ends, bool);

static REMEMBERED: Remembered<Key, Taken> = Remembered::new();

/// What [`Config::refined`](super::Config::refined) takes on a GPU between such ends, with or without a bias, in the forward pass or for the input's gradient:
/// it is timed unless it is remembered. A computed image is brought by as many threads, from memory. Fails where timing does, but for lack of memory.
pub(super) fn refined_between(gpu: &Gpu, problem: &Problem, pass: Pass, of: (Ends, bool)) -> Result<Taken, Error> {
    let (ends, bias) = of;
    let key = (gpu.ordinal(), *problem, pass, ends, bias);
    let first = || Taken::to_time(gpu, TIMED, problem, pass, ends);
    let timed = REMEMBERED.get(key, first, |configs| times(gpu, problem, pass, of, configs))?;
    Ok(timed.unwrap_or_else(|| Taken::on(gpu, problem, pass, ends)))
}

/// Microseconds of configurations ([`Scratch::times`]).
fn times(
    gpu: &Gpu,
    problem: &Problem,
    pass: Pass,
    (ends, bias): (Ends, bool),
    configs: &[Taken],
) -> Result<Vec<f64>, Error> {
    // What is not there is known before anything is compiled for it.
    let scratch = Scratch::new(gpu)?;
    let bytes = |extents: [usize; 4], of: Precision| extents.iter().product::<usize>() * of.bytes();
    let (input, output) = (problem.input_extents(), problem.output_extents());
    let (read, result) = if pass == Pass::GradInput { (output, input) } else { (input, output) };
    let sets = scratch.sets([bytes(read, problem.precision), bytes(result, ends.written)])?;
    let w = scratch.operand(bytes(problem.weight_extents(), problem.precision))?;
    let numbers = scratch.operand(problem.channels() * 4)?;

    let sm = Multiprocessor::of(gpu);
    let text = |taken: &Taken| taken.kernel((problem, pass), sm, bias, Fusing::nothing(ends.written));
    let texts = configs.iter().map(|it| text(it).map_err(ConvError::from)).collect::<Result<Vec<_>, _>>()?;
    let name = pass_file(pass);
    let sources: Vec<_> = texts.iter().map(|kernel| kernel.source(name)).collect();
    compile_at_once(gpu, &sources, |source, arch| drop(source.compile(arch)));
    let load = |kernel| load_unrecorded(gpu, kernel, name, Instant::now()).map(|(loaded, _)| Ready::new(loaded));
    let kernels = texts.into_iter().map(load).collect::<Result<Vec<_>, _>>()?;

    let bias = if bias { numbers.device_ptr() } else { 0 };
    scratch.times(&kernels, |kernel, turn| {
        let [x, y] = sets.of(turn);
        kernel.launch(scratch.stream(), (Some((x, 0)), (&w, 0), (y, 0), bias), [None; 2]).map(drop)
    })
}
