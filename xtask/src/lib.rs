//! What `cargo xtask` does, a module per command. A library, so that the tests of this package can call [`tidy`].
#![allow(clippy::print_stdout, reason = "these are commands: they speak on standard output")]

pub mod accuracy;
pub mod bench;
pub mod bindgen;
pub mod build_ptx;
pub mod bundle;
pub mod cache;
pub mod check_aarch64;
pub mod check_nvptx64;
pub mod compiler;
pub mod difference;
pub mod gpu_kernels;
pub mod instructions;
pub mod machine;
pub mod peers;
pub mod plots;
pub mod progress;
pub mod test;
pub mod tidy;
pub mod toolkit;
pub mod train;
pub mod tune;
pub mod workspace;
