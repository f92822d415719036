//! The file that PTX is committed as.

use super::backend::Ptx;
use crate::difference::Difference;

/// The one line that may differ while the code is the same.
const MADE_BY: &str = "// made by: ";

/// A committed text: a head that says where it comes from, then what the compiler wrote.
pub fn file(ptx: &Ptx) -> String {
    let code: Vec<&str> = ptx.text.lines().map(str::trim_end).collect();
    let head = "// Kernels written in Rust, built by `cargo xtask gpu-kernels`. Do not edit.";
    format!("{head}\n{MADE_BY}{}\n{}\n", ptx.compiler, code.join("\n").trim_end())
}

/// What made the code, as a committed text says.
pub fn made_by(file: &str) -> Option<&str> {
    file.lines().find_map(|line| line.strip_prefix(MADE_BY))
}

/// The first difference between two files, whatever they say about what made them.
pub fn first_difference(committed: &str, built: &str) -> Option<Difference> {
    let without = |file: &str| {
        let lines = file.split('\n').map(|line| if line.starts_with(MADE_BY) { MADE_BY } else { line });
        lines.collect::<Vec<_>>().join("\n")
    };
    Difference::first(&without(committed), &without(built))
}
