//! Convolutions on a GPU: kernels that are found by problem and configuration, and launched.

use super::compute::Reads;
use super::config::{Asked, Config};
use super::dense::{Dense, DenseMut, dense};
use super::element::Convolved;
use super::ends::Fusing;
use super::error::ConvError;
use super::image::EXPRESSION_BYTES;
use super::kernel_text::KernelText;
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Precision, Problem};
use super::row_timing::refined_between;
use super::taken::Taken;
use crate::device::{Device, Gpu, kernels};
use crate::error::Error;
use crate::inlined::Filled;
use crate::launches::{Known, LaunchKind, built, launched};
use crate::manifest::recorder;
use crate::raw;
use crate::tensor::Item;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::Instant;
use tilewright_driver::{Arch, DeviceBuffer, Function, LaunchConfig, Stream, TensorMap};

impl Multiprocessor {
    /// That of a GPU.
    pub fn of(gpu: &Gpu) -> Multiprocessor {
        let device = gpu.device();
        Multiprocessor {
            shared_bytes: device.shared_bytes_per_block() as usize,
            bulk_copies: device.arch() >= Arch::new(9, 0),
        }
    }
}

/// What a kernel is found by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    context: u64,
    problem: Problem,
    pass: Pass,
    asked: Asked,
    bias: bool,
    written: Precision,
    /// Numbers of the texts of expressions: the image's, and the epilogue's.
    expressions: [Option<u64>; 2],
}

/// A kernel on a GPU, but for addresses.
pub(super) struct Ready {
    kernel: KernelText,
    function: Function,
}

static READY: LazyLock<RwLock<HashMap<Key, Arc<Ready>>>> = LazyLock::new(RwLock::default);

/// The kernel of a call, and what of it was there already.
fn ready(gpu: &Gpu, key: &Key, fusing: Fusing<'_>) -> Result<(Arc<Ready>, Known), Error> {
    if let Some(ready) = READY.read().unwrap_or_else(PoisonError::into_inner).get(key) {
        return Ok((ready.clone(), Known::Call));
    }
    let start = Instant::now();
    let kernel = kernel(gpu, key, fusing)?;
    let (loaded, known) = load(gpu, kernel, pass_file(key.pass), start)?;
    let ready = Arc::new(Ready::new(loaded));
    READY.write().unwrap_or_else(PoisonError::into_inner).insert(*key, ready.clone());
    Ok((ready, known))
}

/// The text of a call's kernel, under the configuration that is given or found.
fn kernel(gpu: &Gpu, key: &Key, fusing: Fusing<'_>) -> Result<KernelText, Error> {
    let ends = fusing.ends();
    let taken = match key.asked {
        Asked::Rows(config) => Taken::Rows(config),
        Asked::Depthwise(config) => Taken::Lanes(config),
        Asked::Refined => refined_between(gpu, &key.problem, key.pass, (ends, key.bias))?,
        // Of other passes there is none here.
        Asked::Auto | Asked::Weights(_) | Asked::Sums(_) => Taken::on(gpu, &key.problem, key.pass, ends),
    };
    let kernel = taken.kernel((&key.problem, key.pass), Multiprocessor::of(gpu), key.bias, fusing);
    Ok(kernel.map_err(ConvError::from)?)
}

/// A kernel on a GPU, and what of it was there already; its work began at `start`.
pub(super) fn load(
    gpu: &Gpu,
    kernel: KernelText,
    name: &str,
    start: Instant,
) -> Result<((KernelText, Function), Known), Error> {
    // As a kernel of a user's: it is recorded and built ahead like one.
    if let Some(recorder) = recorder() {
        recorder.kernel(&kernel.source(name).owned());
    }
    load_unrecorded(gpu, kernel, name, start)
}

/// As [`load`], for a kernel that may never be called again: no manifest hears of it.
pub(super) fn load_unrecorded(
    gpu: &Gpu,
    kernel: KernelText,
    name: &str,
    start: Instant,
) -> Result<((KernelText, Function), Known), Error> {
    let source = kernel.source(name).to_source()?;
    let (module, origin) = kernels().load(gpu.device(), &source)?;
    let function = module.function(kernel.entry)?;
    built(&source, gpu.device().arch(), origin, function.registers(), start);
    function.set_max_shared_bytes(kernel.shared_bytes)?;
    Ok(((kernel, function), Known::Nothing(origin)))
}

/// What a pass's source is called in messages.
pub(super) fn pass_file(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "conv2d.cu",
        Pass::GradInput => "conv2d_grad_input.cu",
        Pass::GradWeight => "conv2d_grad_weight.cu",
    }
}

/// The parameter block of the row kernel: the maps of what is read and of what is written, addresses, and what expressions need. It is a
/// multiple of what maps are aligned to.
pub(super) const BLOCK_ALIGNMENT: usize = 64;
/// Where in it what expressions need begins: behind two maps and four addresses. First comes the epilogue's.
const EXPRESSIONS_AT: usize = 288;
/// Its most bytes.
const BLOCK_BYTES: usize = (EXPRESSIONS_AT + 2 * EXPRESSION_BYTES).next_multiple_of(BLOCK_ALIGNMENT);
/// What an expression takes that is not there.
const NO_EXPRESSION_BYTES: usize = 16;

