//! The crate's tests, one executable. What a machine lacks is skipped by name.

mod bits;
mod budget;
mod cases;
mod child;
mod device;
mod dispatch;
mod errors;
mod evaluate;
mod faults;
mod ledger;
mod linear;
mod matmul_plan;
mod matvec_plan;
mod store;
#[path = "../../driver/tests/stub.rs"]
mod stub;

use std::{fs::OpenOptions, io::Write};

use tilewright_driver::Device;
use tilewright_hybrid::linear::Gpu;

/// A GPU with cuBLAS and cuSOLVER. Without one the test that asks is told as skipped.
fn gpu(test: &str) -> Option<Gpu> {
    let Ok(stream) = Device::new(0).and_then(|device| device.stream()) else {
        skip(test, "no GPU");
        return None;
    };
    let gpu = Gpu::new(&stream);
    for (library, there) in [("no cuBLAS", gpu.blas().map(drop)), ("no cuSOLVER", gpu.solver().map(drop))] {
        if let Err(error) = there {
            eprintln!("{error}");
            skip(test, library);
            return None;
        }
    }
    Some(gpu)
}

/// Whether kernels compute anything: those of a stub do not, and a test that asks is told as skipped.
fn runs_kernels(device: &Device, test: &str) -> bool {
    let is_stub = device.name() == stub::NAME;
    if is_stub {
        skip(test, "a stub computes nothing");
    }
    !is_stub
}

/// Says that a test did not run, on the error stream and in the file named by `TILEWRIGHT_SKIPS`.
fn skip(name: &str, reason: &str) {
    eprintln!("SKIP {name}: {reason}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(format!("SKIP {name}: {reason}\n").as_bytes());
    }
}
