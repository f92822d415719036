//! `cargo xtask check-nvptx64`: builds `tilewright-dims` for NVIDIA GPUs, in a kernel whose PTX it reads.
//!
//! The target comes as sources only, so this needs a compiler that has them: the active one, or Debian's `rustc-web` +
//! `rust-web-src`. With whole-program optimisation the compiler merges all crates itself, and the assembly that it prints is
//! finished PTX: nothing is left for a linker, which is `true`.

use crate::{compiler, workspace};
use anyhow::{Context, Result, bail};
use std::path::Path;

const TARGET: &str = "nvptx64-nvidia-cuda";
const KERNELS: &str = include_str!("check_nvptx64/kernels.rs");

/// What the offset of the folded tensor is made of: block and remainder of K, and no division.
const EXPECTED: [&str; 3] = ["shl.b32", "and.b32", "st.global."];
/// What must not be left of typed arithmetic: calls, ways to a panic, divisions, branches.
const REFUSED: [&str; 5] = ["call", "trap", "div.", "rem.", "bra"];

/// Builds and compares.
pub fn run() -> Result<()> {
    let Some(rustc) = compiler::with_sources() else {
        bail!(
            "no compiler here has the sources for {TARGET}; either of these mends it:\n  \
             rustup component add rust-src\n  apt-get install rustc-web rust-web-src"
        );
    };
    let folder = compiler::target_folder("check-nvptx64");
    let ptx = build(&rustc, &folder)?;
    let (typed, by_hand) = (instructions(&ptx, "typed")?, instructions(&ptx, "by_hand")?);
    check(&typed, &by_hand)
        .with_context(|| format!("typed:\n{}\nby hand:\n{}", typed.join("\n"), by_hand.join("\n")))?;
    println!("{TARGET}: passed, {} instructions each", typed.len());
    Ok(())
}

/// The PTX of [`KERNELS`], built as a package of its own.
fn build(rustc: &Path, folder: &Path) -> Result<String> {
    let package = folder.join("kernels");
    std::fs::create_dir_all(package.join("src")).with_context(|| format!("cannot make {}", package.display()))?;
    let manifest = format!(
        "[package]\nname = \"kernels\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntilewright-dims = {{ path = {:?} }}\n\n\
         [profile.release]\npanic = \"abort\"\nlto = \"fat\"\ncodegen-units = 1\n",
        workspace::root().join("crates/dims")
    );
    write(&package.join("Cargo.toml"), &manifest)?;
    write(&package.join("src/lib.rs"), KERNELS)?;

    let output = folder.join("kernels.ptx");
    let mut cargo = workspace::cargo();
    cargo.current_dir(&package).args(["rustc", "--quiet", "--release", "--target", TARGET, "-Zbuild-std=core"]);
    cargo.args(["--crate-type", "cdylib", "--"]).arg(format!("--emit=asm={}", output.display()));
    cargo.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", folder);
    cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true");
    cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS", "-Ctarget-cpu=sm_90");
    workspace::run(&mut cargo)?;
    std::fs::read_to_string(&output).with_context(|| format!("cannot read {}", output.display()))
}

/// Leaves a file alone that says this already, so that nothing is built again.
fn write(file: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The instructions of a kernel, its own name blanked out.
pub fn instructions(ptx: &str, kernel: &str) -> Result<Vec<String>> {
    let entry = format!(".visible .entry {kernel}(");
    let from = ptx.find(&entry).with_context(|| format!("the PTX has no kernel `{kernel}`:\n{ptx}"))?;
    let (_, body) = ptx[from..].split_once('{').context("a kernel without a body")?;
    let body = body.split("\n}").next().unwrap_or(body);
    let lines = body.lines().map(|line| line.split("//").next().unwrap_or(line).trim());
    let is_instruction = |line: &&str| line.ends_with(';') && !line.starts_with('.');
    Ok(lines.filter(is_instruction).map(|line| line.replace(kernel, "<kernel>")).collect())
}

/// Demands that typed arithmetic costs what arithmetic by hand does, and leaves no way to a panic.
pub fn check(typed: &[String], by_hand: &[String]) -> Result<()> {
    let stands = |word: &str| typed.iter().any(|line| line.contains(word));
    if let Some(missing) = EXPECTED.iter().find(|word| !stands(word)) {
        bail!("`{missing}` is missing");
    }
    if let Some(found) = REFUSED.iter().find(|word| stands(word)) {
        bail!("`{found}` stands in typed code");
    }
    if typed != by_hand {
        bail!("{} instructions typed, {} by hand, or others", typed.len(), by_hand.len());
    }
    Ok(())
}