/// A forward pass, or an input's gradient: what an expression makes of the sums, or the sums, as elements of the named type, which is that of `U`.
pub(super) fn by_rows<T: Convolved, U: Item>(
    (gpu, pass, problem, config): (&Gpu, Pass, &Problem, Config),
    reads: Reads<'_, T>,
    y: DenseMut<'_, U>,
    (written, epilogue): (Precision, Option<Filled<'_>>),
) -> Result<(), Error> {
    let (memory, image) = (reads.image.memory(), reads.image.expression());
    let key = Key {
        context: gpu.context_number(),
        problem: *problem,
        pass,
        asked: config.asked,
        bias: reads.bias.is_some(),
        written,
        expressions: [image, epilogue].map(|it| it.map(|it| it.function.text.number)),
    };
    let [of_image, of_epilogue] = [&image, &epilogue].map(|it| it.map(|it| &it.function.text.inlined));
    let (ready, known) = ready(gpu, &key, Fusing { image: of_image, epilogue: of_epilogue, written })?;
    let (x, w, bias) = (memory.as_ref().map(Dense::on_gpu), dense(reads.w), reads.bias.map(dense));
    let (Some(w), Some(y)) = (w.on_gpu(), y.on_gpu()) else { return Err(elsewhere(gpu)) };
    let x = match x {
        Some(place) => Some(place.ok_or_else(|| elsewhere(gpu))?),
        None => None,
    };
    let bias = bias.as_ref().and_then(Dense::on_gpu).map_or(0, |(bias, start)| bias.device_ptr() + start as u64);
    let shape = ready.launch(gpu.stream(), (x, w, y, bias), [epilogue, image])?;
    launched(LaunchKind::Convolution, pass.name(), known, shape);
    Ok(())
}

/// An operand that is on the host.
pub(super) fn elsewhere(gpu: &Gpu) -> Error {
    let (got, expected) = (Device::Cpu.to_string(), Device::Gpu(gpu.clone()).to_string());
    Error::Devices { operand: 0, got, expected }
}

/// Writes what two expressions need into a parameter block, from byte `at` on. Where the block ends.
pub(super) fn write_expressions(block: &mut [u8], at: usize, expressions: [Option<Filled<'_>>; 2]) -> usize {
    let mut end = at;
    for expression in expressions {
        let begin = end;
        end += expression.map_or(NO_EXPRESSION_BYTES, |it| it.function.bytes());
        if let Some(expression) = expression {
            expression.write(&mut block[begin..end]);
        }
    }
    end.next_multiple_of(BLOCK_ALIGNMENT)
}

/// Where something lies: memory of a GPU, and the byte of it at which it begins.
pub(super) type Place<'a> = (&'a DeviceBuffer<u8>, usize);

impl Ready {
    /// The kernel, of [`load`].
    pub(super) fn new((kernel, function): (KernelText, Function)) -> Ready {
        Ready { kernel, function }
    }

    /// Launches the kernel on the stream that all operands belong to: the image, unless it is an expression, weights, result and bias.
    /// Expressions are the epilogue's and the image's. Says grid and block.
    pub(super) fn launch(
        &self,
        stream: &Stream,
        (x, w, y, bias): (Option<Place<'_>>, Place<'_>, Place<'_>, u64),
        expressions: [Option<Filled<'_>>; 2],
    ) -> Result<[[u32; 3]; 2], Error> {
        let mut block = [0; BLOCK_BYTES];
        if let (Some(read), Some(x)) = (&self.kernel.read, x) {
            block[..128].copy_from_slice(TensorMap::encode_from(read, x.0, x.1)?.as_bytes());
        }
        if let Some(written) = &self.kernel.other {
            block[128..256].copy_from_slice(TensorMap::encode_from(written, y.0, y.1)?.as_bytes());
        }
        let address = |(memory, start): Place<'_>| memory.device_ptr() + start as u64;
        let addresses = [x.map_or(0, address), address(w), bias, address(y)];
        for (place, address) in block[256..EXPRESSIONS_AT].chunks_exact_mut(8).zip(addresses) {
            place.copy_from_slice(&address.to_ne_bytes());
        }
        let end = write_expressions(&mut block, EXPRESSIONS_AT, expressions);
        let (grid, threads) = ([self.kernel.grid, 1, 1], [self.kernel.threads, 1, 1]);
        let config = LaunchConfig {
            grid,
            block: threads,
            shared_bytes: self.kernel.shared_bytes,
            cluster: None,
            // The kernel waits for the one before it (`take_turn`), if it is compiled for devices that can.
            programmatic: self.function.target().arch.major >= 9,
            cooperative: false,
        };
        raw::launch_on(stream, &self.function, &config, &block[..end])?;
        Ok([grid, threads])
    }
}
