//! Kernels in Rust and their twins in CUDA C++: one truth for the simulated block, for the twin on the host model and, where there is a GPU,
//! for both there.

mod by_hand;
mod checks;
mod products;
mod rows;
mod speed;
mod transposes;

use crate::runner::Kernel;
use tilewright_driver::{Device, Error, Kernels, Stream, TargetKind};
use tilewright_headers::host_model::skip;

/// The text of a twin, its declarations expanded.
macro_rules! twin {
    ($name:literal) => {
        tilewright_headers::layout::expand(include_str!(concat!("../../gpu-kernels/twins/", $name, ".cu"))).unwrap()
    };
}
use twin;

/// The launch of a twin: as many blocks as the kernel in Rust has.
fn kernel<'a>(text: &'a str, entry: &'a str, blocks: i64, threads: i32, shared_bytes: u32) -> Kernel<'a> {
    let (grid, block, target) = ([blocks as u32, 1, 1], [threads as u32, 1, 1], TargetKind::Plain);
    Kernel { name: entry, text, entry, grid, block, shared_bytes: shared_bytes.next_multiple_of(128), target }
}

/// The kernels on the first GPU, if there is one that can run them.
fn on_gpu(test: &str) -> Option<(Kernels, Stream)> {
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(Error::NoDriver { .. } | Error::NoDevice | Error::DriverTooOld { .. }) => {
            skip(&format!("gpu_kernels, {test}, launch"), "no GPU");
            return None;
        }
        Err(other) => panic!("{other}"),
    };
    match Kernels::load(device) {
        Ok(kernels) => Some((kernels, device.stream().unwrap())),
        Err(Error::NoRustKernels { arch }) => {
            skip(&format!("gpu_kernels, {test}, launch"), &format!("no kernels in Rust for {arch}"));
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Demands the same bits; of NaNs any will do.
fn assert_same(got: &[f32], expected: &[f32], place: &str) {
    assert_eq!(got.len(), expected.len(), "{place}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
            "{place}: {got:e} at {i}, expected {expected:e}"
        );
    }
}
