//! The parts of the `tune` program: what is measured, kernels compiled ahead, times.

pub mod compiling;
pub mod gauge;
pub mod plan;
pub mod timing;
