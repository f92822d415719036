//! `cargo xtask bench`: the host benchmarks, and the device benchmark where there is a GPU.

use crate::workspace::{self, Packages};
use anyhow::{Result, bail};

/// The package that holds the device benchmark.
pub const PACKAGE: &str = "tilewright-benches";
/// The device benchmark's executable.
pub const DEVICE_BENCH: &str = "device-bench";

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// Leaves the device benchmark out, even where there is a GPU.
    #[arg(long)]
    host_only: bool,
    /// What the device benchmark gets as its arguments.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Runs every criterion benchmark of the workspace, then the device benchmark.
pub fn run(options: &Options) -> Result<()> {
    let packages = Packages::load()?;
    let mut found = false;
    for package in packages.iter() {
        for bench in package.targets_of("bench") {
            found = true;
            println!("== {} {bench}", package.name);
            workspace::run(workspace::cargo().args(["bench", "--package", &package.name, "--bench", bench]))?;
        }
    }

    let device = packages.get(PACKAGE).is_some_and(|package| package.targets_of("bin").contains(&DEVICE_BENCH));
    if !found && !device {
        bail!("the workspace has no benchmark");
    }
    if !device || options.host_only {
        return Ok(());
    }
    if !workspace::has_gpu() {
        println!("== device benchmark skipped: no GPU");
        return Ok(());
    }
    println!("== {DEVICE_BENCH}");
    let mut command = workspace::cargo();
    command.args(["run", "--release", "--package", PACKAGE, "--bin", DEVICE_BENCH, "--"]).args(&options.arguments);
    workspace::run(&mut command)
}
