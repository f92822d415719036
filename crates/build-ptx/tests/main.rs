//! Tests of the program that builds kernels ahead. What needs NVRTC says when it is not there.

mod budgets;
mod bundles;
mod catalogue;
mod command;
mod targets;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use tilewright_build_ptx::catalogue::Entry;
use tilewright_driver::{Source, TargetKind, toolkit};

/// A kernel of a few instructions, another one for each number.
fn entry(number: u32) -> Entry {
    let text = format!("extern \"C\" __global__ void kernel(int* x) {{ x[threadIdx.x] += {number}; }}");
    let source = Source { name: format!("add {number}"), text, ..Source::default() };
    Entry { suite: None, operation: "add".into(), variant: number.to_string(), source }
}

/// The same for exactly one architecture.
fn specific(number: u32) -> Entry {
    let entry = entry(number);
    Entry { source: Source { target: TargetKind::ArchSpecific, ..entry.source }, ..entry }
}

/// Whether there is a compiler. Reports that `test` was not run, and why, if there is none: on the terminal, and in the file that
/// `TILEWRIGHT_SKIPS` names.
fn nvrtc(test: &str) -> bool {
    let Err(error) = toolkit::nvrtc() else { return true };
    let line = format!("SKIP {test}: {}", error.to_string().lines().next().unwrap_or_default());
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") {
        let file = std::fs::OpenOptions::new().append(true).open(path);
        file.and_then(|mut file| writeln!(file, "{line}")).expect("the file named by TILEWRIGHT_SKIPS is writable");
    }
    false
}

/// A file of its own in a temporary folder.
fn file(folder: &tempfile::TempDir) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    folder.path().join(format!("{}.twb", COUNTER.fetch_add(1, Ordering::Relaxed)))
}
