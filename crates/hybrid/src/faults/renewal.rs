use super::Breaker;
use crate::Error;

/// Gives a GPU that is poisoned a new context, where the driver makes one, and has the [breaker](Breaker::of) that all of this process share know of
/// it ([`Breaker::revive`]). A GPU that is not poisoned stays as it is.
///
/// All that was made on the GPU has to be dropped before: streams, matrices, factors, and every [`Device`](crate::Device) that uses it; otherwise
/// it is [`Error::Driver`] with their number. Where the driver makes no other context, as none does after an exception of a kernel
/// ([`tilewright_driver::Device::renew`]), it is [`Error::DevicePoisoned`]: the process has to be started anew, or goes on with the CPU.
pub fn renew(ordinal: usize) -> Result<(), Error> {
    let breaker = Breaker::of(ordinal);
    let before = breaker.epoch();
    tilewright_ops::Device::renew(ordinal)?;
    if breaker.check(before).is_err() {
        breaker.revive();
    }
    Ok(())
}
