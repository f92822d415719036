//! The weights' gradient on a GPU: its kernels are found by problem and configuration, and launched.

use super::config::Config;
use super::dense::{Dense, DenseMut};
use super::element::Convolved;
use super::error::ConvError;
use super::gpu::{MODELS, Place, facts, load, load_unrecorded};
use super::kernel_text::KernelText;
use super::problem::{Pass, Problem};
use super::row_plan::Multiprocessor;
use super::weight_choice::first;
use super::weight_operation::WeightOperation;
use super::weight_plan::{WeightConfig, WeightPlan};
use super::weight_timing::refined_grad_weight;
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::launches::{Known, LaunchKind, launched};
use crate::raw;
use crate::user_kernel::KernelSource;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::Instant;
use tilewright_driver::{Arch, Function, LaunchConfig, Stream, TensorMap};

/// The parameter block of the kernel that multiplies: two maps, the operands, the sums; a multiple of what maps are aligned to.
const BLOCK_BYTES: usize = 320;

/// What the sources are called in messages.
pub(super) const MULTIPLYING: &str = "conv2d_grad_weight.cu";
pub(super) const ADDING: &str = "conv2d_add_parts.cu";

/// What kernels are found by: the device, the problem, a given configuration, whether the choice is refined.
type Key = (usize, Problem, Option<WeightConfig>, bool);

/// The kernels of a call, but for addresses, and the bytes of its parts.
pub(super) struct Ready {
    multiplying: (KernelText, Function),
    adding: Option<(KernelText, Function)>,
    pub(super) workspace: usize,
}

static READY: LazyLock<RwLock<HashMap<Key, Arc<Ready>>>> = LazyLock::new(RwLock::default);

/// The kernels of a call, and what of them was there already.
fn ready(gpu: &Gpu, problem: &Problem, config: Config) -> Result<(Arc<Ready>, Known), Error> {
    let key = key(gpu, problem, config);
    if let Some(ready) = READY.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok((ready.clone(), Known::Call));
    }
    let start = Instant::now();
    let plan = plan(gpu, problem, config)?;
    let (multiplying, known) = load(gpu, plan.kernel().map_err(ConvError::from)?, MULTIPLYING, start)?;
    let adding = plan.adding().map(|kernel| load(gpu, kernel, ADDING, Instant::now())).transpose()?;
    let ready = Arc::new(Ready { multiplying, adding: adding.map(|(kernel, _)| kernel), workspace: plan.workspace() });
    READY.write().unwrap_or_else(PoisonError::into_inner).insert(key, ready.clone());
    Ok((ready, known))
}

fn key(gpu: &Gpu, problem: &Problem, config: Config) -> Key {
    (gpu.ordinal(), *problem, config.weights, config.refined)
}

fn plan(gpu: &Gpu, problem: &Problem, config: Config) -> Result<WeightPlan, Error> {
    let config = match config.weights {
        Some(config) => config,
        None if config.refined => refined_grad_weight(gpu, problem),
        None => chosen_grad_weight(gpu, problem),
    };
    Ok(WeightPlan::new(*problem, config, Multiprocessor::of(gpu)).map_err(ConvError::from)?)
}

/// The configuration that [`Config::auto`] takes on a GPU for the weights' gradient.
pub fn chosen_grad_weight(gpu: &Gpu, problem: &Problem) -> WeightConfig {
    WeightOperation::chosen(&MODELS, problem, Multiprocessor::of(gpu), &facts(gpu))
}

/// The first few of the choice.
pub(super) fn first_grad_weight(gpu: &Gpu, count: usize, problem: &Problem) -> Vec<WeightConfig> {
    first(count, &MODELS, problem, Multiprocessor::of(gpu), &facts(gpu))
}

