//! Rust-CUDA's compiler, which goes through NVIDIA's libNVVM.
//!
//! It is a plug-in of one nightly compiler and cannot be a dependency of this workspace. So a small package beside this one,
//! `xtask/cuda-builder`, depends on it, and runs as a child process in that nightly's toolchain. What it needs is probed first.
//! docs/build-ptx.md says what of this has run and what has not.

use super::backend::{Ptx, PtxBackend, Ready, Request};
use super::probe::{Missing, checkout, cuda, libclang, llvm, toolchain};
use crate::machine::Machine;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What the back end is called.
pub const NAME: &str = "cuda-builder";
/// The toolchain that the pinned revision asks for.
pub const TOOLCHAIN: &str = "nightly-2026-04-02";
/// What the plug-in is built from, beyond the compiler.
pub const COMPONENTS: [&str; 3] = ["rustc-dev", "rust-src", "llvm-tools"];
/// The repository's name, and the revision that `xtask/cuda-builder/Cargo.toml` pins.
pub const REPOSITORY: &str = "rust-cuda";
/// The revision.
pub const REVISION: &str = "946c91f080770f30d42d7c706ac8185969274073";
/// The LLVM whose intermediate code libNVVM reads.
pub const LLVM: u32 = 7;
/// The package that depends on cuda_builder, from the workspace's root.
const BUILDER: &str = "xtask/cuda-builder/Cargo.toml";

/// The back end.
pub struct CudaBuilder {
    machine: Machine,
    /// Held while one architecture is built: Rust-CUDA gives what it writes for each the same name.
    building: Mutex<()>,
}

/// What the probe finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// rustup's program.
    pub rustup: PathBuf,
    /// `llvm-config` of the right LLVM.
    pub llvm_config: PathBuf,
    /// The CUDA toolkit's folder.
    pub cuda: PathBuf,
}

impl CudaBuilder {
    /// On this machine.
    pub fn new(machine: &Machine) -> Self {
        Self { machine: machine.clone(), building: Mutex::new(()) }
    }

    /// All that it needs, or all that is missing: one thing found does not hide the next.
    pub fn find(&self) -> Result<Found, Missing> {
        let mut needs = Vec::new();
        let rustup = toolchain::probe(&self.machine, TOOLCHAIN, &COMPONENTS).map_err(|missing| needs.extend(missing));
        let llvm_config = llvm::probe(&self.machine, LLVM).map_err(|missing| needs.push(missing));
        let cuda = cuda::probe(&self.machine).map_err(|missing| needs.extend(missing));
        needs.extend(libclang::probe(&self.machine));
        let fetch = format!("cargo +{TOOLCHAIN} fetch --locked --manifest-path {BUILDER}");
        let sources = checkout::probe(&self.machine, REPOSITORY, REVISION, &fetch);
        let sources = sources.map_err(|missing| needs.push(missing));
        match (rustup, llvm_config, cuda, sources) {
            (Ok(rustup), Ok(llvm_config), Ok(cuda), Ok(_)) if needs.is_empty() => {
                Ok(Found { rustup, llvm_config, cuda })
            }
            _ => Err(Missing { backend: NAME, needs }),
        }
    }

    /// The command that writes the PTX of a request to `output`.
    pub fn command(&self, found: &Found, request: &Request, output: &Path) -> Command {
        let mut builder = self.machine.command(&found.rustup);
        builder.current_dir(workspace::root()).args(["run", TOOLCHAIN, "cargo", "run", "--quiet", "--release"]);
        builder.args(["--locked", "--manifest-path"]).arg(workspace::root().join(BUILDER)).arg("--");
        let arch = request.arch;
        builder.arg(&request.package).arg(format!("compute_{}{}", arch.major, arch.minor)).arg(output);
        builder.env("CARGO_TARGET_DIR", &request.target_folder);
        builder.env("LLVM_CONFIG", &found.llvm_config).env("CUDA_PATH", &found.cuda);
        // The plug-in is loaded by the compiler and loads libNVVM by its name.
        let mut libraries = found.cuda.join(cuda::NVVM).into_os_string();
        if let Some(others) = self.machine.variable("LD_LIBRARY_PATH") {
            libraries.push(":");
            libraries.push(others);
        }
        builder.env("LD_LIBRARY_PATH", libraries);
        // What the cargo that runs this program tells its children is about another toolchain.
        for others in [
            "CARGO",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_INCREMENTAL",
            "RUSTC",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
        ] {
            builder.env_remove(others);
        }
        builder
    }
}

impl PtxBackend for CudaBuilder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn probe(&self) -> Result<Ready, Missing> {
        let found = self.find()?;
        let (llvm, cuda) = (found.llvm_config.display(), found.cuda.display());
        Ok(Ready { compiler: format!("{} with {llvm} and {cuda}", version()) })
    }

    fn build(&self, request: &Request) -> Result<Ptx> {
        let found = self.find()?;
        let folder = &request.target_folder;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let output = folder.join(format!("{}.ptx", request.arch));
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = self.command(&found, request, &output);
        let built = command.output().with_context(|| format!("cannot start {command:?}"))?;
        let log = String::from_utf8_lossy(&built.stderr).trim().to_owned();
        if !built.status.success() {
            bail!("{} does not compile for {} ({}):\n{log}", request.package.display(), request.arch, version());
        }
        let text =
            std::fs::read_to_string(&output).with_context(|| format!("no PTX in {}:\n{log}", output.display()))?;
        Ok(Ptx { text, compiler: version(), log })
    }
}

fn version() -> String {
    let short = &REVISION[..7];
    format!("cuda_builder {short}, {TOOLCHAIN}, LLVM {LLVM}")
}
