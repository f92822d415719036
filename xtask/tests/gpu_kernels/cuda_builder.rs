//! Rust-CUDA's compiler: what is probed, what is missing, what is run.

use crate::machine::{Fake, arguments, variable};
use tilewright_driver::Arch;
use xtask::gpu_kernels::backend::{PtxBackend, Request};
use xtask::gpu_kernels::cuda_builder::{COMPONENTS, CudaBuilder, REVISION, TOOLCHAIN};
use xtask::workspace;

const COMPONENTS_FILE: &str = "toolchain/lib/rustlib/components";
const CHECKOUT: &str = "home/.cargo/git/checkouts/rust-cuda-0123456789abcdef/946c91f/Cargo.toml";

/// A machine with all that it needs. Its rustup does as `rustup` does, and writes PTX where the last argument says.
fn whole() -> Fake {
    let fake = Fake::new();
    let rustc = fake.path("toolchain/bin/rustc");
    let rustup = format!(
        "case \"$1 $3\" in\n\
         \"which {TOOLCHAIN}\") echo {} ;;\n\
         \"run cargo\") for last do :; done; echo '.version 7.0' >\"$last\"; echo a warning >&2 ;;\n\
         *) exit 1 ;;\nesac\n",
        rustc.display()
    );
    fake.script("bin/rustup", &rustup);
    fake.file(
        COMPONENTS_FILE,
        "rustc-dev-x86_64-unknown-linux-gnu\nrust-src\nllvm-tools-preview-x86_64-unknown-linux-gnu\n",
    );
    let llvm = "case $1 in --version) echo 7.1.0 ;; --components) echo all ipo nvptx x86 ;; esac\n";
    fake.script("bin/llvm-config", llvm);
    fake.script("bin/c++", "exit 0\n");
    for file in ["include/cuda.h", "include/cuda_runtime_api.h", "nvvm/include/nvvm.h", "nvvm/lib64/libnvvm.so"] {
        fake.file(&format!("usr/local/cuda/{file}"), "");
    }
    fake.file("usr/local/cuda/nvvm/libdevice/libdevice.10.bc", "");
    fake.file("usr/lib/llvm-14/lib/libclang.so.1", "");
    fake.file(CHECKOUT, "");
    fake
}

fn needs(fake: &Fake) -> Vec<(String, String)> {
    let missing = CudaBuilder::new(&fake.machine()).find().unwrap_err();
    let text = missing.to_string();
    let told = |need: &xtask::gpu_kernels::probe::Need| {
        let all = need.tried.iter().chain(&need.mends).chain([&need.what]);
        all.for_each(|part| assert!(text.contains(part), "no `{part}` in:\n{text}"));
        (need.what.clone(), [need.tried.join("; "), need.mends.join("; ")].join(" -> "))
    };
    missing.needs.iter().map(told).collect()
}

#[test]
fn a_whole_machine_is_ready() {
    let fake = whole();
    let backend = CudaBuilder::new(&fake.machine());
    let found = backend.find().unwrap();
    assert_eq!(found.cuda, fake.path("usr/local/cuda"));
    assert_eq!(found.llvm_config, fake.path("bin/llvm-config"));
    let ready = backend.probe().unwrap().compiler;
    assert!(ready.contains("cuda_builder 946c91f, nightly-2026-04-02, LLVM 7"), "{ready}");
}

#[test]
fn nothing_there_names_every_need() {
    let needs = needs(&Fake::new());
    let names: Vec<&str> = needs.iter().map(|(what, _)| what.as_str()).collect();
    let checkout = format!("rust-cuda at revision {REVISION}");
    let expected = [
        "rustup",
        "the toolchain nightly-2026-04-02",
        "LLVM 7 with its part nvptx",
        "the CUDA toolkit",
        "libclang",
        "a C++ compiler",
        &checkout,
    ];
    assert_eq!(names, expected);
}

/// Takes one thing away and expects one need, with what stands in its text.
fn lacks(change: impl FnOnce(&Fake), what: &str, told: &[&str]) {
    let fake = whole();
    change(&fake);
    let needs = needs(&fake);
    let [(name, text)] = &needs[..] else { panic!("one need: {needs:?}") };
    assert_eq!(name, what);
    told.iter().for_each(|part| assert!(text.contains(part), "no `{part}` in {text}"));
}

