//! The weights' gradient on a GPU: its kernels are found by problem and configuration, and launched.

use super::config::Config;
use super::dense::{Dense, DenseMut};
use super::element::Convolved;
use super::error::ConvError;
use super::gpu::{MODELS, facts, load};
use super::kernel_text::KernelText;
use super::problem::{Pass, Problem};
use super::row_plan::Multiprocessor;
use super::weight_operation::WeightOperation;
use super::weight_plan::{WeightConfig, WeightPlan};
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::launches::{Known, LaunchKind, launched};
use crate::raw;
use crate::user_kernel::KernelSource;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::Instant;
use tilewright_driver::{Arch, Function, LaunchConfig, TensorMap};

/// The parameter block of the kernel that multiplies: two maps, the operands, the sums; a multiple of what maps are aligned to.
const BLOCK_BYTES: usize = 320;

/// What the sources are called in messages.
const MULTIPLYING: &str = "conv2d_grad_weight.cu";
const ADDING: &str = "conv2d_add_parts.cu";

/// What kernels are found by.
type Key = (usize, Problem, Option<WeightConfig>);

/// The kernels of a call, but for addresses, and the bytes of its parts.
struct Ready {
    multiplying: (KernelText, Function),
    adding: Option<(KernelText, Function)>,
    workspace: usize,
}

static READY: LazyLock<RwLock<HashMap<Key, Arc<Ready>>>> = LazyLock::new(RwLock::default);

/// The kernels of a call, and what of them was there already.
fn ready(gpu: &Gpu, key: Key) -> Result<(Arc<Ready>, Known), Error> {
    if let Some(ready) = READY.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok((ready.clone(), Known::Call));
    }
    let start = Instant::now();
    let plan = plan(gpu, &key.1, key.2)?;
    let (multiplying, known) = load(gpu, plan.kernel().map_err(ConvError::from)?, MULTIPLYING, start)?;
    let adding = plan.adding().map(|kernel| load(gpu, kernel, ADDING, Instant::now())).transpose()?;
    let ready = Arc::new(Ready { multiplying, adding: adding.map(|(kernel, _)| kernel), workspace: plan.workspace() });
    READY.write().unwrap_or_else(PoisonError::into_inner).insert(key, ready.clone());
    Ok((ready, known))
}

fn plan(gpu: &Gpu, problem: &Problem, config: Option<WeightConfig>) -> Result<WeightPlan, Error> {
    let config = config.unwrap_or_else(|| chosen_grad_weight(gpu, problem));
    Ok(WeightPlan::new(*problem, config, Multiprocessor::of(gpu)).map_err(ConvError::from)?)
}

/// The configuration that [`Config::auto`] takes on a GPU for the weights' gradient.
pub fn chosen_grad_weight(gpu: &Gpu, problem: &Problem) -> WeightConfig {
    WeightOperation::chosen(&MODELS, problem, Multiprocessor::of(gpu), &facts(gpu))
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
    let key = (gpu.ordinal(), *problem, config.weights);
    let known = READY.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(|ready| ready.workspace);
    known.map_or_else(|| Ok(plan(gpu, problem, config.weights)?.workspace()), Ok)
}

/// The weights' gradient from the input and the result's gradient.
pub(super) fn grad_weight<T: Convolved>(
    gpu: &Gpu,
    problem: &Problem,
    config: Config,
    (x, dy): (Dense<'_, T>, Dense<'_, T>),
    dw: DenseMut<'_, f32>,
) -> Result<(), Error> {
    let (ready, known) = ready(gpu, (gpu.ordinal(), *problem, config.weights))?;
    let (Some((x, x_start)), Some((dy, dy_start)), Some((dw, dw_start))) = (x.on_gpu(), dy.on_gpu(), dw.on_gpu())
    else {
        let (got, expected) = (Device::Cpu.to_string(), Device::Gpu(gpu.clone()).to_string());
        return Err(Error::Devices { operand: 0, got, expected });
    };
    let kernel = &ready.multiplying.0;
    let mut block = [0; BLOCK_BYTES];
    if let (Some(read), Some(given)) = (&kernel.read, &kernel.other) {
        block[..128].copy_from_slice(TensorMap::encode_from(read, x, x_start)?.as_bytes());
        block[128..256].copy_from_slice(TensorMap::encode_from(given, dy, dy_start)?.as_bytes());
    }
    let operands = [x.device_ptr() + x_start as u64, dy.device_ptr() + dy_start as u64];
    write_addresses(&mut block[256..], &operands);
    let result = dw.device_ptr() + dw_start as u64;
    let Some(adding) = &ready.adding else {
        write_addresses(&mut block[272..], &[result]);
        return launch(gpu, &ready.multiplying, &block, known);
    };
    let parts = gpu.stream().alloc::<u8>(ready.workspace)?;
    write_addresses(&mut block[272..], &[parts.device_ptr()]);
    launch(gpu, &ready.multiplying, &block, known)?;
    let mut addresses = [0; 16];
    write_addresses(&mut addresses, &[parts.device_ptr(), result]);
    launch(gpu, adding, &addresses, known)
}

fn write_addresses(block: &mut [u8], addresses: &[u64]) {
    for (place, address) in block.chunks_exact_mut(8).zip(addresses) {
        place.copy_from_slice(&address.to_ne_bytes());
    }
}

fn launch(gpu: &Gpu, (kernel, function): &(KernelText, Function), block: &[u8], known: Known) -> Result<(), Error> {
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
    raw::launch(gpu, function, &config, block)?;
    launched(LaunchKind::Convolution, Pass::GradWeight.name(), known, [grid, threads]);
    Ok(())
}
