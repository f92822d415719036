//! Launches.

use tilewright_driver::{Function, LaunchConfig, Stream};

use crate::Error;

/// Launches a kernel of this crate.
///
/// The caller has written `parameters` as the kernel's struct has them, for the sizes of the memory whose addresses are in it. All of
/// that is live, and belongs to `stream`, or to a stream that is in order with it.
pub(crate) fn launch(
    function: &Function,
    stream: &Stream,
    config: &LaunchConfig,
    parameters: &[u8],
) -> Result<(), Error> {
    // SAFETY: the kernel keeps to the sizes that it is given (the host model and the sanitizer watch that in tests), and the memory
    // of that size lives until the kernel has ended: what is freed on its stream is freed behind it.
    unsafe { function.launch(stream, config, parameters) }.map_err(Error::from)
}
