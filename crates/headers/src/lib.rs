//! The CUDA C++ side of tilewright as text, and a way to run kernels without a GPU.
//!
//! - [`device_headers`]: what emitted and hand-written kernels include. They compile with NVRTC, which gets them from
//!   memory.
//! - [`host_headers`]: the shim that stands in for CUDA when the same kernels are compiled by the system's C++
//!   compiler.
//! - [`signature`]: what the kernels of a source take, read from its text; [`cuda_type`]: the types in it.
//! - [`layout`]: layouts whose shape is known at run time, with pictures of them.
//! - [`tensor_map`]: tensors as the GPU's bulk copies see them, validated.
//! - `host_model` (feature `host-model`): compiles kernels that way and runs them, for tests.

pub mod cuda_type;
#[cfg(feature = "host-model")]
pub mod host_model;
mod includes;
pub mod layout;
pub mod signature;
pub mod tensor_map;

pub use includes::headers_for;

macro_rules! headers {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../include/", $path)))),*]
    };
}

/// The headers that kernels include: pairs of the path in the `#include` line and the text.
pub fn device_headers() -> &'static [(&'static str, &'static str)] {
    headers![
        "tilewright/prelude.cuh",
        "tilewright/axes.cuh",
        "tilewright/bit_word.cuh",
        "tilewright/collective.cuh",
        "tilewright/coords.cuh",
        "tilewright/fragment.cuh",
        "tilewright/half.cuh",
        "tilewright/half_value.cuh",
        "tilewright/layout.cuh",
        "tilewright/reduce.cuh",
        "tilewright/scalar.cuh",
        "tilewright/scan.cuh",
        "tilewright/scatter.cuh",
        "tilewright/swizzle.cuh",
        "tilewright/tensor.cuh",
        "tilewright/tile.cuh",
        "tilewright/wgmma.cuh",
        "tilewright/arch/barrier.cuh",
        "tilewright/arch/caller.cuh",
        "tilewright/arch/cluster.cuh",
        "tilewright/arch/copy.cuh",
        "tilewright/arch/grid.cuh",
        "tilewright/arch/half.cuh",
        "tilewright/arch/matrix.cuh",
        "tilewright/arch/memory.cuh",
        "tilewright/arch/minmax.cuh",
        "tilewright/arch/mma.cuh",
        "tilewright/arch/proxy.cuh",
        "tilewright/arch/reciprocal.cuh",
        "tilewright/arch/registers.cuh",
        "tilewright/arch/shared.cuh",
        "tilewright/arch/tensor_map.cuh",
        "tilewright/arch/vector.cuh",
        "tilewright/arch/warp.cuh",
        "tilewright/arch/wgmma.cuh",
    ]
}

/// The headers of the host model: pairs of the path in the `#include` line and the text.
///
/// `tilewright/host/shim.h` stands before the first device header; `tilewright/host/runtime.h` stands in one
/// translation unit of its own.
pub fn host_headers() -> &'static [(&'static str, &'static str)] {
    headers![
        "tilewright/host/shim.h",
        "tilewright/host/types.h",
        "tilewright/host/thread.h",
        "tilewright/host/arithmetic.h",
        "tilewright/host/asynchronous.h",
        "tilewright/host/atomic.h",
        "tilewright/host/bits.h",
        "tilewright/host/conversion.h",
        "tilewright/host/abi.h",
        "tilewright/host/entry.h",
        "tilewright/host/memory.h",
        "tilewright/host/shadow.h",
        "tilewright/host/view.h",
        "tilewright/host/warp.h",
        "tilewright/host/wgmma.h",
        "tilewright/host/keywords.h",
        "tilewright/host/runtime.h",
        "tilewright/host/block.h",
        "tilewright/host/primitives.h",
        "tilewright/host/stall.h",
        "tilewright/host/copies.h",
        "tilewright/host/boxes.h",
        "tilewright/host/mbarriers.h",
        "tilewright/host/cells.h",
        "tilewright/host/clocks.h",
        "tilewright/host/report.h",
        "tilewright/host/launch.h",
        "tilewright/host/stacks.h",
        "tilewright/host/fiber.h",
    ]
}
