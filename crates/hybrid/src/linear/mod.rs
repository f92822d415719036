//! Linear algebra on the CPU, by faer, and on a GPU, by cuBLAS and cuSOLVER, with one meaning.
//!
//! Every function takes a [`Place`] first and views of matrices ([`MatRef`](crate::MatRef)): of any strides, transposed, conjugated or
//! scaled. Sizes of zero are sizes. Results that are matrices are arrays of ndarray's, stored column by column.

mod cholesky;
mod cpu;
mod eigen;
mod finite;
mod given;
mod gpu;
mod lu;
mod matmul;
mod norm;
mod place;
mod precision;
mod qr;
mod scalar;
mod svd;

pub use cholesky::Cholesky;
pub(crate) use cpu::{Core, Division, Kind, MOST_THREADS, Triangle};
pub use eigen::{Eigen, HermitianEigen, eigen, eigen_hermitian, eigenvalues, eigenvalues_hermitian};
pub(crate) use eigen::{eigen_hermitian_of, eigen_of, eigenvalues_hermitian_of, eigenvalues_of};
pub(crate) use given::{Given, Made};
pub use gpu::{DeviceMat, DeviceRef, Folding, Gpu, norm_kernel, turn_kernel};
pub(crate) use gpu::{
    EMPTIED, FILLED, LOCKED, Lines, Locked, UNITS, added_there, bytes_to_add, multiply_batch_of_halves_there,
    multiply_halves_there, padded, refuse_wide_halves, refused_qr,
};
#[doc(hidden)]
pub use gpu::{IntegerFactor, IntegerSums};
pub(crate) use lu::{Line, Suspicion, are_dependent, refined, suspicion};
pub use lu::{
    LogDeterminant, Lu, Refinable, Refined, Refinement, determinant, inverse, log_determinant, reciprocal_condition,
    solve, solve_refined,
};
pub use matmul::{IntegerElement, Multiply, Overflow, matmul, matmul_batched, matmul_integer, matvec, outer, product};
pub(crate) use matmul::{check_batch, check_shapes};
pub use norm::{Norm, norm};
pub(crate) use norm::{largest, norm_of};
pub use place::Place;
pub use precision::Precision;
pub(crate) use precision::{Arithmetic, refused_on_cpu};
pub use qr::{Qr, least_squares};
pub use scalar::Scalar;
pub use svd::{Svd, singular_values, svd};
pub(crate) use svd::{svd_of, values_of};
