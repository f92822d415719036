//! The weights' gradient on a GPU: its kernels are found by problem and configuration, and launched.

use super::candidates::MODELS;
use super::config::{Asked, Config};
use super::dense::{Dense, DenseMut};
use super::element::Convolved;
use super::ends::{Reading, reading};
use super::error::{ConvError, of_workspace};
use super::gpu::{BLOCK_ALIGNMENT, Place, elsewhere, load, load_unrecorded, write_expressions};
use super::image::{EXPRESSION_BYTES, Ready as Read};
use super::kernel_text::KernelText;
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Problem};
use super::weight_choice::{chosen, to_time};
use super::weight_plan::{WeightConfig, WeightPlan};
use super::weight_timing::refined_to_read;
use crate::device::Gpu;
use crate::error::Error;
use crate::inlined::{Filled, Text};
use crate::launches::{Known, LaunchKind, launched};
use crate::raw;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::Instant;
use tilewright_driver::{Arch, Function, LaunchConfig, Stream, TensorMap};

/// The parameter block of the kernel that multiplies: two maps, the operands, the sums, and what expressions need, from a multiple of 16 on;
/// a multiple of what maps are aligned to.
const BLOCK_BYTES: usize = (EXPRESSIONS_AT + 2 * EXPRESSION_BYTES).next_multiple_of(BLOCK_ALIGNMENT);
const EXPRESSIONS_AT: usize = 288;

/// What the sources are called in messages.
pub(super) const MULTIPLYING: &str = "conv2d_grad_weight.cu";
pub(super) const ADDING: &str = "conv2d_add_parts.cu";

/// What kernels are found by: the device, the problem, what is asked for, the expressions' texts.
type Key = (u64, Problem, Asked, Numbers);

/// Numbers of the texts of input and gradient, where they are expressions.
pub(super) type Numbers = [Option<u64>; 2];

/// The kernels of a call, but for addresses, and the bytes of its parts.
pub(super) struct Ready {
    multiplying: (KernelText, Function),
    adding: Option<(KernelText, Function)>,
    pub(super) workspace: usize,
}

static READY: LazyLock<RwLock<HashMap<Key, Arc<Ready>>>> = LazyLock::new(RwLock::default);

/// The kernels of a call, and what of them was there already.
fn ready(
    gpu: &Gpu,
    problem: &Problem,
    config: Config,
    expressions: [Option<&Text>; 2],
) -> Result<(Arc<Ready>, Known), Error> {
    let numbers = expressions.map(|it| it.map(|text| text.number));
    let key = key(gpu, problem, config, numbers);
    if let Some(ready) = READY.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok((ready.clone(), Known::Call));
    }
    let start = Instant::now();
    let plan = plan(gpu, problem, config, numbers)?;
    let kernel = plan.kernel(expressions.map(|it| it.map(|text| &text.inlined))).map_err(ConvError::from)?;
    let (multiplying, known) = load(gpu, kernel, MULTIPLYING, start)?;
    let adding = plan.adding().map(|kernel| load(gpu, kernel, ADDING, Instant::now())).transpose()?;
    let ready = Arc::new(Ready { multiplying, adding: adding.map(|(kernel, _)| kernel), workspace: plan.workspace() });
    READY.write().unwrap_or_else(PoisonError::into_inner).insert(key, ready.clone());
    Ok((ready, known))
}

fn key(gpu: &Gpu, problem: &Problem, config: Config, numbers: Numbers) -> Key {
    (gpu.context_number(), *problem, config.asked, numbers)
}

fn plan(gpu: &Gpu, problem: &Problem, config: Config, numbers: Numbers) -> Result<WeightPlan, Error> {
    let readings = numbers.map(reading);
    let config = match config.asked {
        Asked::Weights(config) => config,
        Asked::Refined => refined_to_read(gpu, problem, readings)?,
        // Of other passes there is none here.
        Asked::Auto | Asked::Rows(_) | Asked::Depthwise(_) | Asked::Sums(_) => chosen_to_read(gpu, problem, readings),
    };
    Ok(WeightPlan::new(*problem, config, Multiprocessor::of(gpu), readings).map_err(ConvError::from)?)
}

/// The configuration that [`Config::auto`] takes on a GPU for the weights' gradient.
pub(super) fn chosen_to_read(gpu: &Gpu, problem: &Problem, readings: [Reading; 2]) -> WeightConfig {
    chosen(&MODELS, (problem, readings), Multiprocessor::of(gpu), &gpu.facts())
}

/// The few of the choice that are timed.
pub(super) fn to_time_reading(gpu: &Gpu, count: usize, problem: &Problem, readings: [Reading; 2]) -> Vec<WeightConfig> {
    to_time(count, &MODELS, (problem, readings), Multiprocessor::of(gpu), &gpu.facts())
}

/// As [`KernelConfig::compile`](super::KernelConfig::compile).
pub(super) fn compile_grad_weight(
    problem: &Problem,
    config: WeightConfig,
    sm: Multiprocessor,
    arch: Arch,
) -> Result<(), Error> {
    let plan = WeightPlan::new(*problem, config, sm, [Reading::Stored; 2]).map_err(ConvError::from)?;
    let kernel = plan.kernel([None; 2]).map_err(ConvError::from)?;
    kernel.source(MULTIPLYING).compile(arch)?;
    plan.adding().map_or(Ok(()), |adding| adding.source(ADDING).compile(arch).map(drop))
}

