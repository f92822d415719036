//! NVIDIA's assembler: whether PTX is right, and what its kernels use on each target.

use crate::toolkit;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tilewright_driver::{Arch, KernelResources};

/// What PTX is assembled for: the generations that it serves.
pub const TARGETS: [Arch; 5] = [Arch::new(8, 0), Arch::new(8, 6), Arch::new(8, 9), Arch::new(9, 0), Arch::new(10, 0)];

/// ptxas's warning that matrix products wait for each other.
const SERIALIZED: &str = "C7510";

/// What kernels use, by name and target.
pub type Usage = BTreeMap<(String, Arch), KernelResources>;

/// The assembler.
pub struct Ptxas(PathBuf);

impl Ptxas {
    /// A program that takes ptxas's arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self(program.into())
    }

    /// The pinned version, fetched if it is not here yet.
    pub fn fetched() -> Result<Self> {
        toolkit::ptxas().map(Self)
    }

    /// Assembles a file for one target and says what its kernels use; it has one at least.
    pub fn assemble(&self, file: &Path, target: Arch) -> Result<Vec<KernelResources>> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let mut ptxas = Command::new(&self.0);
        ptxas.args(["--verbose", &format!("--gpu-name={target}"), "--output-file"]).arg(folder.path().join("cubin"));
        let output = ptxas.arg(file).stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start {}", self.0.display()))?;
        let log = [output.stdout.as_slice(), &output.stderr].concat();
        let log = String::from_utf8_lossy(&log);
        if !output.status.success() {
            bail!("ptxas refuses {} for {target}:\n{}", file.display(), log.trim());
        }
        if log.contains(SERIALIZED) {
            bail!("ptxas runs wgmma of {} one after the other for {target}:\n{}", file.display(), log.trim());
        }
        let kernels = KernelResources::from_log(&log);
        if kernels.is_empty() {
            bail!("{} has no kernel: an `extern \"ptx-kernel\" fn` under `#[unsafe(no_mangle)]`", file.display());
        }
        Ok(kernels)
    }
}

/// Which of the architectures that there is PTX for serves each target: the highest that is not above it.
pub fn serving(archs: &[Arch]) -> Vec<(Arch, Arch)> {
    let highest = |target: Arch| archs.iter().copied().filter(|arch| *arch <= target).max();
    TARGETS.into_iter().filter_map(|target| Some((target, highest(target)?))).collect()
}
