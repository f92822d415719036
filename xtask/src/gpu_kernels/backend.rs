//! What turns a Rust package into PTX.

use super::cuda_builder::CudaBuilder;
use super::nvptx64::Nvptx64;
use super::probe::Missing;
use crate::machine::Machine;
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::path::PathBuf;
use tilewright_driver::Arch;

/// A compiler of Rust for NVIDIA GPUs.
pub trait PtxBackend: Sync {
    /// Its name, as `--backend` takes it.
    fn name(&self) -> &'static str;

    /// Looks for all that it needs on this machine, without building anything.
    fn probe(&self) -> Result<Ready, Missing>;

    /// The PTX of a package. What the probe misses is an error, and what the compiler says.
    fn build(&self, request: &Request) -> Result<Ptx>;
}

/// A back end that has all that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The compiler and where it is.
    pub compiler: String,
}

/// What to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folder of the package's `Cargo.toml`; it lies in no other workspace.
    pub package: PathBuf,
    /// What the code is for: it runs there and on everything newer.
    pub arch: Arch,
    /// A folder for what is built on the way, kept for the next time.
    pub target_folder: PathBuf,
}

/// PTX as a compiler wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// The text.
    pub text: String,
    /// The versions that decide what code comes out.
    pub compiler: String,
    /// What the compiler said, empty as a rule.
    pub log: String,
}

/// Which back end is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The first one that has all that it needs.
    #[default]
    Auto,
    /// The compiler's own target.
    Nvptx64,
    /// Rust-CUDA's compiler, over NVIDIA's libNVVM.
    CudaBuilder,
}

/// The back end that is wanted, or why there is none: an error if it was named, `Err(missing)` inside if any would have done.
///
/// `made_by` says what made the PTX that is there already: of several compilers, the same one is taken again.
pub fn choose(
    machine: &Machine,
    choice: Choice,
    made_by: Option<&str>,
) -> Result<Result<Box<dyn PtxBackend>, Vec<Missing>>> {
    let mut candidates: Vec<Box<dyn PtxBackend>> = Vec::new();
    if choice != Choice::CudaBuilder {
        candidates.push(Box::new(Nvptx64::new(machine).like(made_by)));
    }
    if choice == Choice::CudaBuilder && !cfg!(feature = "cuda-builder") {
        bail!(
            "this xtask is built without the back end cuda-builder; switch it on:\n  \
             cargo run --package xtask --features cuda-builder -- gpu-kernels --backend cuda-builder"
        );
    }
    if choice != Choice::Nvptx64 && cfg!(feature = "cuda-builder") {
        candidates.push(Box::new(CudaBuilder::new(machine)));
    }
    let mut missing = Vec::new();
    for backend in candidates {
        match backend.probe() {
            Ok(_) => return Ok(Ok(backend)),
            Err(what) => missing.push(what),
        }
    }
    match missing.pop() {
        Some(only) if choice != Choice::Auto => Err(only.into()),
        last => Ok(Err(missing.into_iter().chain(last).collect())),
    }
}
