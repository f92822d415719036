//! The call.

use super::evaluation::{Evaluation, Fed, On};
use super::gpu::GpuWindows;
use super::host::run_on_host;
use super::passes::Under;
use super::plan::ExpressionPlan;
use super::run::run;
use crate::Error;
use crate::budget::{Budget, Permit};
use crate::dispatch::{self, Tiles};
use crate::linear::Gpu as Streams;
use crate::stream::control::Control;
use crate::stream::direct::Direct;
use crate::stream::face::Budgets;
use crate::stream::gpu::GpuEngine;
use crate::stream::matmul::Traffic;
use crate::stream::staging::{Load, Staging, threads};
use tilewright_ops::{Device, Gpu};

/// Computes an expression in bands into its sinks, on a GPU or on the CPU: while one band is computed the next ones are read and copied, and
/// the ones before are copied back and written. The sinks are not committed: whoever does it makes results visible at once, and after an error
/// there are none.
///
/// On the CPU windows lie in ordinary memory, of as many bytes as `budgets.pinned` has; nothing is copied then but what lies on a GPU. What either takes without being
/// run is said by [`Evaluation::plan`]. Bands do not depend on budgets that are large enough, and the same bands give the same bits on both. Bits do not
/// depend on the bands either, with two exceptions: long sums within a window are added in an order that follows from its sizes, and what needs all of a
/// large operand first is computed from reductions of bands, in passes before of at most four reductions each; so is what stands before the bands of scans along the
/// dimension. Sums of floats, and products that bands are reduced to, are those of the whole up to rounding then (bands' sums of `f32` are added in `f64`); integers, minima and maxima
/// are the same. Scans of products of floats are not computed in bands. The CPU and a GPU whose budgets differ have other bands, so other last bits.
///
/// What is sliced or padded along the dimension has windows where bands read it; so has what one border repeats and another one does not, and what is read
/// backwards or under another name, or beside the point into a sink on a GPU, where all of it does not fit. Parts of a result that stand one after the other along it are computed one after the other.
///
/// What is scattered along the dimension, as a histogram's values, goes into results that are whole, in the same memory as bands, band after band, and they
/// go back at the end. The bits are those of the whole. Two values of a `meet::Unique` scatter in one place are an error on the CPU where they are of the same band.
///
/// What cannot be cut as it is, as a scan of what runs backwards, is computed in two parts, with what lies between in host memory.
///
/// A pass brings the operands that it reads. Progress counts the bands of all passes.
///
/// Errors: [`Error::Uncut`] and [`Error::Budget`] as of the plan; [`Error::Cancelled`], within a
/// band; those of sources, of sinks and of the driver; [`Error::Expression`] where a coordinate reaches outside of an operand.
///
/// ```
/// use tilewright_dims::dims;
/// use tilewright_expr::In;
/// use tilewright_hybrid::budget::{Budget, Memory};
/// use tilewright_hybrid::store::{Element, NpySink, NpySource, Order, Sink};
/// use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
/// use tilewright_ops::{Device, fuse};
/// dims! { Y, X }
///
/// # let folder = std::env::temp_dir().join(format!("tilewright-evaluate-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let [from, to] = ["photons.npy", "levels.npy"].map(|name| folder.join(name));
/// # let ones = NpySink::create(&from, &[1000, 500], Element::U8, Order::C)?;
/// # ones.write_tile(&ones.extents().whole(), &[3; 500_000])?;
/// # Box::new(ones).commit()?;
/// // Of files, which may be larger than memory.
/// let (photons, levels) = (NpySource::open(&from)?, NpySink::create(&to, &[1000, 500], Element::F32, Order::C)?);
/// let gain = fuse(|photons: In<u8, (Y, X)>, gain: In<f32, ()>| (photons.to::<f32>() * gain + 0.5).sqrt().store::<(Y, X)>());
/// let photons = Array::<u8, (Y, X)>::new(&photons, [1000, 500])?;
/// let evaluation = Evaluation::new(&gain, (&photons, 4.0f32), &[&levels])?;
/// assert_eq!(evaluation.dimension(), Some("Y"));
/// let [device, pinned] = [Memory::Device, Memory::Pinned].map(|memory| Budget::new(memory, 64 << 20));
/// evaluate(&Device::auto(), &Budgets { device, pinned }, &evaluation, Control::default())?;
/// drop(evaluation);
/// Box::new(levels).commit()?;
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
pub fn evaluate(
    device: &Device,
    budgets: &Budgets,
    evaluation: &Evaluation<'_>,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    if evaluation.is_empty() {
        return Ok(Traffic::default());
    }
    match device.as_gpu() {
        Some(gpu) => evaluate_on_gpu(gpu, (budgets, &Budget::host()), evaluation, control),
        None => evaluate_on_host(&budgets.pinned, evaluation, control),
    }
}

