//! The launch of a kernel whose arguments were held against its declaration.

use crate::argument::{Argument, Given};
use crate::{Error, Function, LaunchConfig, Stream};

/// Most sizes and parameters together.
const MOST: usize = 16;

/// Launches a kernel in Rust: its sizes first, then its parameters. Its signature has checked them, and the caller has put `stream` in order
/// with the streams that the memory belongs to.
pub(crate) fn launch_declared(
    function: &Function,
    stream: &Stream,
    config: &LaunchConfig,
    sizes: &[i64],
    given: &[Argument<'_>],
) -> Result<(), Error> {
    let (mut words, mut parameters) = ([[0; 8]; MOST], [[].as_slice(); MOST]);
    let count = sizes.len() + given.len();
    if count > MOST {
        return Err(function.wrong_count(MOST, count));
    }
    for (at, (word, parameter)) in words.iter_mut().zip(&mut parameters).take(count).enumerate() {
        *parameter = match (sizes.get(at), at.checked_sub(sizes.len()).map(|at| given[at].given)) {
            (Some(size), _) => {
                *word = size.to_ne_bytes();
                word
            }
            (None, Some(Given::Value(bytes))) => bytes,
            (None, Some(Given::Memory(memory))) => {
                *word = memory.address.to_ne_bytes();
                word
            }
            (None, None) => &[],
        };
    }
    // SAFETY: each address is that of memory of the kernel's device, as long as the sizes make it, borrowed until here and given back in an
    // order behind the kernel; the launcher's types say which is written, and that nothing else uses it. Number, order and types of the
    // parameters are those of the declaration from which the entry was made, and the kernel keeps inside of the sizes: every access of its
    // body is checked against them.
    unsafe { function.launch_with(stream, config, &parameters[..count]) }
}
