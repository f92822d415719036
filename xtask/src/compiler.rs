//! Compilers that can build for a target other than this machine's.

use crate::machine::Machine;
use crate::workspace;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where Debian puts its compiler.
const DEBIAN: &str = "/usr/bin/rustc";

/// What brings a compiler with sources, each alone.
pub const MENDS: [&str; 3] = [
    "rustup component add rust-src",
    "apt-get install rustc-web rust-web-src",
    "rustup toolchain install nightly --component rust-src",
];

/// A compiler that has the sources of its standard library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The program.
    pub rustc: PathBuf,
    /// Its version and that of its LLVM: what decides which code it makes.
    pub version: String,
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.version, self.rustc.display())
    }
}

/// The compiler that cargo would use.
pub fn active(machine: &Machine) -> PathBuf {
    machine.variable("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// Whether a compiler has the standard library of a target.
pub fn has_target(machine: &Machine, rustc: &Path, target: &str) -> bool {
    machine
        .output(rustc, &["--print", "sysroot"])
        .is_ok_and(|sysroot| Path::new(sysroot.trim()).join("lib/rustlib").join(target).join("lib").is_dir())
}

/// Every place where a compiler that is new enough for the workspace and has the sources of its standard library may be: the
/// active one, Debian's `rustc-web` with `rust-web-src`, rustup's nightly; where there is none, why.
pub fn with_sources(machine: &Machine) -> Vec<Result<Compiler, String>> {
    let in_path = active(machine);
    let found = machine.program(&in_path).ok_or_else(|| "not in PATH".to_owned());
    let debian = machine.at(DEBIAN);
    let is_there = if debian.is_file() { Ok(debian) } else { Err("not there".to_owned()) };
    let nightly = machine.program("rustup").ok_or_else(|| "there is no rustup".to_owned()).and_then(|rustup| {
        machine.output(&rustup, &["which", "--toolchain", "nightly", "rustc"]).map(|line| PathBuf::from(line.trim()))
    });
    [
        (format!("the active one, {}", in_path.display()), found),
        (format!("Debian's, {DEBIAN}"), is_there),
        ("rustup's nightly".to_owned(), nightly),
    ]
    .into_iter()
    .map(|(name, rustc)| rustc.and_then(|rustc| examine(machine, rustc)).map_err(|reason| format!("{name}: {reason}")))
    .collect()
}

/// A folder of its own below cargo's, so that the flags of a check do not undo the builds of others.
pub fn target_folder(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    workspace::root().join(target).join(name)
}

fn examine(machine: &Machine, rustc: PathBuf) -> Result<Compiler, String> {
    let text = machine.output(&rustc, &["-vV"])?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim();
    let (release, least) = (field("release:"), env!("CARGO_PKG_RUST_VERSION"));
    if numbers(release) < numbers(least) {
        return Err(format!("its version is {release}, {least} is the least"));
    }
    let sysroot = PathBuf::from(machine.output(&rustc, &["--print", "sysroot"])?.trim());
    let sources = sysroot.join("lib/rustlib/src/rust");
    if !sources.join("library/Cargo.lock").is_file() {
        return Err(format!("rustc {release} has no sources in {}", sources.display()));
    }
    let version = format!("rustc {release}, LLVM {}", field("LLVM version:"));
    Ok(Compiler { rustc, version })
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
}