/// On the CPU, windows being as large as a budget has.
pub(crate) fn evaluate_on_host(
    memory: &Budget,
    evaluation: &Evaluation<'_>,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    evaluation.gather_within(memory)?;
    let steps = || evaluation.passes_of(On::HOST, memory.available());
    control.in_parts(steps, |control| whole_on_host(memory, evaluation, control))
}

fn whole_on_host(memory: &Budget, evaluation: &Evaluation<'_>, control: Control<'_>) -> Result<Traffic, Error> {
    let available = memory.available();
    if let Some((steps, planned)) = evaluation.planned_steps(On::HOST, available)? {
        let plan = planned.with_others();
        let under = Under { on: On::HOST, plan: &plan, host: memory, control };
        let mut bands =
            |bands: &Evaluation<'_>, plan: &ExpressionPlan, control: Control<'_>| on_host(memory, bands, plan, control);
        let mut whole = |rest: &Evaluation<'_>, control: Control<'_>| whole_on_host(memory, rest, control);
        return steps.run((under, &evaluation.made), &mut bands, &mut whole);
    }
    let (plan, _memory) = memory.planned(available, |available| {
        let plan = ExpressionPlan::new(evaluation, On::HOST, available)?;
        Ok((plan, u64::try_from(plan.device_bytes()).unwrap_or(u64::MAX)))
    })?;
    in_windows(evaluation, &plan, control)
}

fn on_host(
    memory: &Budget,
    evaluation: &Evaluation<'_>,
    plan: &ExpressionPlan,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let _memory = acquire(memory, plan.device_bytes())?;
    in_windows(evaluation, plan, control)
}

fn in_windows(evaluation: &Evaluation<'_>, plan: &ExpressionPlan, control: Control<'_>) -> Result<Traffic, Error> {
    let load = evaluation.fed.iter().map(Fed::source).fold(Load::default(), Load::reading);
    let traffic = run_on_host(evaluation, plan, (threads(), load.is_too_much()), control)?;
    dispatch::copied(traffic);
    Ok(traffic)
}

/// On a GPU; what bands are reduced to takes the host's budget.
pub(crate) fn evaluate_on_gpu(
    gpu: &Gpu,
    (budgets, host): (&Budgets, &Budget),
    evaluation: &Evaluation<'_>,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let on = On::gpu(gpu.device().ordinal());
    let steps = || evaluation.passes_of(on, budgets.device.available());
    control.in_parts(steps, |control| whole_on_gpu((gpu, on), (budgets, host), evaluation, control))
}

fn whole_on_gpu(
    (gpu, on): (&Gpu, On),
    (budgets, host): (&Budgets, &Budget),
    evaluation: &Evaluation<'_>,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let available = budgets.device.available();
    if let Some((steps, planned)) = evaluation.planned_steps(on, available)? {
        let plan = planned.with_others();
        let under = Under { on, plan: &plan, host, control };
        let mut bands = |bands: &Evaluation<'_>, plan: &ExpressionPlan, control: Control<'_>| {
            on_gpu((gpu, on), budgets, bands, plan, control)
        };
        let mut whole =
            |rest: &Evaluation<'_>, control: Control<'_>| whole_on_gpu((gpu, on), (budgets, host), rest, control);
        let traffic = steps.run((under, &evaluation.made), &mut bands, &mut whole)?;
        // The record has the bands of what is large.
        dispatch::in_tiles(Tiles::Expression(plan));
        return Ok(traffic);
    }
    let plan = ExpressionPlan::new(evaluation, on, available)?;
    on_gpu((gpu, on), budgets, evaluation, &plan, control)
}

fn on_gpu(
    (gpu, on): (&Gpu, On),
    budgets: &Budgets,
    evaluation: &Evaluation<'_>,
    plan: &ExpressionPlan,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let _device = acquire(&budgets.device, plan.device_bytes())?;
    // Slots that are no larger than what goes through them.
    let window = plan.window() as u128 * plan.bytes_in.max(plan.bytes_out);
    let window = window.max(plan.bytes_once).max(plan.bytes_scattered).max(1);
    let engine = GpuEngine::new(&Streams::new(gpu.stream()))?;
    let load = evaluation.load(on, window, plan, Direct::of::<u8, _>(&engine));
    let (staging, _pinned) = Staging::new::<u8>(&budgets.pinned, load);
    let engine = engine.locking_within(&budgets.pinned)?;
    // What lies there belongs to streams of others.
    for memory in evaluation.resident().filter(|memory| memory.device().ordinal() == gpu.device().ordinal()) {
        gpu.stream().wait(&memory.stream().mark()?)?;
    }
    let traffic = run(&engine, &GpuWindows { evaluation, on, gpu }, (evaluation, plan, on), staging, control)?;
    dispatch::streamed(Tiles::Expression(*plan), traffic);
    Ok(traffic)
}

fn acquire(budget: &Budget, bytes: u128) -> Result<Permit, Error> {
    budget.try_acquire(u64::try_from(bytes).unwrap_or(u64::MAX))
}