/// Bytes of device memory that the weights' gradient needs besides its operands: the parts of its sum.
pub(super) fn workspace(gpu: &Gpu, problem: &Problem, config: Config, numbers: Numbers) -> Result<usize, Error> {
    let key = key(gpu, problem, config, numbers);
    let known = READY.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(|ready| ready.workspace);
    known.map_or_else(|| Ok(plan(gpu, problem, config, numbers)?.workspace()), Ok)
}

/// The weights' gradient from the input and the result's gradient.
pub(super) fn grad_weight<T: Convolved>(
    gpu: &Gpu,
    problem: &Problem,
    config: Config,
    images: [&Read<'_, T>; 2],
    dw: DenseMut<'_, f32>,
) -> Result<(), Error> {
    let expressions = images.map(Read::expression);
    let texts = [&expressions[0], &expressions[1]].map(|it| it.map(|it| &*it.function.text));
    let (ready, known) = ready(gpu, problem, config, texts)?;
    let memories: [Option<Dense<'_, T>>; 2] = images.map(Read::memory);
    let mut places = [None; 2];
    for (place, memory) in places.iter_mut().zip(&memories) {
        *place = memory.as_ref().map(|memory| memory.on_gpu().ok_or_else(|| elsewhere(gpu))).transpose()?;
    }
    let dw = dw.on_gpu().ok_or_else(|| elsewhere(gpu))?;
    let allocate = |_| gpu.stream().alloc::<u8>(ready.workspace).map_err(Error::from);
    let parts = of_workspace(Pass::GradWeight.name(), ready.adding.as_ref().map(allocate).transpose())?;
    let parts = parts.as_ref().map_or(0, |parts| parts.device_ptr());
    for shape in ready.launch(gpu.stream(), (places, dw, parts), expressions)?.into_iter().flatten() {
        launched(LaunchKind::Convolution, Pass::GradWeight.name(), known, shape);
    }
    Ok(())
}

impl Ready {
    /// The kernels of a plan that may never be called again.
    pub(super) fn unrecorded(gpu: &Gpu, plan: &WeightPlan) -> Result<Ready, Error> {
        let of = |kernel, name| load_unrecorded(gpu, kernel, name, Instant::now()).map(|(kernel, _)| kernel);
        let multiplying = of(plan.kernel([None; 2]).map_err(ConvError::from)?, MULTIPLYING)?;
        let adding = plan.adding().map(|kernel| of(kernel, ADDING)).transpose()?;
        Ok(Ready { multiplying, adding, workspace: plan.workspace() })
    }

    /// Launches the kernels on the stream that all operands belong to, and the parts of the sum: input and gradient, unless they are
    /// expressions, the result, the parts. Says grid and block of each.
    pub(super) fn launch(
        &self,
        stream: &Stream,
        (images, dw, parts): ([Option<Place<'_>>; 2], Place<'_>, u64),
        expressions: [Option<Filled<'_>>; 2],
    ) -> Result<[Option<[[u32; 3]; 2]>; 2], Error> {
        let kernel = &self.multiplying.0;
        let mut block = [0; BLOCK_BYTES];
        for (number, (map, image)) in [&kernel.read, &kernel.other].into_iter().zip(images).enumerate() {
            if let (Some(map), Some((memory, start))) = (map, image) {
                block[128 * number..][..128].copy_from_slice(TensorMap::encode_from(map, memory, start)?.as_bytes());
            }
        }
        let address = |(memory, start): Place<'_>| memory.device_ptr() + start as u64;
        let result = address(dw);
        let sums = if self.adding.is_some() { parts } else { result };
        let [x, dy] = images.map(|image| image.map_or(0, address));
        write_addresses(&mut block[256..], &[x, dy, sums]);
        let end = write_expressions(&mut block, EXPRESSIONS_AT, expressions);
        let multiplying = launch(stream, &self.multiplying, &block[..end])?;
        let Some(adding) = &self.adding else { return Ok([Some(multiplying), None]) };
        let mut addresses = [0; 16];
        write_addresses(&mut addresses, &[parts, result]);
        Ok([Some(multiplying), Some(launch(stream, adding, &addresses)?)])
    }
}

fn write_addresses(block: &mut [u8], addresses: &[u64]) {
    for (place, address) in block.chunks_exact_mut(8).zip(addresses) {
        place.copy_from_slice(&address.to_ne_bytes());
    }
}

fn launch(stream: &Stream, (kernel, function): &(KernelText, Function), block: &[u8]) -> Result<[[u32; 3]; 2], Error> {
    let (grid, threads) = ([kernel.grid, 1, 1], [kernel.threads, 1, 1]);
    let config = LaunchConfig {
        grid,
        block: threads,
        shared_bytes: kernel.shared_bytes,
        cluster: None,
        // The kernel waits for the one before it (`take_turn`), if it is compiled for devices that can.
        programmatic: function.target().arch.major >= 9,
        cooperative: false,
    };
    raw::launch_on(stream, function, &config, block)?;
    Ok([grid, threads])
}
