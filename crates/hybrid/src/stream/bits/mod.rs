//! Products of bit matrices that are larger than the memory of a GPU, or that shall not wait for their operands: bits are read, copied,
//! multiplied, copied back and written at the same time.
//!
//! Rows of the left operand are taken in bands, columns of the right one too, each band over the whole depth: what a tile of the result becomes
//! is decided when all pairs are counted. The CPU does the same with tiles that a budget of host memory holds ([`Device`](crate::Device)). While a band of columns is multiplied the next one comes, a slice with each band of rows.
//!
//! ```no_run
//! use tilewright_driver::Device;
//! use tilewright_hybrid::bits::BitMatrix;
//! use tilewright_hybrid::budget::Budget;
//! use tilewright_hybrid::linear::Gpu;
//! use tilewright_hybrid::stream::bits::{Becomes, BitProduct, Bits, product};
//! use tilewright_hybrid::stream::{Budgets, Control};
//!
//! let device = Device::new(0)?;
//! let gpu = Gpu::new(&device.stream()?);
//! let budgets = Budgets { device: Budget::device(device), pinned: Budget::pinned() };
//! let (a, b) = (BitMatrix::random(131_072, 131_072, 0.01, 1)?, BitMatrix::random(131_072, 131_072, 0.01, 2)?);
//! let (left, right) = (a.source(), b.source());
//! let of = BitProduct::of(Bits::new(&left, a.columns())?, Bits::new(&right, b.columns())?)?;
//! let paths: BitMatrix = product(&gpu, &budgets, &of, Becomes::MoreThan(0), Control::default())?;
//! # Ok::<(), tilewright_hybrid::Error>(())
//! ```

mod engine;
mod face;
mod gpu;
mod host;
mod job;
mod operands;
mod packing;
mod plan;
mod run;

pub use face::{multiply, product};
pub(crate) use host::multiply_on_host;
pub(crate) use job::job_of;
pub(crate) use operands::BitSink;
pub use operands::{Becomes, BitProduct, Bits};
pub use plan::BitPlan;

#[cfg(test)]
mod host_tests;
#[cfg(test)]
mod late;
#[cfg(test)]
mod tests;
