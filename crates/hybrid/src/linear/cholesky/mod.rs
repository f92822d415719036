//! Cholesky's factorisation of Hermitian positive definite matrices, and what follows from it.

mod factor;
mod solve;

pub use factor::Cholesky;
