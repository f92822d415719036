//! The way to cuBLAS and cuSOLVER and back, without a GPU: all of these tests once more in a process whose driver and libraries are stubs.

use std::process::Command;

use crate::stub;

/// Libraries with textbook algorithms, as CUDA 12 names them.
fn libraries(folder: &std::path::Path) -> Option<()> {
    let numbers = include_str!("../stub/numbers.c");
    for (name, text) in [
        ("libcublas.so.12", include_str!("../stub/cublas.c")),
        ("libcusolver.so.11", include_str!("../stub/cusolver.c")),
    ] {
        stub::library(folder, name, &(numbers.to_owned() + text))?;
    }
    Some(())
}

#[test]
fn everything_on_stubs_of_the_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, _]) = stub::working(folder.path()) else {
        return crate::skip("linear::stubbed::everything_on_stubs_of_the_libraries", "no C compiler");
    };
    libraries(folder.path()).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([
        "linear::",
        "device::on_the_gpu",
        "--skip",
        "stubbed",
        "--skip",
        "d9_",
        "--test-threads",
        "2",
        "--nocapture",
    ]);
    child.env("TILEWRIGHT_LIBCUDA", driver).env("TILEWRIGHT_CUDA", folder.path()).env_remove("TILEWRIGHT_SKIPS");
    child.env(super::places::GPU_ALONE, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("SKIP"), "{text}");
}
