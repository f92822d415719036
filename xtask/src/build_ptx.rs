//! `cargo xtask build-ptx`: kernels built ahead. The program is a crate of its own, so that no other command waits until the library
//! is built.

use crate::workspace;
use anyhow::Result;
use std::ffi::OsString;

/// What the command takes.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// Passed on; `--help` shows them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Builds the program and runs it.
pub fn run(options: &Options) -> Result<()> {
    let mut program = workspace::cargo();
    program.args(["run", "--quiet", "--package", "tilewright-build-ptx", "--"]).args(&options.arguments);
    workspace::run(&mut program)
}
