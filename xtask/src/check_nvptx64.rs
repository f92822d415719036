//! `cargo xtask check-nvptx64`: builds `tilewright-dims` for NVIDIA GPUs, in a kernel whose PTX it reads.
//!
//! It is built as kernels written in Rust are, by the compiler's own target.

use crate::gpu_kernels::backend::{PtxBackend, Request};
use crate::gpu_kernels::nvptx64::{Nvptx64, TARGET};
use crate::machine::Machine;
use crate::{compiler, workspace};
use anyhow::{Context, Result, bail};
use std::path::Path;
use tilewright_driver::Arch;

/// What the kernels are built for.
const ARCH: Arch = Arch::new(9, 0);
const KERNELS: &str = include_str!("check_nvptx64/kernels.rs");

/// What the offset of the folded tensor is made of: block and remainder of K, and no division.
const EXPECTED: [&str; 3] = ["shl.b32", "and.b32", "st.global."];
/// What must not be left of typed arithmetic: calls, ways to a panic, divisions, branches.
const REFUSED: [&str; 5] = ["call", "trap", "div.", "rem.", "bra"];

/// Builds and compares.
pub fn run() -> Result<()> {
    let ptx = build(&compiler::target_folder("check-nvptx64"))?;
    let (typed, by_hand) = (instructions(&ptx, "typed")?, instructions(&ptx, "by_hand")?);
    check(&typed, &by_hand)
        .with_context(|| format!("typed:\n{}\nby hand:\n{}", typed.join("\n"), by_hand.join("\n")))?;
    println!("{TARGET}: passed, {} instructions each", typed.len());
    Ok(())
}

/// The PTX of [`KERNELS`], built as a package of its own.
fn build(folder: &Path) -> Result<String> {
    let package = folder.join("kernels");
    std::fs::create_dir_all(package.join("src")).with_context(|| format!("cannot make {}", package.display()))?;
    let manifest = format!(
        "[package]\nname = \"kernels\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntilewright-dims = {{ path = {:?} }}\n",
        workspace::root().join("crates/dims")
    );
    write(&package.join("Cargo.toml"), &manifest)?;
    write(&package.join("src/lib.rs"), KERNELS)?;

    let request = Request { package, arch: ARCH, target_folder: folder.to_owned() };
    Ok(Nvptx64::new(&Machine::this()).build(&request)?.text)
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
