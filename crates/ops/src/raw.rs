//! The crate's unsafe code: one launch.

use crate::device::Gpu;
use crate::error::Error;
use tilewright_driver::{Function, LaunchConfig};

/// Launches an emitted kernel on the GPU's stream.
///
/// The caller has written `block` from the plan that the kernel was emitted from: every address in it is that of a tensor whose
/// extents the plan has checked against the kernel's accesses, of the GPU's error word, or of a staging buffer of the planned
/// size, and results share memory with nothing else (`Error::Shared`).
pub(crate) fn launch(gpu: &Gpu, function: &Function, config: &LaunchConfig, block: &[u8]) -> Result<(), Error> {
    // SAFETY: the addresses are those of live memory of this GPU (above). All of a GPU's tensors are allocated, used and given
    // back on its one stream, in order, so that the memory outlives the kernel and no other work overlaps it.
    unsafe { function.launch(gpu.stream(), config, block) }.map_err(Error::from)
}
