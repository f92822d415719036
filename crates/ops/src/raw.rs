//! The crate's unsafe code: launches, of an emitted kernel and of a user's, and work compiled for the processor that is there.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_unsafe, reason = "without AVX2 the work is compiled once, as a safe function")
)]

use crate::device::Gpu;
use crate::error::Error;
use tilewright_driver::argument::Given;
use tilewright_driver::{Argument, Function, LaunchConfig, Stream};

/// Launches an emitted kernel on the GPU's stream.
///
/// The caller has written `block` from the plan that the kernel was emitted from: every address in it is that of a tensor whose
/// extents the plan has checked against the kernel's accesses, of the GPU's error word, or of a staging buffer of the planned
/// size, and results share memory with nothing else (`Error::Shared`). All of it belongs to the GPU's stream.
pub(crate) fn launch(gpu: &Gpu, function: &Function, config: &LaunchConfig, block: &[u8]) -> Result<(), Error> {
    launch_on(gpu.stream(), function, config, block)
}

/// As [`launch`], on a stream that all of the memory belongs to.
pub(crate) fn launch_on(
    stream: &Stream,
    function: &Function,
    config: &LaunchConfig,
    block: &[u8],
) -> Result<(), Error> {
    // SAFETY: the addresses are those of live memory of the stream's device (above). All of it is allocated, used and given back on
    // that one stream, in order, so that the memory outlives the kernel and no other work overlaps it.
    unsafe { function.launch(stream, config, block) }.map_err(Error::from)
}

/// Most arguments of a user's kernel.
const MOST: usize = 16;

/// Launches a user's kernel on `stream` with arguments that its interface has checked.
///
/// The caller has put `stream` in order with the streams that the memory belongs to.
pub(crate) fn launch_checked(
    function: &Function,
    stream: &Stream,
    config: &LaunchConfig,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    let (mut addresses, mut parameters) = ([[0; 8]; MOST], [[].as_slice(); MOST]);
    for (argument, (address, parameter)) in arguments.iter().zip(addresses.iter_mut().zip(&mut parameters)) {
        *parameter = match argument.given {
            Given::Value(bytes) => bytes,
            Given::Memory(memory) => {
                *address = memory.address.to_ne_bytes();
                address
            }
        };
    }
    let parameters = &parameters[..arguments.len().min(MOST)];
    // SAFETY: each address is that of live memory of the kernel's device, borrowed until here and given back in an order behind the
    // kernel, as large as the kernel's own declarations ask for; number and sizes of the parameters are checked. That the kernel
    // stays inside what it declares is the promise of whoever wrote it, as it is for C code that a program links (see `Kernel`).
    unsafe { function.launch_with(stream, config, parameters) }.map_err(Error::from)
}

/// Work whose `run` is inlined, with everything inside that has to be compiled for the same processor.
pub(crate) trait Work {
    fn run(self);
}

/// Runs `work`, compiled for AVX2 and FMA where the processor has them: the same bits either way, a fused multiply-add being exact.
pub(crate) fn wide<W: Work>(work: W) {
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    fn wider<W: Work>(work: W) {
        work.run();
    }
    match has_avx2() {
        // SAFETY: `has_avx2` holds, so the processor has the features that `wider` was compiled for.
        true => unsafe { wider(work) },
        false => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}
#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}
