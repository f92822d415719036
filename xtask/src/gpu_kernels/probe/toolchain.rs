//! A pinned toolchain of rustup, with components.

use super::Need;
use crate::machine::Machine;
use std::path::{Path, PathBuf};

/// rustup's program, if it has the toolchain with all components; otherwise what is missing.
pub fn probe(machine: &Machine, toolchain: &str, components: &[&str]) -> Result<PathBuf, Vec<Need>> {
    let all = components.join(",");
    let install = format!("rustup toolchain install {toolchain} --profile minimal --component {all}");
    let what = format!("the toolchain {toolchain}");
    let Some(rustup) = machine.program("rustup") else {
        let rustup = Need::new("rustup", "there is no `rustup` in PATH", "install it, see https://rustup.rs");
        return Err(vec![rustup, Need::new(what, "there is no rustup to ask", install)]);
    };
    let rustc = match machine.output(&rustup, &["which", "--toolchain", toolchain, "rustc"]) {
        Ok(line) => PathBuf::from(line.trim()),
        Err(reason) => return Err(vec![Need::new(what, format!("rustup says: {reason}"), install)]),
    };
    let installed = rustc.parent().and_then(Path::parent).map(|sysroot| sysroot.join("lib/rustlib/components"));
    let installed = installed.unwrap_or_default();
    let list = std::fs::read_to_string(&installed).unwrap_or_default();
    // Names end in the host's triple, or not: `rustc-dev-x86_64-unknown-linux-gnu`, `rust-src`.
    let missing = components.iter().filter(|name| !list.lines().any(|line| line.starts_with(**name)));
    let need = |name: &&str| {
        let tried = format!("{} does not list it", installed.display());
        let mend = format!("rustup component add {name} --toolchain {toolchain}");
        Need::new(format!("the component {name} of {toolchain}"), tried, mend)
    };
    let needs: Vec<Need> = missing.map(need).collect();
    if needs.is_empty() { Ok(rustup) } else { Err(needs) }
}