#[test]
fn each_need_is_told_by_itself() {
    let fails = "echo \"error: toolchain 'x' is not installed\" >&2; exit 1\n";
    lacks(
        |fake| drop(fake.script("bin/rustup", fails)),
        "the toolchain nightly-2026-04-02",
        &[
            "toolchain 'x' is not installed",
            "rustup toolchain install nightly-2026-04-02",
            "rustc-dev,rust-src,llvm-tools",
        ],
    );
    lacks(
        |fake| drop(fake.file(COMPONENTS_FILE, "rust-src\nllvm-tools\nrustc-x86_64\n")),
        "the component rustc-dev of nightly-2026-04-02",
        &["does not list it", "rustup component add rustc-dev --toolchain nightly-2026-04-02"],
    );
    let fifteen = "case $1 in --version) echo 15.0.7 ;; --components) echo nvptx ;; esac\n";
    lacks(
        |fake| drop(fake.script("bin/llvm-config", fifteen)),
        "LLVM 7 with its part nvptx",
        &["llvm-config in PATH: its version is 15.0.7", "set LLVM_CONFIG"],
    );
    let small = "case $1 in --version) echo 7.0.1 ;; --components) echo ipo x86 ;; esac\n";
    lacks(|fake| drop(fake.script("bin/llvm-config", small)), "LLVM 7 with its part nvptx", &["built without nvptx"]);
    let cuda = |file: &str| format!("usr/local/cuda/{file}");
    lacks(
        |fake| fake.remove(&cuda("include/cuda.h")),
        "the CUDA toolkit",
        &["usr/local/cuda: no include/cuda.h", "developer.nvidia.com", "CUDA_PATH"],
    );
    lacks(|fake| fake.remove(&cuda("nvvm/lib64/libnvvm.so")), "libNVVM", &["nvvm/lib64/libnvvm.so", "cuda-nvvm"]);
    lacks(|fake| fake.remove(&cuda("nvvm/libdevice")), "libdevice", &["libdevice.10.bc"]);
    lacks(|fake| fake.remove("usr/lib/llvm-14"), "libclang", &["LIBCLANG_PATH is not set", "libclang-dev"]);
    lacks(|fake| fake.remove("bin/c++"), "a C++ compiler", &["apt-get install g++"]);
    lacks(
        |fake| fake.remove(CHECKOUT),
        &format!("rust-cuda at revision {REVISION}"),
        &[
            "home/.cargo/git/checkouts",
            "cargo +nightly-2026-04-02 fetch --locked --manifest-path xtask/cuda-builder/Cargo.toml",
        ],
    );
}

#[test]
fn variables_come_before_the_usual_folders() {
    let fake = whole().with("CUDA_PATH", "/nowhere").with("LLVM_CONFIG", "/nowhere/llvm-config");
    let texts: Vec<String> = needs(&fake).into_iter().map(|(_, text)| text).collect();
    assert!(texts.iter().any(|text| text.contains("LLVM_CONFIG=/nowhere/llvm-config: no such program")), "{texts:?}");
    let fake = whole();
    for file in ["include/cuda.h", "include/cuda_runtime_api.h", "nvvm/include/nvvm.h", "nvvm/lib64/libnvvm.so"] {
        fake.file(&format!("mine/{file}"), "");
    }
    fake.file("mine/nvvm/libdevice/libdevice.10.bc", "");
    let mine = fake.path("mine");
    let fake = fake.with("CUDA_ROOT", mine.clone());
    assert_eq!(CudaBuilder::new(&fake.machine()).find().unwrap().cuda, mine);
}

fn request(fake: &Fake) -> Request {
    Request { package: fake.path("kernels"), arch: Arch::new(8, 0), target_folder: fake.path("target") }
}

#[test]
fn the_command_line() {
    let fake = whole().with("LD_LIBRARY_PATH", "/others").with("RUSTFLAGS", "-Cno").with("RUSTUP_TOOLCHAIN", "stable");
    let backend = CudaBuilder::new(&fake.machine());
    let found = backend.find().unwrap();
    let command = backend.command(&found, &request(&fake), &fake.path("out.ptx"));
    assert_eq!(command.get_program(), fake.path("bin/rustup"));
    let manifest = workspace::root().join("xtask/cuda-builder/Cargo.toml").display().to_string();
    let (package, output) = (fake.path("kernels").display().to_string(), fake.path("out.ptx").display().to_string());
    let expected = [
        "run",
        "nightly-2026-04-02",
        "cargo",
        "run",
        "--quiet",
        "--release",
        "--locked",
        "--manifest-path",
        &manifest,
        "--",
        &package,
        "compute_80",
        &output,
    ];
    assert_eq!(arguments(&command), expected);
    let set = |name: &str| variable(&command, name);
    assert_eq!(set("CUDA_PATH"), Some(fake.path("usr/local/cuda").display().to_string()));
    assert_eq!(set("LLVM_CONFIG"), Some(fake.path("bin/llvm-config").display().to_string()));
    let nvvm = fake.path("usr/local/cuda/nvvm/lib64");
    assert_eq!(set("LD_LIBRARY_PATH"), Some(format!("{}:/others", nvvm.display())));
    // What is said about another toolchain does not reach it.
    for name in ["RUSTFLAGS", "RUSTUP_TOOLCHAIN", "RUSTC", "CARGO"] {
        assert_eq!(set(name), None, "{name}");
    }
}

#[test]
fn what_the_builder_writes_is_read() {
    let fake = whole();
    let ptx = CudaBuilder::new(&fake.machine()).build(&request(&fake)).unwrap();
    assert_eq!((ptx.text.as_str(), ptx.log.as_str()), (".version 7.0\n", "a warning"));
    let rustup = std::fs::read_to_string(fake.path("bin/rustup")).unwrap();
    fake.script("bin/rustup", &rustup.replace("echo a warning >&2", "echo no such intrinsic >&2; exit 3"));
    let error = CudaBuilder::new(&fake.machine()).build(&request(&fake)).unwrap_err().to_string();
    assert!(
        error.contains("does not compile for sm_80 (cuda_builder 946c91f") && error.contains("no such intrinsic"),
        "{error}"
    );
}

#[test]
fn the_small_package_pins_the_same() {
    let read = |name: &str| std::fs::read_to_string(workspace::root().join("xtask/cuda-builder").join(name)).unwrap();
    assert!(read("Cargo.toml").contains(&format!("rev = \"{REVISION}\"")));
    assert!(read("Cargo.lock").contains(&format!("?rev={REVISION}#{REVISION}")));
    let toolchain = read("rust-toolchain.toml");
    assert!(toolchain.contains(&format!("channel = \"{TOOLCHAIN}\"")));
    COMPONENTS.iter().for_each(|name| assert!(toolchain.contains(&format!("\"{name}\"")), "{name}"));
}
