//! `cargo xtask toolkit`: fetches NVRTC, and ptxas where kernels written in Rust are built.

use anyhow::{Context, Result};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use tilewright_driver::toolkit::{self, Progress, Stage, Wheel};

/// ptxas as the budgets of kernels were made with.
const PTXAS: [Wheel; 2] = [
    Wheel {
        host: "x86_64",
        package: "nvidia-cuda-nvcc",
        version: "13.0.88",
        bytes: 37_384_532,
        sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
    },
    Wheel {
        host: "aarch64",
        package: "nvidia-cuda-nvcc",
        version: "13.0.88",
        bytes: 32_455_430,
        sha256: "c7ff28f86a24effdc6c034fa15230c549a273e4771b10a7fec14996f8cf3307f",
    },
];
/// The program, and the folder below tilewright's cache folder.
const PTXAS_NAME: &str = "ptxas";

/// What can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Package {
    /// The run-time compiler of CUDA C++.
    Nvrtc,
    /// The assembler of PTX, which `cargo xtask gpu-kernels` fetches by itself.
    Ptxas,
}

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// What to fetch, from PyPI.
    #[arg(value_enum, default_value = "nvrtc")]
    packages: Vec<Package>,
}

/// Installs packages into the user's cache directory, with a progress bar.
pub fn run(options: &Options) -> Result<()> {
    for package in &options.packages {
        match package {
            Package::Nvrtc => {
                let folder = with_bar(toolkit::install).context("NVRTC cannot be installed")?;
                println!("NVRTC is in {}", folder.display());
            }
            Package::Ptxas => println!("ptxas is {}", ptxas()?.display()),
        }
    }
    Ok(())
}

/// The assembler, fetched if it is not here yet.
pub fn ptxas() -> Result<PathBuf> {
    let install = |progress: &mut dyn FnMut(Progress)| {
        Wheel::for_this_machine(&PTXAS)?.install(PTXAS_NAME, &[PTXAS_NAME], progress)
    };
    Ok(with_bar(install).context("ptxas cannot be installed")?.join(PTXAS_NAME))
}

/// The assembler, if it was fetched before.
pub fn installed_ptxas() -> Option<PathBuf> {
    let program = Wheel::for_this_machine(&PTXAS).ok()?.folder(PTXAS_NAME)?.join(PTXAS_NAME);
    program.is_file().then_some(program)
}

/// Shows a progress bar while `install` runs.
pub fn with_bar<T, E>(install: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<T, E>) -> Result<T, E> {
    let style = ProgressStyle::with_template(
        "{msg:<9} [{bar:40}] {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}",
    );
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut current = None;
    let done = install(&mut |progress| {
        if current.replace(progress.stage) != Some(progress.stage) {
            bar.reset();
            bar.set_message(name(progress.stage));
        }
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    });
    bar.finish_and_clear();
    done
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Download => "fetching",
        Stage::Verify => "comparing",
        Stage::Unpack => "unpacking",
    }
}
