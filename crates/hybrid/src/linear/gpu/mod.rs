//! On a GPU: cuBLAS and cuSOLVER through the driver crate. Operands in host memory are copied there and results back.

mod buffers;
mod cholesky;
mod copies;
mod diagonal;
mod eigen;
mod handles;
mod integer;
mod locked;
mod lu;
mod matmul;
mod matrix;
mod matvec;
mod norm;
mod passing;
mod qr;
mod svd;
mod timed;
mod turned;

pub(crate) use cholesky::CholeskyFactors;
pub(crate) use copies::{EMPTIED, FILLED};
pub(crate) use diagonal::Lines;
pub(crate) use eigen::{eigen, eigen_hermitian, eigenvalues_hermitian};
pub use handles::Gpu;
pub use integer::{IntegerFactor, IntegerSums};
pub(crate) use integer::{added_there, bytes_to_add, multiply_integers, padded};
pub(crate) use locked::{LOCKED, Locked};
pub(crate) use lu::LuFactors;
pub(crate) use matmul::{
    multiply_halves, multiply_halves_there, multiply_scalar_batch, multiply_scalars, multiply_widened,
    refuse_wide_halves,
};
pub use matrix::{DeviceMat, DeviceRef};
pub(crate) use matvec::multiply_batch_of_halves_there;
pub use norm::{Folding, norm_kernel};
pub(crate) use qr::{QrFactors, refused_qr};
pub(crate) use svd::{singular_values, svd};
pub(crate) use timed::{Timed, UNITS};
pub use turned::turn_kernel;
