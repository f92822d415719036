//! `build-ptx`: compiles kernels ahead.

use clap::Parser as _;
use std::process::ExitCode;
use tilewright_build_ptx::command::{Options, run};

fn main() -> ExitCode {
    match run(&Options::parse(), &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
