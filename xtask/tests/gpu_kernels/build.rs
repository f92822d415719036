//! A package that is really built, where a compiler with sources is, and goes through ptxas, where that is.

use crate::skip;
use std::path::{Path, PathBuf};
use tilewright_driver::Arch;
use xtask::gpu_kernels::backend::{Choice, PtxBackend, Request};
use xtask::gpu_kernels::nvptx64::Nvptx64;
use xtask::gpu_kernels::ptxas::Ptxas;
use xtask::gpu_kernels::{Options, run_on};
use xtask::machine::Machine;
use xtask::{toolkit, workspace};

const SM_80: Arch = Arch::new(8, 0);

/// A kernel over typed dimensions that calls into another package: a function that is not inlined, a table, a check of bounds.
const KERNELS: &str = r#"#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_idx_x, _thread_idx_x};
use tilewright_dims::{dims, tensor};

dims! { I, K }
tensor!(A: f32, [K/8: 4, I: 64, K%8]);

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    core::hint::black_box(info.location().map(|place| place.file()));
    unsafe { core::arch::nvptx::trap() }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn scaled(from: *const f32, to: *mut f32, b: f32) {
    unsafe {
        let at = A::offset(I(_block_idx_x() as i32) + K(_thread_idx_x() as i32)) as isize;
        *to.offset(at) = *from.offset(at) * b + table::look(&table::TABLE, at as usize);
    }
}
"#;

const TABLE: &str = r#"#![no_std]
pub static TABLE: [f32; 5] = [1.0, 2.5, 3.0, 7.0, 9.0];

#[inline(never)]
pub fn look<T: Copy>(table: &[T], at: usize) -> T {
    table[at]
}
"#;

/// Two packages in a folder that stays, so that only the first run builds core.
fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let dependencies = format!(
        "\n[workspace]\n\n[dependencies]\ntable = {{ path = \"../table\" }}\ntilewright-dims = {{ path = {:?} }}\n",
        workspace::root().join("crates/dims")
    );
    write(&folder.join("kernels/Cargo.toml"), &manifest("fixture", &dependencies));
    write(&folder.join("kernels/src/lib.rs"), KERNELS);
    write(&folder.join("table/Cargo.toml"), &manifest("table", ""));
    write(&folder.join("table/src/lib.rs"), TABLE);
    folder.join("kernels")
}

fn write(file: &Path, text: &str) {
    if std::fs::read_to_string(file).is_ok_and(|old| old == text) {
        return;
    }
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

#[test]
fn a_package_is_built_compared_and_assembled() {
    let test = "gpu_kernels::build::a_package_is_built_compared_and_assembled";
    let machine = Machine::this();
    let backend = Nvptx64::new(&machine);
    if backend.probe().is_err() {
        return skip(test, "no rustc with sources");
    }
    let Some(ptxas) = toolkit::installed_ptxas() else { return skip(test, "no ptxas") };
    let package = fixture("one");
    let check = Options {
        check: true,
        backend: Choice::Nvptx64,
        arch: vec![SM_80],
        update_budgets: false,
        package: Some(package.clone()),
    };
    let run = |options: &Options| run_on(&machine, || Ok(Ptxas::new(&ptxas)), options).map_err(|e| e.to_string());

    let file = package.join("ptx/kernels.sm_80.ptx");
    write(&file, "poison\n");
    run(&Options { check: false, update_budgets: true, ..check.clone() }).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    for part in [".target sm_80", ".visible .entry scaled(", "mul.rn.f32", "add.rn.f32", "4look"] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert!(!text.contains("fma."), "contraction belongs to the source:\n{text}");
    // Texts stand in PTX as numbers: the folder of a file with a check that can fail is cut off.
    let numbers = |text: &str| text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    assert!(text.contains(&numbers("./src/lib.rs")), "the check of bounds names its place:\n{text}");
    assert!(!text.contains(&numbers(&workspace::root().display().to_string())), "{text}");
    run(&check).unwrap();

    write(&file, &text.replacen("mul.rn.f32", "mul.rz.f32", 1));
    let error = run(&check).unwrap_err();
    let line = text.lines().position(|line| line.contains("mul.rn.f32")).unwrap() + 1;
    assert!(error.contains(&format!("kernels.sm_80.ptx:{line}: not what the sources give")), "{error}");
    assert!(error.contains("committed: mul.rz.f32") && error.contains("built:     mul.rn.f32"), "{error}");
    write(&file, &text);

    // The same sources elsewhere give the same text.
    let target_folder = package.join("target/gpu-kernels-nvptx64");
    let ptx = |package| {
        let request = Request { package, arch: SM_80, target_folder: target_folder.clone() };
        backend.build(&request).unwrap().text
    };
    assert_eq!(ptx(fixture("two/deeper")), ptx(package));
}

#[test]
fn what_does_not_compile_is_told_in_the_compilers_words() {
    let backend = Nvptx64::new(&Machine::this());
    if backend.probe().is_err() {
        return skip(
            "gpu_kernels::build::what_does_not_compile_is_told_in_the_compilers_words",
            "no rustc with sources",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("Cargo.toml"), "[package]\nname = \"broken\"\nedition = \"2024\"\n\n[dependencies\n");
    let request =
        Request { package: folder.path().to_owned(), arch: SM_80, target_folder: folder.path().join("target") };
    let error = backend.build(&request).unwrap_err().to_string();
    assert!(error.contains("does not compile for sm_80 (rustc 1."), "{error}");
    assert!(error.contains("unclosed table"), "{error}");
}
