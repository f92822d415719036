//! The crate's tests, one executable. What a machine lacks is skipped by name.

mod bits;
mod budget;
mod child;
mod dispatch;
mod errors;
mod faults;
mod matmul_plan;
mod store;

use std::{fs::OpenOptions, io::Write};

/// Says that a test did not run, on the error stream and in the file named by `TILEWRIGHT_SKIPS`.
fn skip(name: &str, reason: &str) {
    eprintln!("SKIP {name}: {reason}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(format!("SKIP {name}: {reason}\n").as_bytes());
    }
}
