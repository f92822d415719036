//! A package of kernels, with what is committed beside it.

use super::backend::{Ptx, PtxBackend, Request};
use super::budgets::Budgets;
use super::ptxas::{self, Ptxas, Usage};
use super::{ptx, report};
use crate::{compiler, progress, workspace};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::thread;
use tilewright_driver::Arch;

/// This workspace's own, from its root.
const OURS: &str = "gpu-kernels";

pub(super) struct Package {
    folder: PathBuf,
    is_ours: bool,
}

impl Package {
    /// The package in a folder, or this workspace's own.
    pub(super) fn open(folder: Option<&Path>) -> Result<Self> {
        let path = folder.map_or_else(|| workspace::root().join(OURS), Path::to_owned);
        if !path.join("Cargo.toml").is_file() {
            bail!("there is no package of kernels in {}", path.display());
        }
        let absolute = std::fs::canonicalize(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { folder: absolute, is_ours: folder.is_none() })
    }

    pub(super) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The command that a message names.
    pub(super) fn command(&self, flag: &str) -> String {
        let package = if self.is_ours { String::new() } else { format!(" --package {}", self.folder.display()) };
        format!("cargo xtask gpu-kernels{package}{flag}")
    }

    fn file(&self, arch: Arch) -> PathBuf {
        self.folder.join("ptx").join(format!("kernels.{arch}.ptx"))
    }

    /// What made the files that are there.
    pub(super) fn made_by(&self, archs: &[Arch]) -> Option<String> {
        let texts = archs.iter().filter_map(|arch| std::fs::read_to_string(self.file(*arch)).ok());
        texts.filter_map(|text| ptx::made_by(&text).map(str::to_owned)).next()
    }

    /// Builds for each architecture, side by side.
    pub(super) fn build(&self, backend: &dyn PtxBackend, archs: &[Arch]) -> Result<Vec<(Arch, Ptx)>> {
        let name = format!("gpu-kernels-{}", backend.name());
        // Another package's compiled code stays with it: cargo would take one package's for the other's.
        let target_folder =
            if self.is_ours { compiler::target_folder(&name) } else { self.folder.join("target").join(name) };
        let request = |arch| Request { package: self.folder.clone(), arch, target_folder: target_folder.clone() };
        let names: Vec<String> = archs.iter().map(Arch::to_string).collect();
        let message = format!("{} builds core and {} for {}", backend.name(), self.name(), names.join(", "));
        progress::waiting(message, || {
            thread::scope(|scope| {
                let build = |arch: &Arch| {
                    scope.spawn({
                        let request = request(*arch);
                        move || backend.build(&request)
                    })
                };
                let threads: Vec<_> = archs.iter().map(build).collect();
                let join = |(arch, thread): (&Arch, thread::ScopedJoinHandle<'_, Result<Ptx>>)| {
                    let built = thread.join().map_err(|_| anyhow::anyhow!("the build for {arch} panicked"))??;
                    Ok((*arch, built))
                };
                archs.iter().zip(threads).map(join).collect()
            })
        })
    }

    /// Writes what was built where it is not there already.
    pub(super) fn write(&self, arch: Arch, built: &Ptx) -> Result<()> {
        let (file, text) = (self.file(arch), ptx::file(built));
        match std::fs::read_to_string(&file) {
            Ok(committed) if ptx::first_difference(&committed, &text).is_none() => {
                println!("{}: as it was ({})", shown(&file), built.compiler);
                Ok(())
            }
            _ => write(&file, &text),
        }
    }

    /// Compares what was built with what is committed, and says where they differ.
    pub(super) fn compare(&self, arch: Arch, built: &Ptx) -> Option<String> {
        let file = self.file(arch);
        let Ok(committed) = std::fs::read_to_string(&file) else {
            return Some(format!("{} is missing; `{}` writes it", shown(&file), self.command("")));
        };
        let Some(difference) = ptx::first_difference(&committed, &ptx::file(built)) else {
            println!("{}: as committed ({})", shown(&file), built.compiler);
            return None;
        };
        let fault = report::difference(&shown(&file), &difference, &committed, &built.compiler);
        Some(format!("{fault}\n  `{}` writes it anew", self.command("")))
    }

    /// The files that are not there although nothing can build them.
    pub(super) fn absent(&self, archs: &[Arch]) -> Vec<String> {
        let files = archs.iter().map(|arch| self.file(*arch)).filter(|file| !file.is_file());
        files.map(|file| format!("{} is missing, and no back end can build it", shown(&file))).collect()
    }

    /// What the kernels of the files use on each target.
    pub(super) fn usage(&self, ptxas: &Ptxas, archs: &[Arch]) -> Result<Usage> {
        let mut there: Vec<Arch> = ptxas::TARGETS.into_iter().chain(archs.iter().copied()).collect();
        there.retain(|arch| self.file(*arch).is_file());
        let pairs = ptxas::serving(&there);
        let bar = progress::counting(pairs.len());
        let mut usage = Usage::new();
        for (target, arch) in pairs {
            bar.set_message(format!("ptxas {target}"));
            let kernels = ptxas.assemble(&self.file(arch), target)?;
            usage.extend(kernels.into_iter().map(|kernel| ((kernel.name.clone(), target), kernel)));
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(usage)
    }

    fn budgets_file(&self) -> PathBuf {
        self.folder.join("budgets.toml")
    }

    /// The budgets as they are committed.
    pub(super) fn budgets(&self) -> Result<Budgets> {
        Budgets::read(&self.budgets_file())
    }

    /// Writes what is used now as the budgets.
    pub(super) fn write_budgets(&self, usage: &Usage) -> Result<Budgets> {
        let budgets = Budgets::of(usage);
        write(&self.budgets_file(), &budgets.text())?;
        Ok(budgets)
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}: written", shown(file));
    Ok(())
}

/// A file as messages name it.
fn shown(file: &Path) -> String {
    file.strip_prefix(workspace::root()).unwrap_or(file).display().to_string()
}
