//! `cargo xtask tune`: measures configurations on the GPU, for `cargo xtask train`.
//!
//! The work is done by a program of the benchmarks' package, `tune`, which also runs where there is no cargo.

use crate::bench::PACKAGE;
use crate::workspace;
use anyhow::{Result, ensure};

/// The program.
const TUNE: &str = "tune";

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// The operation.
    #[arg(long)]
    op: String,
    /// For how long: `300s`, `10m`. What is not measured by then is left to the next run.
    #[arg(long, default_value = "10m")]
    budget: String,
    /// What else the program gets: `--list held-out`, `--best 60`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Builds the program, and runs it where the data sets are.
pub fn run(options: &Options) -> Result<()> {
    let is_ahead = options.arguments.iter().any(|argument| argument.split('=').next() == Some("--ahead"));
    ensure!(
        is_ahead || workspace::has_gpu(),
        "there is no GPU to measure on; copy the program `{TUNE}` to a machine that has one, or compile ahead: `-- --ahead h200`"
    );
    let mut command = workspace::cargo();
    command.args(["run", "--release", "--package", PACKAGE, "--bin", TUNE, "--", "--op", &options.op]);
    let data = workspace::root().join("crates/perf/data");
    command.args(["--budget", &options.budget, "--data"]).arg(data).args(&options.arguments);
    workspace::run(&mut command)
}
