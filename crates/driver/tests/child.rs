//! Tests that need a process of their own: this executable runs itself, with a scenario in an environment variable.

use std::process::{Command, Output};

const VARIABLE: &str = "TILEWRIGHT_CHILD";

/// A command that runs one scenario in a clean environment.
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
    command.args(["--exact", "child::scenario", "--nocapture"]).env_clear().env(VARIABLE, scenario);
}

/// Asserts that a child ran its scenario and ended well.
pub(crate) fn check(output: &Output) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{}:\n{text}", output.status);
}

/// What the parent passed.
pub(crate) fn argument(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("the parent sets {name}"))
}

#[test]
fn scenario() {
    let Ok(scenario) = std::env::var(VARIABLE) else { return };
    match scenario.as_str() {
        "no driver" => crate::driver::child_no_driver(),
        "missing symbol" => crate::driver::child_missing_symbol(),
        "old driver" => crate::driver::child_old_driver(),
        "first driver" => crate::driver::child_first_driver(),
        "forked" => crate::driver::child_forked(),
        "no device" => crate::driver::child_no_device(),
        "fake device" => crate::driver::child_fake_device(),
        "memory" => crate::memory::child_memory(),
        "kernels" => crate::kernels::child_kernels(),
        "unwritable" => crate::cache::child_unwritable(),
        "open umask" => crate::cache::child_open_umask(),
        "two at once" => crate::cache::child_two_at_once(),
        "no home" => crate::cache::child_no_home(),
        "bundles from environment" => crate::cache::child_bundles_from_environment(),
        "bundle writer" => crate::cache::child_bundle_writer(),
        "nvrtc flags" => crate::cache::child_nvrtc_flags(),
        "bundle and no nvrtc" => crate::cache::child_bundle_and_no_nvrtc(),
        "refused targets" => crate::cache::child_refused_targets(),
        "hammer" => crate::cache::child_hammer(),
        "compile errors" => crate::compile::child_compile_errors(),
        "crowd" => crate::cache::child_crowd(),
        "no nvrtc" => crate::toolkit::child_no_nvrtc(),
        "no nvrtc again" => crate::toolkit::child_no_nvrtc_again(),
        "no pip" => crate::toolkit::child_no_pip(),
        other => panic!("unknown scenario {other}"),
    }
}
