//! The way to cuBLAS and cuSOLVER and back, without a GPU: all of these tests once more in a process whose driver and libraries are stubs.

use std::process::Command;

use crate::ledger::Stubs;
use crate::skip;

/// What tests say that run in a process on stubs; nothing without a C compiler.
fn on_stubs(test: &str, named: &[&str]) -> Option<String> {
    let Some(stubs) = Stubs::new() else {
        skip(test, "no C compiler");
        return None;
    };
    let mut child = Command::new(std::env::current_exe().unwrap());
    // What asks for no GPU, and takes long, ran beside this one.
    child.args(named).args(
        ["stubbed", "d9_", "lie_anywhere_on_the_cpu", "is_stored_on_the_cpu"].map(|it| ["--skip", it]).as_flattened(),
    );
    child.args(["--test-threads", "2", "--nocapture"]);
    stubs.serve(&mut child);
    child.env_remove("TILEWRIGHT_SKIPS").env(super::places::GPU_ALONE, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    Some(text.into_owned())
}

#[test]
fn everything_on_stubs_of_the_libraries() {
    let named = [
        "linear::",
        "device::on_the_gpu",
        "device::batched",
        "device::delivered",
        "device::integers",
        "device::kept",
        "device::eigenvalues",
        "device::emulated",
        "device::overlap",
        "device::repeated",
        "device::resident",
        "device::scaled",
        "device::watched",
        "device::recorded::m16",
        "device::stored",
        "device::evaluated",
        "bits::placed::what",
    ];
    let Some(text) = on_stubs("linear::stubbed::everything_on_stubs_of_the_libraries", &named) else { return };
    assert!(!text.contains("SKIP"), "{text}");
}

/// Kernels of ours compute nothing there, and no test takes what it then finds for their result.
#[test]
fn what_needs_kernels_is_skipped_on_stubs() {
    let named = [
        "bits::gpu",
        "bits::streamed",
        "bits::placed::x2_what_lies",
        "evaluate::the_same_bits",
        "faults::gpu",
        "device::stages::g6_copies",
        "device::norms",
        "device::large",
    ];
    let Some(text) = on_stubs("linear::stubbed::what_needs_kernels_is_skipped_on_stubs", &named) else { return };
    assert!(named.iter().all(|test| text.contains(&format!("SKIP {test}"))), "{text}");
}