/// Compiles the kernels of the weights' gradient under a configuration, or finds them in the cache: a later call has them. Needs no GPU;
/// any thread may. Refuses configurations that do not fit the problem.
pub fn compile_grad_weight(
    problem: &Problem,
    config: WeightConfig,
    sm: Multiprocessor,
    arch: Arch,
) -> Result<(), Error> {
    let plan = WeightPlan::new(*problem, config, sm).map_err(ConvError::from)?;
    let kernel = plan.kernel().map_err(ConvError::from)?;
    KernelSource::new(&kernel.text).name(MULTIPLYING).compile(arch)?;
    plan.adding().map_or(Ok(()), |adding| KernelSource::new(&adding.text).name(ADDING).compile(arch).map(drop))
}

/// Bytes of device memory that the weights' gradient needs besides its operands: the parts of its sum.
pub(super) fn workspace(gpu: &Gpu, problem: &Problem, config: Config) -> Result<usize, Error> {
    let key = key(gpu, problem, config);
    let known = READY.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(|ready| ready.workspace);
    known.map_or_else(|| Ok(plan(gpu, problem, config)?.workspace()), Ok)
}

/// The weights' gradient from the input and the result's gradient.
pub(super) fn grad_weight<T: Convolved>(
    gpu: &Gpu,
    problem: &Problem,
    config: Config,
    (x, dy): (Dense<'_, T>, Dense<'_, T>),
    dw: DenseMut<'_, f32>,
) -> Result<(), Error> {
    let (ready, known) = ready(gpu, problem, config)?;
    let (Some((x, x_start)), Some((dy, dy_start)), Some((dw, dw_start))) = (x.on_gpu(), dy.on_gpu(), dw.on_gpu())
    else {
        let (got, expected) = (Device::Cpu.to_string(), Device::Gpu(gpu.clone()).to_string());
        return Err(Error::Devices { operand: 0, got, expected });
    };
    let parts = ready.adding.as_ref().map(|_| gpu.stream().alloc::<u8>(ready.workspace)).transpose()?;
    let parts = parts.as_ref().map_or(0, |parts| parts.device_ptr());
    for shape in
        ready.launch(gpu.stream(), [(x, x_start), (dy, dy_start), (dw, dw_start)], parts)?.into_iter().flatten()
    {
        launched(LaunchKind::Convolution, Pass::GradWeight.name(), known, shape);
    }
    Ok(())
}

impl Ready {
    /// The kernels of a plan that may never be called again.
    pub(super) fn unrecorded(gpu: &Gpu, plan: &WeightPlan) -> Result<Ready, Error> {
        let of = |kernel, name| load_unrecorded(gpu, kernel, name, Instant::now()).map(|(kernel, _)| kernel);
        let multiplying = of(plan.kernel().map_err(ConvError::from)?, MULTIPLYING)?;
        let adding = plan.adding().map(|kernel| of(kernel, ADDING)).transpose()?;
        Ok(Ready { multiplying, adding, workspace: plan.workspace() })
    }

    /// Launches the kernels on the stream that all operands belong to, and the parts of the sum. Says grid and block of each.
    pub(super) fn launch(
        &self,
        stream: &Stream,
        [x, dy, dw]: [Place<'_>; 3],
        parts: u64,
    ) -> Result<[Option<[[u32; 3]; 2]>; 2], Error> {
        let kernel = &self.multiplying.0;
        let mut block = [0; BLOCK_BYTES];
        if let (Some(read), Some(given)) = (&kernel.read, &kernel.other) {
            block[..128].copy_from_slice(TensorMap::encode_from(read, x.0, x.1)?.as_bytes());
            block[128..256].copy_from_slice(TensorMap::encode_from(given, dy.0, dy.1)?.as_bytes());
        }
        let address = |(memory, start): Place<'_>| memory.device_ptr() + start as u64;
        let result = address(dw);
        let sums = if self.adding.is_some() { parts } else { result };
        write_addresses(&mut block[256..], &[address(x), address(dy), sums]);
        let multiplying = launch(stream, &self.multiplying, &block)?;
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
