//! The tests of xtask: among them the one that holds the rules of the house in this workspace.

mod cache;
mod gpu_kernels;
mod machine;
mod mirrors;
mod plots;
mod ptx;
mod run_script;
mod skips;
mod tidy;

/// Says that this machine lacks what a test needs.
fn skip(test: &str, reason: &str) {
    let line = format!("SKIP {test}: {reason}\n");
    eprint!("{line}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
}
