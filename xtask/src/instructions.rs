//! `cargo xtask instructions`: how many instructions known calls execute, held against bounds.

use crate::workspace;
use anyhow::Result;

/// The package that counts.
const PACKAGE: &str = "tilewright-instructions";

/// Counts on an optimised build: the figures of others mean nothing.
pub fn run() -> Result<()> {
    workspace::run(workspace::cargo().args(["run", "--release", "--quiet", "--package", PACKAGE]))
}
