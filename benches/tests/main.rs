//! The benchmark's own parts that need no GPU.

mod data;
mod kernels;
mod results;
