//! Fused expressions on whichever processor is expected to be faster.

use super::bits::Banded;
use super::{Accelerated, Device};
use crate::Error;
use crate::stream::{Budgets, Control, Evaluation, Traffic, evaluate_on_gpu, evaluate_on_host};
use tilewright_ops as ops;

impl Device {
    /// Computes an expression in bands into its sinks, as [`crate::stream::evaluate`] does, on the processor that is expected to be faster: by
    /// bytes from where operands lie to where results are wanted, mostly ([`Evaluation::job`]). On the CPU bands are as large as the budget of
    /// host memory allows ([`falling_back_within`](Device::falling_back_within)). Bits are the same on both where bands are, but for what bands are reduced to or
    /// scanned upto, as it is told there. The sinks are not committed.
    ///
    /// What lies on the GPU ([`DeviceSource`](crate::store::DeviceSource), [`DeviceSink`](crate::store::DeviceSink)) is read and written there, and where the
    /// CPU computes copied to the host band by band. On another GPU than this device's it is the CPU's.
    ///
    /// Whom `control` does not name, the device does: who may stop it ([`cancelled_by`](Device::cancelled_by)), and who is told each band
    /// ([`telling`](Device::telling)).
    ///
    /// What fails on the GPU for a lack of memory or by a fault of the device is tried in smaller bands, then computed on the CPU, as the
    /// policy says: sources are read again, and sinks are written again. Errors are those of [`crate::stream::evaluate`].
    ///
    /// ```
    /// use ndarray::Array2;
    /// use tilewright_dims::dims;
    /// use tilewright_expr::In;
    /// use tilewright_hybrid::store::{MemorySink, MemorySource, Sink};
    /// use tilewright_hybrid::stream::{Array, Control, Evaluation};
    /// use tilewright_hybrid::{Device, dispatch};
    /// use tilewright_ops::fuse;
    ///
    /// dims! { Y, X }
    /// let brighter = fuse(|picture: In<f32, (Y, X)>, gain: In<f32, ()>| (picture * gain + 1.0).store::<(Y, X)>());
    /// let (picture, mut result) = (Array2::from_elem((300, 80), 2.0f32), Array2::from_elem((300, 80), f32::NAN));
    /// let (from, to) = (MemorySource::new(picture.view()), MemorySink::new(result.view_mut()));
    /// let picture = Array::<f32, (Y, X)>::new(&from, [300, 80])?;
    /// Device::auto().evaluate(&Evaluation::new(&brighter, (&picture, 3.0f32), &[&to])?, Control::default())?;
    /// println!("{}", dispatch::last_decision().unwrap()); // cpu.evaluate.f32 reason=cost(...)
    /// Box::new(to).commit()?;
    /// assert!(result.iter().all(|x| *x == 7.0));
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn evaluate(&self, evaluation: &Evaluation<'_>, control: Control<'_>) -> Result<Traffic, Error> {
        if evaluation.is_empty() {
            return Ok(Traffic::default());
        }
        let on_cpu = |own: Control<'_>| evaluate_on_host(&self.host, evaluation, control.or_watched(own));
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, own: Control<'_>| {
            // Kernels have streams of their own, whose results are waited for.
            let device = ops::Device::gpu(gpu.gpu.stream().device().ordinal())?;
            match device.as_gpu() {
                Some(gpu) => {
                    evaluation.gather_within(&self.host)?;
                    evaluate_on_gpu(gpu, (budgets, &self.host), evaluation, control.or_watched(own))
                }
                None => Err(Error::NoGpu { why: "it opens as none".into() }),
            }
        };
        let mut job = evaluation.job();
        if evaluation.lies_elsewhere(self.ordinal()) {
            job.not_on_gpu = Some("an operand lies on another GPU");
        }
        self.run(&job, Banded { device: self, on_cpu, on_gpu }).map(|ran| ran.value)
    }
}
