//! The parts of the `tune` program: what is measured, kernels compiled ahead, times.

pub mod compiling;
pub mod gauge;
pub mod grouped;
pub mod plan;
pub mod pointwise;
pub mod timing;
