//! `cargo xtask train`: from the rows that were measured of an operation to its model, and a report of how good that is.
//!
//! What fits models is behind a feature of this package, which the command switches on by starting cargo once more: it brings a
//! library of learning, for which no other command should wait.

#[cfg(feature = "train")]
mod fit;
#[cfg(feature = "train")]
mod report;
#[cfg(feature = "train")]
mod scatter;

#[cfg(not(feature = "train"))]
use crate::workspace;
use anyhow::Result;
use std::path::PathBuf;

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// The operation whose rows are learned from; `synthetic` is one that is made up, to try the machinery.
    #[arg(long)]
    pub op: String,
    /// Into how many folds shapes are dealt for cross-validation.
    #[arg(long, default_value_t = 5)]
    pub folds: usize,
    /// Where the model goes; crates/perf/models if it is not given, and target/train for what is made up.
    #[arg(long)]
    pub models: Option<PathBuf>,
    /// Where the report and its pictures go; docs/performance-model if it is not given.
    #[arg(long)]
    pub report: Option<PathBuf>,
}

/// Fits, evaluates, writes.
pub fn run(options: &Options) -> Result<()> {
    #[cfg(feature = "train")]
    return fit::run(options);
    #[cfg(not(feature = "train"))]
    return again(options);
}

/// Starts cargo with the feature. Optimised: trees are fitted some thousand times.
#[cfg(not(feature = "train"))]
fn again(options: &Options) -> Result<()> {
    let mut again = workspace::cargo();
    again.args(["run", "--quiet", "--package", "xtask", "--features", "train", "--", "train", "--op", &options.op]);
    again.args(["--folds", &options.folds.to_string()]);
    for (name, folder) in [("--models", &options.models), ("--report", &options.report)] {
        if let Some(folder) = folder {
            again.arg(name).arg(folder);
        }
    }
    workspace::run(&mut again)
}
