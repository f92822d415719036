//! Eigenvalues and eigenvectors.

mod general;
mod hermitian;

pub use general::{Eigen, eigen, eigenvalues};
pub(crate) use general::{eigen_of, eigenvalues_of};
pub use hermitian::{HermitianEigen, eigen_hermitian, eigenvalues_hermitian};
pub(crate) use hermitian::{eigen_hermitian_of, eigenvalues_hermitian_of};
