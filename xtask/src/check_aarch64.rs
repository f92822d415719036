//! `cargo xtask check-aarch64`: type-checks the library crates for aarch64 Linux.
//!
//! A toolchain that has the target's standard library checks directly. Otherwise the standard library is checked from
//! its sources first, which needs a compiler with sources: the active one, or Debian's `rustc-web` + `rust-web-src`.

use crate::workspace::{self, Packages};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Where Debian puts its compiler.
const DEBIAN: &str = "/usr/bin/rustc";

/// Runs `cargo check` over everything under `crates/`.
pub fn run() -> Result<()> {
    let Some(compiler) = find() else {
        bail!(
            "no compiler here can build for {TARGET}; any one of these mends it:\n  \
             rustup target add {TARGET}\n  rustup component add rust-src\n  apt-get install rustc-web rust-web-src"
        );
    };
    let mut check = workspace::cargo();
    check.args(["check", "--target", TARGET]).env("CARGO_TARGET_DIR", target_folder());
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
    let active = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    if library_folder(&active).is_some_and(|folder| folder.join(TARGET).join("lib").is_dir()) {
        return Some(Compiler::Ready);
    }
    [active, DEBIAN.into()]
        .into_iter()
        .find(|rustc| has_sources(rustc) && is_new_enough(rustc))
        .map(Compiler::WithSources)
}

fn library_folder(rustc: &Path) -> Option<PathBuf> {
    let sysroot = workspace::first_line(Command::new(rustc).args(["--print", "sysroot"]))?;
    Some(Path::new(&sysroot).join("lib/rustlib"))
}

fn has_sources(rustc: &Path) -> bool {
    library_folder(rustc).is_some_and(|folder| folder.join("src/rust/library/Cargo.lock").is_file())
}

/// Whether a compiler is at least as new as the `rust-version` that the workspace asks for.
fn is_new_enough(rustc: &Path) -> bool {
    let version = workspace::first_line(Command::new(rustc).arg("--version"));
    let release = version.as_deref().and_then(|line| line.split_whitespace().nth(1)).map(numbers);
    release >= Some(numbers(env!("CARGO_PKG_RUST_VERSION")))
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
}

/// A folder of its own, so that the flags of this check do not undo the builds of others.
fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    workspace::root().join(target).join("check-aarch64")
}
