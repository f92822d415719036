//! The facade's tests, one executable: the whole pipeline, and the example `crops` as a program. It runs without cargo, and
//! what it skips it names.

mod bad_input;
mod gpu;
mod pipeline;
mod reference;

/// The example, whole: its parts and its program are called as functions.
#[path = "../examples/crops/main.rs"]
#[allow(dead_code, reason = "its main function")]
mod crops;

use std::fs::OpenOptions;
use std::io::Write;
use tilewright::Device;

/// Says that a test did not run, on the error stream and in the file named by `TILEWRIGHT_SKIPS`.
fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(format!("SKIP {test}: {reason}\n").as_bytes());
    }
}

/// A GPU that kernels can be compiled for, or the test is skipped by name.
fn gpu(test: &str) -> Option<Device> {
    use tilewright::driver::toolkit::nvrtc;
    match (Device::gpu(0), nvrtc()) {
        (Err(_), _) => skip(test, "no GPU"),
        (_, Err(_)) => skip(test, "no NVRTC"),
        (Ok(device), Ok(_)) => return Some(device),
    }
    None
}
