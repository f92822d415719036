//! `cargo xtask check-aarch64`: type-checks the library crates for aarch64 Linux.
//!
//! A toolchain that has the target's standard library checks directly. Otherwise the standard library is checked from
//! its sources first, which needs a compiler with sources: the active one, or Debian's `rustc-web` + `rust-web-src`.

use crate::compiler::{self, MENDS};
use crate::machine::Machine;
use crate::workspace::{self, Packages};
use anyhow::{Result, bail};
use std::path::PathBuf;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Runs `cargo check` over everything under `crates/`.
pub fn run() -> Result<()> {
    let Some(compiler) = find() else {
        let mends = MENDS.join("\n  ");
        bail!(
            "no compiler here can build for {TARGET}; any one of these mends it:\n  rustup target add {TARGET}\n  {mends}"
        );
    };
    let mut check = workspace::cargo();
    check.args(["check", "--target", TARGET]).env("CARGO_TARGET_DIR", compiler::target_folder("check-aarch64"));
    // Nothing that is built here runs, so nothing needs to be fast: only the compiler's time counts.
    check.args(["--config", "profile.dev.opt-level=0", "--config", "profile.dev.package.\"*\".opt-level=0"]);
    check.args(["--config", "profile.dev.debug=false"]);
    // A check links nothing, so C code of dependencies need not be compiled, and no cross compiler is needed.
    let underscored = TARGET.replace('-', "_");
    check.env(format!("CC_{underscored}"), "true").env(format!("AR_{underscored}"), "true");
    for package in Packages::load()?.libraries() {
        check.args(["--package", &package.name]);
    }
    if let Compiler::WithSources(rustc) = &compiler {
        println!("the standard library is built from the sources of {}", rustc.display());
        check.arg("-Zbuild-std").env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
    }
    workspace::run(&mut check)?;
    println!("{TARGET}: passed");
    Ok(())
}

/// A compiler that can check for the target.
enum Compiler {
    /// The active one has the target's standard library.
    Ready,
    /// This one has the sources of its standard library.
    WithSources(PathBuf),
}

fn find() -> Option<Compiler> {
    let machine = Machine::this();
    if compiler::has_target(&machine, &compiler::active(&machine), TARGET) {
        return Some(Compiler::Ready);
    }
    let first = compiler::with_sources(&machine).into_iter().find_map(Result::ok);
    first.map(|compiler| Compiler::WithSources(compiler.rustc))
}
