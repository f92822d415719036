//! `cargo xtask peers`: builds the programs that time other libraries, for [`bundle`](crate::bundle) to carry. A library comes
//! from a folder that the user names: none is fetched, and none is part of this workspace.

use crate::compiler::target_folder;
use crate::workspace;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// A checkout of the Fused Kernel Library (its headers are all that is used).
    #[arg(long, value_name = "DIR")]
    fkl: PathBuf,
    /// The CUDA C++ compiler, 13.0 or newer; the static run-time library is looked for in `lib` and `lib64` beside its folder.
    #[arg(long, value_name = "FILE", default_value = "nvcc")]
    nvcc: PathBuf,
    /// What the programs are built for.
    #[arg(long, default_value = "sm_90")]
    arch: String,
}

/// The folder that programs are built into.
pub fn folder() -> PathBuf {
    target_folder("peers")
}

/// Builds, which takes about a minute.
pub fn run(options: &Options) -> Result<()> {
    let include = options.fkl.join("include");
    if !include.join("fused_kernel/fused_kernel.h").is_file() {
        bail!("{} has no include/fused_kernel/fused_kernel.h; give a checkout of the library", options.fkl.display());
    }
    std::fs::create_dir_all(folder())?;
    let program = folder().join("fkl");
    let mut command = compile(options, &include, &workspace::root().join("benches/peers/fkl.cu"), &program);
    workspace::run(&mut command)?;
    println!("{}", program.display());
    Ok(())
}

/// The compiler's command line. It starts in the workspace's root, so paths of the user are made absolute.
fn compile(options: &Options, include: &Path, source: &Path, program: &Path) -> Command {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let nvcc = if options.nvcc.components().count() > 1 { absolute(&options.nvcc) } else { options.nvcc.clone() };
    let mut command = workspace::command(&nvcc);
    command
        .args(["-std=c++20", "-O3", "-ftemplate-depth=4000", "-cudart", "static"])
        .args(["-Xcompiler", "-Wno-deprecated-declarations", "-diag-suppress", "20012"])
        .arg(format!("-arch={}", options.arch))
        .arg("-I")
        .arg(absolute(include));
    if let Some(toolkit) = nvcc.parent().and_then(Path::parent) {
        for name in ["lib", "lib64"] {
            command.arg("-L").arg(toolkit.join(name));
        }
    }
    command.arg("-o").arg(program).arg(source);
    command
}
