//! The compiler's own target: how a compiler is found, and how it is run.

use crate::machine::{Fake, arguments, variable};
use std::path::Path;
use tilewright_driver::Arch;
use xtask::gpu_kernels::backend::{Choice, PtxBackend, Request, choose};
use xtask::gpu_kernels::nvptx64::{Nvptx64, command};

fn message(fake: &Fake) -> String {
    Nvptx64::new(&fake.machine()).probe().unwrap_err().to_string()
}

#[test]
fn nothing_there_names_every_place_and_every_way_out() {
    let text = message(&Fake::new());
    for part in [
        "the back end nvptx64 cannot run on this machine; it lacks\n  1. a rustc of 1.95 or newer with the sources",
        "the active one, rustc: not in PATH",
        "Debian's, /usr/bin/rustc: not there",
        "rustup's nightly: there is no rustup",
        "any one of these mends it:",
        "rustup component add rust-src",
        "apt-get install rustc-web rust-web-src",
        "rustup toolchain install nightly --component rust-src",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

#[test]
fn compilers_that_will_not_do_say_why() {
    let fake = Fake::new();
    fake.rustc("bin/rustc", "1.80.1", true);
    fake.rustc("usr/bin/rustc", "1.96.0", false);
    fake.script("bin/rustup", "echo \"error: toolchain 'nightly' is not installed\" >&2; exit 1\n");
    let text = message(&fake);
    assert!(text.contains("the active one, rustc: its version is 1.80.1, 1.95 is the least"), "{text}");
    assert!(text.contains("Debian's, /usr/bin/rustc: rustc 1.96.0 has no sources in "), "{text}");
    assert!(text.contains("rustup's nightly: error: toolchain 'nightly' is not installed"), "{text}");
}

#[test]
fn an_llvm_without_the_target_will_not_do() {
    let fake = Fake::new();
    let rustc = fake.rustc("bin/rustc", "1.96.0", true);
    let text = std::fs::read_to_string(&rustc).unwrap().replace("echo '  sm_80'; echo '  sm_90'", "echo native");
    fake.script("bin/rustc", text.strip_prefix("#!/bin/sh\n").unwrap());
    assert!(message(&fake).contains("its LLVM makes no code for nvptx64-nvidia-cuda"), "{}", message(&fake));
}

#[test]
fn the_first_that_has_sources_is_taken() {
    let fake = Fake::new();
    fake.rustc("bin/rustc", "1.95.0", false);
    let nightly = fake.rustc("nightly/bin/rustc", "1.97.0-nightly", true);
    fake.script(
        "bin/rustup",
        &format!("[ \"$*\" = 'which --toolchain nightly rustc' ] && echo {}\n", nightly.display()),
    );
    let compiler = |fake: &Fake| Nvptx64::new(&fake.machine()).compiler().unwrap();
    assert_eq!(compiler(&fake).rustc, nightly);
    let debian = fake.rustc("usr/bin/rustc", "1.96.0", true);
    assert_eq!(compiler(&fake).rustc, debian);
    let named = fake.rustc("elsewhere/rustc", "1.99.0", true);
    let fake = fake.with("RUSTC", named.clone());
    assert_eq!(compiler(&fake).rustc, named);
    assert_eq!(compiler(&fake).version, "rustc 1.99.0, LLVM 22.1.8");
    // The one that made what is committed, wherever it stands.
    let like = |version| Nvptx64::new(&fake.machine()).like(Some(version)).compiler().unwrap().rustc;
    assert_eq!(like("rustc 1.96.0, LLVM 22.1.8"), debian);
    assert_eq!(like("rustc 1.2.3, LLVM 4"), named);
}

#[test]
fn the_command_line() {
    let fake = Fake::new();
    fake.rustc("bin/rustc", "1.96.0", true);
    let backend = Nvptx64::new(&fake.machine());
    let package = fake.path("kernels");
    fake.file("kernels/Cargo.toml", "");
    let request = Request { package: package.clone(), arch: Arch::new(9, 0), target_folder: fake.path("target") };
    let run = |backend: &Nvptx64| {
        let compiler = backend.compiler().unwrap();
        command(&compiler, &request, Path::new("wrapper.sh"), Path::new("out.ptx"))
    };
    let line = run(&backend);
    let all = arguments(&line).join(" ");
    assert_eq!(line.get_current_dir(), Some(package.as_path()));
    for part in [
        "rustc --quiet --release --lib --target nvptx64-nvidia-cuda -Zbuild-std=core --crate-type cdylib",
        "--config profile.release.lto=\"fat\"",
        "--config profile.release.panic=\"abort\"",
        "--config profile.release.codegen-units=1",
        "-- --emit=asm=out.ptx",
    ] {
        assert!(all.contains(part), "no `{part}` in {all}");
    }
    assert!(!all.contains("--locked"), "without a lock file");
    fake.file("kernels/Cargo.lock", "");
    assert!(arguments(&run(&backend)).contains(&"--locked".to_owned()));

    let set = |name: &str| variable(&line, name).unwrap_or_default();
    assert_eq!(set("RUSTC_BOOTSTRAP"), "1");
    assert_eq!(set("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER"), "true");
    assert_eq!(set("RUSTC_WRAPPER"), "wrapper.sh");
    assert_eq!(set("RUSTC"), fake.path("bin/rustc").display().to_string());
    let flags = set("CARGO_ENCODED_RUSTFLAGS");
    let flags: Vec<&str> = flags.split('\x1f').collect();
    assert!(flags.contains(&"-Ctarget-cpu=sm_90"), "{flags:?}");
    let root = xtask::workspace::root().display();
    assert!(flags.contains(&format!("--remap-path-prefix={root}=.").as_str()), "{flags:?}");
    assert!(flags.contains(&"-Zremap-cwd-prefix=."), "{flags:?}");
    assert!(!flags.iter().any(|flag| flag.contains("fp-contract")), "contraction belongs to the source: {flags:?}");
    // Set for the child alone.
    assert!(std::env::var_os("RUSTC_BOOTSTRAP").is_none());
}

#[test]
fn any_back_end_or_a_named_one() {
    let fake = Fake::new();
    let machine = fake.machine();
    let missing = choose(&machine, Choice::Auto, None).unwrap().err().unwrap();
    assert_eq!(missing[0].backend, "nvptx64");
    let text = choose(&machine, Choice::Nvptx64, None).err().unwrap().to_string();
    assert!(text.contains("the back end nvptx64 cannot run"), "{text}");
    let text = choose(&machine, Choice::CudaBuilder, None).err().unwrap().to_string();
    let expected = if cfg!(feature = "cuda-builder") {
        "the back end cuda-builder cannot run on this machine"
    } else {
        "cargo run --package xtask --features cuda-builder -- gpu-kernels --backend cuda-builder"
    };
    assert!(text.contains(expected), "{text}");
    fake.rustc("bin/rustc", "1.96.0", true);
    for choice in [Choice::Auto, Choice::Nvptx64] {
        assert_eq!(choose(&machine, choice, None).unwrap().ok().unwrap().name(), "nvptx64");
    }
}
