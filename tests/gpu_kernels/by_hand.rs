//! What typed subscripts cost in kernels in Rust: registers, beside the same kernels with index arithmetic by hand.

use std::path::{Path, PathBuf};
use std::process::Command;
use tilewright_headers::host_model::skip;

const TARGET: &str = "nvptx64-nvidia-cuda";
/// Registers that a typed kernel may take more.
const ALLOWED: u32 = 2;

/// A compiler with the sources of its standard library: the active one, or Debian's.
fn rustc() -> Option<PathBuf> {
    [PathBuf::from("rustc"), "/usr/bin/rustc".into()].into_iter().find(|rustc| {
        let Ok(output) = Command::new(rustc).args(["--print", "sysroot"]).output() else { return false };
        let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        output.status.success() && root.join("lib/rustlib/src/rust/library/core/Cargo.toml").is_file()
    })
}

/// NVIDIA's assembler: on the path, or where `cargo xtask toolkit` puts it.
fn ptxas() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|folder| folder.join("ptxas")).find(|file| file.is_file()));
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home)?;
    on_path.or_else(|| found(&cache.join("tilewright"), 4))
}

fn found(folder: &Path, depth: u32) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let here = entries.iter().find(|path| path.is_file() && path.ends_with("ptxas")).cloned();
    here.or_else(|| entries.iter().filter(|path| path.is_dir() && depth > 0).find_map(|path| found(path, depth - 1)))
}

/// The package with the kernels by hand, as PTX. What was built stays for the next time.
fn build(rustc: &Path, arch: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu-kernels");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("by_hand");
    std::fs::create_dir_all(&folder).expect("a folder");
    let ptx = folder.join(format!("{arch}.ptx"));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(package).args(["rustc", "--quiet", "--release", "--lib", "--locked", "--target", TARGET]);
    cargo.args(["--features", "by-hand", "-Zbuild-std=core", "--crate-type", "cdylib", "--"]);
    cargo.arg(format!("--emit=asm={}", ptx.display()));
    cargo.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", folder.join("target"));
    cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true").env_remove("RUSTFLAGS");
    cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS", format!("-Ctarget-cpu={arch}"));
    let output = cargo.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ptx
}

/// Registers of a kernel, and what it keeps in local memory.
fn used(log: &str, kernel: &str) -> (u32, bool) {
    let from = log.find(&format!("entry function '{kernel}'")).unwrap_or_else(|| panic!("{kernel} in\n{log}"));
    let (_, rest) = log[from..].split_once("Used ").expect("registers");
    let clean = log[from..].contains("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads");
    (rest.split(' ').next().and_then(|count| count.parse().ok()).expect("a number"), clean)
}

#[test]
fn typed_kernels_take_no_more_registers() {
    const NAME: &str = "gpu_kernels::by_hand::typed_kernels_take_no_more_registers";
    let Some(rustc) = rustc() else {
        return skip(NAME, "no compiler with sources (apt-get install rustc-web rust-web-src)");
    };
    let Some(ptxas) = ptxas() else { return skip(NAME, "no ptxas (cargo xtask toolkit)") };
    let folder = tempfile::tempdir().unwrap();
    for arch in ["sm_80", "sm_90"] {
        let ptx = build(&rustc, arch);
        let mut assemble = Command::new(&ptxas);
        assemble.args(["-v", "-arch", arch, "-o"]).arg(folder.path().join("cubin")).arg(ptx);
        let output = assemble.output().expect("ptxas starts");
        let log = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{log}");
        for kernel in ["saxpy", "transpose_f32", "product"] {
            let ((typed, clean), (by_hand, _)) = (used(&log, kernel), used(&log, &format!("{kernel}_by_hand")));
            assert!(typed <= by_hand + ALLOWED, "{kernel}, {arch}: {typed} registers, {by_hand} by hand");
            assert!(clean, "{kernel}, {arch}: local memory in\n{log}");
        }
    }
}
