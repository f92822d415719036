//! The benchmark's own parts that need no GPU.

mod data;
mod fuse;
mod kernels;
mod results;
