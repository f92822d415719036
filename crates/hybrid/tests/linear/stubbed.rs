//! The way to cuBLAS and cuSOLVER and back, without a GPU: all of these tests once more in a process whose driver and libraries are stubs.

use std::process::Command;

use crate::ledger::Stubs;

#[test]
fn everything_on_stubs_of_the_libraries() {
    let Some(stubs) = Stubs::new() else {
        return crate::skip("linear::stubbed::everything_on_stubs_of_the_libraries", "no C compiler");
    };
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([
        "linear::",
        "device::on_the_gpu",
        "device::emulated",
        "device::overlap",
        "device::resident",
        "device::watched",
        "device::stored",
        "device::evaluated",
        "--skip",
        "stubbed",
        "--skip",
        "d9_",
        "--test-threads",
        "2",
        "--nocapture",
    ]);
    stubs.serve(&mut child);
    child.env_remove("TILEWRIGHT_SKIPS").env(super::places::GPU_ALONE, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("SKIP"), "{text}");
}
