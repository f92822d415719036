//! A device after its GPU's context was lost.

use super::{Accelerated, Device, Driver};
use crate::Error;
use crate::faults::renew;
use crate::linear::Gpu;

impl Device {
    /// The same device on a new context of its GPU, where that is poisoned and the driver makes one ([`faults::renew`](crate::faults::renew)); otherwise as it is. Choice, rates, budgets that
    /// were given, breaker and who watches stay. The stream is a new one.
    ///
    /// It takes the device, since all that was made on the GPU has to be dropped before, clones of it too: otherwise it is [`Error::Driver`] with their number. Where the driver makes no
    /// other context, as none does after an exception of a kernel, it is [`Error::DevicePoisoned`]: [`Device::cpu`] goes on, or the process is started anew.
    pub fn renewed(self) -> Result<Device, Error> {
        let Device { gpu, .. } = self;
        let Some(Accelerated { gpu, breaker, budgets, host, is_measured }) = gpu else {
            return Ok(Device { gpu: None, ..self });
        };
        let lost = gpu.stream().device();
        if !lost.is_lost() && breaker.check(breaker.epoch()).is_ok() {
            return Ok(Device { gpu: Some(Accelerated { gpu, breaker, budgets, host, is_measured }), ..self });
        }
        let before = breaker.epoch();
        drop(gpu);
        renew(lost.ordinal())?;
        // One that is not shared by the process learns of it here.
        if breaker.check(before).is_err() && breaker.check(breaker.epoch()).is_err() {
            breaker.revive();
        }
        let fresh = Accelerated::new(Gpu::new(&Driver::new(lost.ordinal())?.stream()?));
        let budgets = if is_measured { fresh.budgets } else { budgets };
        Ok(Device { gpu: Some(Accelerated { gpu: fresh.gpu, breaker, budgets, host, is_measured }), ..self })
    }
}
