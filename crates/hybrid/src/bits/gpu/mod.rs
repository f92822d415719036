//! Bit matrices on a GPU: [`DeviceBitMatrix`] and [`DeviceProduct`], and the texts of their kernels.
//!
//! Work is queued on the stream of the left operand, and its results belong to that stream; nothing waits for it but what reads a
//! result. Kernels are compiled when they are first needed, one for each path and finish, whatever the sizes.

mod matrix;
mod path;
mod product;
mod resident;
mod rows;
mod text;

pub use self::{
    matrix::DeviceBitMatrix,
    path::{GpuPath, WgmmaShape},
    product::{DeviceProduct, operand_map},
    text::{Combine, Finish, combine_kernel, product_kernel, row_ones_kernel, transpose_kernel},
};
pub(crate) use self::{
    resident::Resident,
    rows::{DeviceRows, Results, UNCOUNTED, is_counted, multiply, row_bytes, words_per_row},
};
pub use crate::kernel::KernelText;
