//! Builds one package of kernels written in Rust with Rust-CUDA's compiler:
//! `tilewright-cuda-builder PACKAGE compute_80 OUTPUT.ptx`.

use cuda_builder::{CudaBuilder, NvvmArch};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [package, arch, output] = &arguments[..] else {
        eprintln!("expected PACKAGE compute_<number> OUTPUT, got {} arguments", arguments.len());
        return ExitCode::from(2);
    };
    let Ok(arch) = arch.parse::<NvvmArch>() else {
        eprintln!("libNVVM knows no architecture {arch}");
        return ExitCode::from(2);
    };
    // Contraction and elementary functions belong to the sources: the same bits on every machine.
    let builder = CudaBuilder::new(package).arch(arch).fma_contraction(false).override_libm(false).copy_to(output);
    match builder.build() {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
