//! Bytes that lie by rows where columns are wanted, turned over on the device.

use tilewright_driver::blas::Layout;
use tilewright_driver::{DeviceBuffer, TargetKind};

use super::Gpu;
use crate::Error;
use crate::kernel::{Kernel, KernelText, Name, in_order};

/// The kernel that transposes bytes, of lines that begin at multiples of four of them; a block has 256 threads.
pub fn turn_kernel() -> KernelText {
    let text = [INCLUDES, include_str!("../kernels/turn.cu")].concat();
    let (entry, target) = ("turn_bytes", TargetKind::Plain);
    KernelText { entry, text, threads: 256, shared_bytes: 64 * 17 * 4, target, tile: [64, 64], cluster: 1 }
}

const INCLUDES: &str = "#include \"tilewright/arch/warp.cuh\"\n#include \"tilewright/layout.cuh\"\n";

/// The bytes of a word.
const WORD: usize = size_of::<u32>();

/// Queues the transposition of a matrix whose columns begin at multiples of four bytes and have whole words, without gaps to the begin of `to`.
pub(super) fn turn(
    gpu: &Gpu,
    (from, Layout { offset, rows, columns, leading }): (&DeviceBuffer<i8>, Layout),
    to: &mut DeviceBuffer<i8>,
) -> Result<(), Error> {
    debug_assert!([offset, rows, columns, leading].iter().all(|bytes| bytes.is_multiple_of(WORD)));
    let kernel = Kernel::get(gpu.stream(), Name::Turn, turn_kernel)?;
    let pitches = [leading, columns].map(|bytes| (bytes / WORD) as u64);
    let addresses = [from.device_ptr() + offset as u64, to.device_ptr(), pitches[0], pitches[1]];
    let sizes = [columns, rows].map(|extent| extent as i32);
    let block = [addresses.map(u64::to_ne_bytes).as_flattened(), sizes.map(i32::to_ne_bytes).as_flattened()].concat();
    let blocks = kernel.tiles(columns, rows)?;
    in_order(gpu.stream(), from.stream(), || kernel.launch(gpu.stream(), blocks, &block))
}
