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
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tilewright::Device;

/// Says that a test did not run, on the error stream and in the file named by `TILEWRIGHT_SKIPS`.
fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(format!("SKIP {test}: {reason}\n").as_bytes());
    }
}

/// The test that provokes a device error has the GPU to itself: whoever waits for the GPU next is told of it.
static GPU: RwLock<()> = RwLock::new(());

/// A GPU that kernels can be compiled for, shared with other tests, or the test is skipped by name.
fn gpu(test: &str) -> Option<(Device, RwLockReadGuard<'static, ()>)> {
    let lock = GPU.read().unwrap_or_else(PoisonError::into_inner);
    open(test).map(|device| (device, lock))
}

/// The same while no other test uses it.
fn gpu_alone(test: &str) -> Option<(Device, RwLockWriteGuard<'static, ()>)> {
    let lock = GPU.write().unwrap_or_else(PoisonError::into_inner);
    open(test).map(|device| (device, lock))
}

fn open(test: &str) -> Option<Device> {
    use tilewright::driver::toolkit::nvrtc;
    let Ok(device) = Device::gpu(0) else {
        skip(test, "no GPU");
        return None;
    };
    // What a test needs may have been built ahead: then nothing looks for a compiler.
    if std::env::var_os("TILEWRIGHT_BUNDLES").is_none() && nvrtc().is_err() {
        skip(test, "no NVRTC");
        return None;
    }
    Some(device)
}
