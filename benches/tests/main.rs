//! The benchmark's own parts that need no GPU.

mod convolutions;
mod data;
mod fuse;
mod kernels;
mod results;
mod tuning;
