//! Kernels that were written in Rust: their PTX comes with tilewright, so that neither NVRTC nor anything else compiles at run time.
//!
//! What a kernel takes is declared once, in `tilewright-gpu-kernels`; its entry on the GPU and its launcher here follow from that. A launcher
//! is a safe function: memory to read is `&buffer`, memory to write `&mut buffer`, sizes are typed coordinates in any order.
//!
//! ```no_run
//! use tilewright_driver::{Device, Kernels};
//! use tilewright_driver::kernels::dims::{I, J, K};
//!
//! let device = Device::new(0)?;
//! let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
//! let (x, mut y) = (stream.upload(&[1.0_f32; 1000])?, stream.upload(&[2.0_f32; 1000])?);
//! kernels.saxpy.launch(&stream, 0.5, &x, &mut y)?;
//!
//! let (a, b) = (stream.upload(&[1.0_f32; 50 * 75])?, stream.upload(&[1.0_f32; 75 * 70])?);
//! let mut c = stream.alloc::<f32>(50 * 70)?;
//! kernels.product.launch(&stream, I(50) + J(70) + K(75), &a, &b, &mut c)?;
//! assert_eq!(c.to_vec()?[0], 75.0);
//! # Ok::<(), tilewright_driver::Error>(())
//! ```
//!
//! A size along a dimension that the kernel lacks, or a missing one, does not compile, and neither does memory that is read and written at
//! once:
//!
//! ```compile_fail
//! # use tilewright_driver::{DeviceBuffer, Error, Kernels, Stream, kernels::dims::{I, J}};
//! # fn run(kernels: Kernels, stream: Stream, a: DeviceBuffer<f32>, b: DeviceBuffer<f32>, mut c: DeviceBuffer<f32>) -> Result<(), Error> {
//! kernels.product.launch(&stream, I(50) + J(70), &a, &b, &mut c)
//! # }
//! ```
//!
//! ```compile_fail
//! # use tilewright_driver::{DeviceBuffer, Error, Kernels, Stream};
//! # fn run(kernels: Kernels, stream: Stream, mut y: DeviceBuffer<f32>) -> Result<(), Error> {
//! kernels.saxpy.launch(&stream, 0.5, &y, &mut y)
//! # }
//! ```

mod launchers;
mod misfit;
mod signature;

pub use launchers::*;
pub use misfit::Misfit;
pub use signature::{Over, Parameter, Signature};
/// The dimensions of these kernels.
pub use tilewright_gpu_kernels::dims;

use crate::{Compiled, Device, DeviceBuffer, Error, Stream, TargetKind};
use tilewright_gpu_kernels::body::sum;
use tilewright_gpu_kernels::image_for;

const NAME: &str = "tilewright-gpu-kernels";

/// The image for a device, the newest that it can run.
fn image(device: Device) -> Result<Compiled, Error> {
    let arch = device.arch();
    let image = image_for(arch.major, arch.minor).ok_or(Error::NoRustKernels { arch })?;
    Ok(Compiled {
        name: NAME.into(),
        arch: crate::Arch::new(image.arch.0, image.arch.1),
        target: TargetKind::Portable,
        compiler: (0, 0),
        kernels: Vec::new(),
        log: String::new(),
        image: image.ptx.as_bytes().to_vec(),
    })
}

macro_rules! totals {
    ($($name:ident $t:ty),*) => { $(
        impl $name {
            /// The sum of all elements, as a buffer of one: two launches, with room of its own for the shares. What is added to what follows
            /// from the number of elements alone, so that the result is the same on every device. The sum of nothing is 0.
            pub fn total(&self, stream: &Stream, x: &DeviceBuffer<$t>) -> Result<DeviceBuffer<$t>, Error> {
                let shares = sum::partials(i64::try_from(x.len()).unwrap_or(i64::MAX));
                let mut partial = stream.alloc(usize::try_from(shares).unwrap_or(1))?;
                let mut total = stream.alloc(1)?;
                self.launch(stream, x, &mut partial)?;
                self.launch(stream, &partial, &mut total)?;
                Ok(total)
            }
        }
    )* };
}
totals!(sum_f32 f32, sum_f64 f64);
