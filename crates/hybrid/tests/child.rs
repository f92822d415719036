//! Tests that need a process of their own: this executable runs itself, with a scenario in an environment variable.

use std::process::{Command, Output};

const VARIABLE: &str = "TILEWRIGHT_CHILD";

/// A command that runs one scenario.
pub(crate) fn command(scenario: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this executable"));
    configure(&mut command, scenario);
    command
}

/// The same behind a shell line that ends in `exec "$@"`.
pub(crate) fn shell(line: &str, scenario: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line, "sh"]).arg(std::env::current_exe().expect("this executable"));
    configure(&mut command, scenario);
    command
}

fn configure(command: &mut Command, scenario: &str) {
    command.args(["--exact", "child::scenario", "--nocapture"]).env(VARIABLE, scenario);
}

/// Asserts that a child ran its scenario and ended well.
pub(crate) fn check(output: &Output) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{}:\n{text}", output.status);
}

#[test]
fn scenario() {
    let Ok(scenario) = std::env::var(VARIABLE) else { return };
    match scenario.as_str() {
        "in group" => crate::budget::child_in_group(),
        "product in group" => crate::budget::child_product_in_group(),
        "writer" => crate::store::child_writer(),
        "full disk" => crate::store::child_full_disk(),
        "two hundred files" => crate::store::child_two_hundred_files(),
        "evaluate on a stub" => crate::evaluate::child_on_a_stub(),
        "bits on a stub" => crate::bits::child_on_a_stub(),
        "injected" => crate::faults::child_injected(),
        "granted" => crate::faults::child_granted(),
        "growth on stubs" => crate::faults::child_growth_on_stubs(),
        "growth on a GPU" => crate::faults::child_growth_on_a_gpu(),
        "forked" => crate::faults::child_forked(),
        "quiet" => crate::faults::child_quiet(),
        "crowd" => crate::faults::child_crowd(),
        "renewed" => crate::faults::child_renewed(),
        "measured on stubs" => crate::device::child_measured(),
        "learned on stubs" => crate::device::child_learned(),
        "not measured on stubs" => crate::device::child_not_measured(),
        "results stay" => crate::device::child_results_stay(),
        "passing" => crate::device::child_passing(),
        "traced" => crate::device::child_traced(),
        "recorded" => crate::device::child_recorded(),
        "planned" => crate::device::child_planned(),
        "beyond host memory" => crate::device::child_beyond_host_memory(),
        "old cuBLAS" => crate::device::child_old_cublas(),
        "without cuBLAS" => crate::device::child_without_cublas(),
        "without cuSOLVER" => crate::device::child_without_cusolver(),
        "without NVRTC" => crate::device::child_without_nvrtc(),
        "no visible GPU" => crate::device::child_no_visible_gpu(),
        "sticky fault" => crate::faults::child_sticky_fault(),
        other => panic!("unknown scenario {other}"),
    }
}
