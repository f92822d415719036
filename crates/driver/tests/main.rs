//! The crate's tests, one executable. It runs without cargo, GPU, NVRTC or C compiler; what it skips it names.

mod allocations;
mod cache;
mod child;
mod compile;
mod driver;
mod gpu;
mod include;
mod kernels;
mod listener;
mod memory;
mod stub;
mod tensor_map;
mod toolkit;

use std::{fs::OpenOptions, io::Write};

/// Says that a test did not run, on the error stream and in the file named by `TILEWRIGHT_SKIPS`.
fn skip(name: &str, reason: &str) {
    eprintln!("SKIP {name}: {reason}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(format!("SKIP {name}: {reason}\n").as_bytes());
    }
}
