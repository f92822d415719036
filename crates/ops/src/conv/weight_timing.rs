//! Configurations of the weights' gradient, timed on a GPU.

use super::ends::Reading;
use super::error::ConvError;
use super::multiprocessor::Multiprocessor;
use super::problem::Problem;
use super::refined::{Remembered, TIMED};
use super::scratch::{Scratch, compile_at_once};
use super::weight_gpu::{ADDING, MULTIPLYING, Ready, chosen_to_read, to_time_reading};
use super::weight_plan::{WeightConfig, WeightPlan};
use crate::device::Gpu;
use crate::error::Error;

static REMEMBERED: Remembered<(usize, Problem, [Reading; 2]), WeightConfig> = Remembered::new();

/// The configuration that [`Config::refined`](super::Config::refined) takes on a GPU for the weights' gradient, of input and gradient from there: it is timed
/// unless it is remembered. What is computed is brought by as many threads, from memory. Fails where timing does, but for lack of memory.
pub(super) fn refined_to_read(gpu: &Gpu, problem: &Problem, readings: [Reading; 2]) -> Result<WeightConfig, Error> {
    let first = || to_time_reading(gpu, TIMED, problem, readings);
    let key = (gpu.ordinal(), *problem, readings);
    let timed = REMEMBERED.get(key, first, |configs| times(gpu, (problem, readings), configs))?;
    Ok(timed.unwrap_or_else(|| chosen_to_read(gpu, problem, readings)))
}

/// Microseconds of configurations ([`Scratch::times`]), with what adds the parts of the sum.
fn times(
    gpu: &Gpu,
    (problem, readings): (&Problem, [Reading; 2]),
    configs: &[WeightConfig],
) -> Result<Vec<f64>, Error> {
    let sm = Multiprocessor::of(gpu);
    let plan = |config: &WeightConfig| WeightPlan::new(*problem, *config, sm, readings).map_err(ConvError::from);
    let plans = configs.iter().map(plan).collect::<Result<Vec<_>, _>>()?;

    // What is not there is known before anything is compiled for it.
    let scratch = Scratch::new(gpu)?;
    let bytes = |extents: [usize; 4], element: usize| extents.iter().product::<usize>() * element;
    let images = [problem.input_extents(), problem.output_extents()];
    let sets = scratch.sets(images.map(|extents| bytes(extents, problem.precision.bytes())))?;
    let dw = scratch.operand(bytes(problem.weight_extents(), size_of::<f32>()))?;
    let parts = scratch.operand(plans.iter().map(WeightPlan::workspace).max().unwrap_or(0))?;

    let multiplying =
        plans.iter().map(|plan| plan.kernel([None; 2]).map_err(ConvError::from)).collect::<Result<Vec<_>, _>>()?;
    let adding: Vec<_> = plans.iter().filter_map(WeightPlan::adding).collect();
    let named = multiplying.iter().map(|it| (it, MULTIPLYING)).chain(adding.iter().map(|it| (it, ADDING)));
    let sources: Vec<_> = named.map(|(kernel, name)| kernel.source(name)).collect();
    compile_at_once(gpu, &sources, |source, arch| drop(source.compile(arch)));
    let kernels = plans.iter().map(|plan| Ready::unrecorded(gpu, plan)).collect::<Result<Vec<_>, _>>()?;

    scratch.times(&kernels, |kernel, turn| {
        let images = sets.of(turn).each_ref().map(|image| Some((image, 0)));
        kernel.launch(scratch.stream(), (images, (&dw, 0), parts.device_ptr()), [None; 2]).map(drop)
    })
}
