//! `cargo xtask gpu-kernels`: what it looks for, what it runs, what it says.

mod budgets;
mod build;
mod cuda_builder;
mod files;
mod nvptx64;
