//! Kernels of bit matrices are recorded as users' are, so that they can be built ahead.

use crate::{child, skip};
use tilewright_driver::Device;
use tilewright_hybrid::bits::gpu::{
    DeviceBitMatrix, DeviceProduct, Finish, GpuPath, KernelText, product_kernel, row_ones_kernel, transpose_kernel,
};
use tilewright_ops::Manifest;

#[test]
fn what_runs_can_be_built_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, compiler]) = crate::stub::working(folder.path()) else {
        return skip("bits::recorded::what_runs_can_be_built_ahead", "no C compiler");
    };
    let path = folder.path().join("kernels.toml");
    let mut command = child::command("bits on a stub");
    command.env("TILEWRIGHT_LIBCUDA", driver).env("TILEWRIGHT_CUDA", compiler).env("TILEWRIGHT_RECORD", &path);
    command.env("TILEWRIGHT_CACHE", folder.path().join("kernels"));
    child::check(&command.output().unwrap());
    let sources = Manifest::read(&path).unwrap().sources().unwrap();
    let has = |kernel: &KernelText| {
        sources.iter().any(|source| (&source.text, source.target) == (&kernel.text, kernel.target))
    };
    assert!(has(&row_ones_kernel()) && has(&product_kernel(GpuPath::Popcount, Finish::Distances)), "{sources:?}");
    assert!(!has(&transpose_kernel()), "which nothing asked for");
}

pub(crate) fn child_on_a_stub() {
    let stream = Device::new(0).unwrap().stream().unwrap();
    let a = DeviceBitMatrix::zeros(&stream, 100, 70).unwrap();
    let product = DeviceProduct::of_rows(&a, &a).unwrap().on(GpuPath::Popcount).unwrap();
    product.distances().unwrap();
}
