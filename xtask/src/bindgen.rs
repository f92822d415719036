//! `cargo xtask bindgen`: writes the Rust side of what host and device, or host and the host model, hand to each other, from
//! the C++ declarations.
//!
//! The library bindgen is behind a feature of this package, which the command switches on by starting cargo once more: what it
//! needs takes longer to build than all other commands together. libclang comes from a wheel of PyPI, as NVRTC does.

#[cfg(feature = "bindgen")]
mod generate;

use crate::{toolkit, workspace};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;
use tilewright_driver::toolkit::Wheel;

/// A header, and the Rust file that mirrors it.
pub struct Mirror {
    /// The path that `#include` lines use.
    pub header: &'static str,
    /// The file to write, from the workspace's root.
    pub output: &'static str,
    /// What to mirror: a regular expression over full names.
    pub items: &'static str,
}

/// Every mirror. A header that ends in `.cuh` is read as the host model reads it, behind `tilewright/host/shim.h`.
pub const MIRRORS: &[Mirror] = &[Mirror {
    header: "tilewright/host/abi.h",
    output: "crates/headers/src/host_model/abi.rs",
    items: "tw::host::.*",
}];

/// libclang as the mirrors were made with.
const LIBCLANG: [Wheel; 2] = [
    Wheel {
        host: "x86_64",
        package: "libclang",
        version: "18.1.1",
        bytes: 24_515_943,
        sha256: "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b",
    },
    Wheel {
        host: "aarch64",
        package: "libclang",
        version: "18.1.1",
        bytes: 23_784_972,
        sha256: "54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592",
    },
];
/// Below tilewright's cache folder.
const FOLDER: &str = "libclang";
const LIBRARY: &str = "libclang.so";
const VARIABLE: &str = "LIBCLANG_PATH";

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// Writes nothing, and fails when a file is not what would be written.
    #[arg(long)]
    pub check: bool,
}

/// Writes or compares every mirror; fetches libclang if `LIBCLANG_PATH` does not say where it is. For this package's program alone.
pub fn run(options: &Options) -> Result<()> {
    #[cfg(feature = "bindgen")]
    if given().is_some() {
        return generate::run(options.check);
    }
    let mut again = again()?;
    again.arg("bindgen");
    if options.check {
        again.arg("--check");
    }
    workspace::run(again.env(VARIABLE, libclang()?))
}

/// This program once more, with the feature.
fn again() -> Result<Command> {
    if cfg!(feature = "bindgen") {
        return Ok(workspace::command(std::env::current_exe().context("cannot find this program")?));
    }
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--package", "xtask", "--features", "bindgen", "--"]);
    Ok(cargo)
}

/// Whether libclang is on this machine, where this command looks for it.
pub fn has_libclang() -> bool {
    let unpacked = || Wheel::for_this_machine(&LIBCLANG).ok()?.folder(FOLDER);
    given().is_some() || unpacked().is_some_and(|folder| folder.join(LIBRARY).is_file())
}

fn given() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn libclang() -> Result<PathBuf> {
    if let Some(folder) = given() {
        return Ok(folder);
    }
    let wheel = Wheel::for_this_machine(&LIBCLANG).with_context(|| format!("set {VARIABLE}"))?;
    toolkit::with_bar(|progress| wheel.install(FOLDER, &[LIBRARY], progress)).context("libclang cannot be installed")
}
