//! Eigenvalues and eigenvectors.

mod finite;
mod general;
mod hermitian;

pub(super) use finite::refuse_not_finite;
pub use general::{Eigen, eigen, eigenvalues};
pub use hermitian::{HermitianEigen, eigen_hermitian, eigenvalues_hermitian};
