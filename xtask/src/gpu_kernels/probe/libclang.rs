//! libclang, which Rust-CUDA reads CUDA's headers with, and a compiler for its own C++.

use super::Need;
use crate::machine::Machine;
use std::path::{Path, PathBuf};

const VARIABLE: &str = "LIBCLANG_PATH";
/// Where distributions put it: in these, or one folder deeper, in `<name>/lib`.
const FOLDERS: [&str; 3] = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
const DEEPER: [&str; 3] = ["", "lib", "lib64"];
const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// What is missing of the two.
pub fn probe(machine: &Machine) -> Vec<Need> {
    let mut needs = Vec::new();
    if let Err(tried) = libclang(machine) {
        let mend = format!("apt-get install libclang-dev, or set {VARIABLE} to the folder of libclang.so");
        needs.push(Need::new("libclang", tried, mend));
    }
    if !COMPILERS.iter().any(|name| machine.program(name).is_some()) {
        let tried = format!("none of {} is in PATH", COMPILERS.join(", "));
        needs.push(Need::new("a C++ compiler", tried, "apt-get install g++"));
    }
    needs
}

fn libclang(machine: &Machine) -> Result<(), String> {
    if let Some(given) = machine.variable(VARIABLE).map(PathBuf::from) {
        return if has_library(&given) || is_library(&given) {
            Ok(())
        } else {
            Err(format!("{VARIABLE}={}: no libclang.so", given.display()))
        };
    }
    let places = FOLDERS.map(|folder| machine.at(folder));
    let below = places.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let mut folders = places.iter().cloned().chain(below.map(|entry| entry.path()));
    if folders.any(|folder| DEEPER.iter().any(|deeper| has_library(&folder.join(deeper)))) {
        return Ok(());
    }
    Err(format!("{VARIABLE} is not set, and there is none in {} nor one folder deeper", FOLDERS.join(", ")))
}

fn has_library(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| is_library(&path))
}

/// `libclang.so`, `libclang.so.1`, `libclang-14.so.14.0.6`, but not `libclang-cpp.so.14`.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let rest = name.strip_prefix("libclang").and_then(|rest| rest.split_once(".so")).map(|(middle, _)| middle);
    rest.is_some_and(|middle| middle.trim_start_matches('-').chars().all(|c| c.is_ascii_digit() || c == '.'))
        && path.is_file()
}
