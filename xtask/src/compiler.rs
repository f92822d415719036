//! Compilers that can build for a target other than this machine's.

use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian puts its compiler.
const DEBIAN: &str = "/usr/bin/rustc";

/// The compiler that cargo would use.
pub fn active() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// Whether a compiler has the standard library of a target.
pub fn has_target(rustc: &Path, target: &str) -> bool {
    library_folder(rustc).is_some_and(|folder| folder.join(target).join("lib").is_dir())
}

/// A compiler, new enough for the workspace, that has the sources of its standard library: the active one, or Debian's
/// `rustc-web` with `rust-web-src`.
pub fn with_sources() -> Option<PathBuf> {
    [active(), DEBIAN.into()].into_iter().find(|rustc| has_sources(rustc) && is_new_enough(rustc))
}

/// A folder of its own below cargo's, so that the flags of a check do not undo the builds of others.
pub fn target_folder(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    workspace::root().join(target).join(name)
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
