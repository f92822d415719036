//! What is committed: its head, how it is compared, and what happens where nothing can build it.

use crate::machine::{Fake, script};
use std::path::Path;
use tilewright_driver::Arch;
use xtask::difference::Difference;
use xtask::gpu_kernels::backend::{Choice, Ptx};
use xtask::gpu_kernels::ptx::{file, first_difference, made_by};
use xtask::gpu_kernels::ptxas::Ptxas;
use xtask::gpu_kernels::{Options, run_on};

fn text(compiler: &str, code: &str) -> String {
    file(&Ptx { text: code.to_owned(), compiler: compiler.to_owned(), log: String::new() })
}

#[test]
fn the_head_says_what_made_it_and_is_not_compared() {
    let one = text("rustc 1, LLVM 2", ".version 7.0  \n\tret;\n\n\n");
    assert_eq!(made_by(&one), Some("rustc 1, LLVM 2"));
    assert!(one.ends_with(".version 7.0\n\tret;\n"), "{one:?}");
    assert_eq!(first_difference(&one, &text("another", ".version 7.0\n\tret;\n")), None);
    let other = first_difference(&one, &text("another", ".version 7.0\n\texit;\n")).unwrap();
    let line = |text: &str| Some(text.to_owned());
    assert_eq!(other, Difference { line: 4, old: line("\tret;"), new: line("\texit;") });
    assert_eq!(made_by(".version 7.0\n"), None);
}

#[test]
fn differences_are_found_to_the_last_byte() {
    assert_eq!(Difference::first("a\nb", "a\nb"), None);
    let found = Difference::first("a\nb\n", "a\nb").unwrap();
    assert_eq!((found.line, found.old.as_deref(), found.new), (3, Some(""), None));
    assert_eq!(Difference::first("a", "a ").unwrap().line, 1);
}

/// An assembler that says what one kernel uses, more on newer targets, refuses what says `bad` and finds nothing in what says
/// `empty`.
const PTXAS: &str = "for last do :; done\n\
    case $2 in --gpu-name=sm_8*) registers=16 ;; *) registers=20 ;; esac\n\
    grep -q bad \"$last\" && { echo \"line 3; error: Unknown symbol\" >&2; exit 255; }\n\
    grep -q empty \"$last\" && exit 0\n\
    grep -q slow \"$last\" && echo 'warning : Potential Performance Loss: wgmma (C7510)'\n\
    echo \"ptxas info    : Compiling entry function 'saxpy' for '${2#*=}'\"\n\
    echo 'ptxas info    : Function properties for saxpy'\n\
    echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'\n\
    echo \"ptxas info    : Used $registers registers, used 0 barriers, 380 bytes cmem[0]\"\n";

fn options(package: &Path) -> Options {
    let arch = vec![Arch::new(8, 0), Arch::new(9, 0)];
    let package = Some(package.to_owned());
    Options { check: true, backend: Choice::Auto, arch, update_budgets: false, package }
}

/// Runs on a machine that has an assembler and no back end.
fn run(fake: &Fake, options: &Options) -> Result<(), String> {
    let ptxas = fake.path("ptxas");
    script(&ptxas, PTXAS);
    run_on(&fake.machine(), || Ok(Ptxas::new(ptxas)), options).map_err(|error| format!("{error:#}"))
}

#[test]
fn without_a_back_end_the_committed_text_serves() {
    let fake = Fake::new();
    fake.file("kernels/Cargo.toml", "");
    fake.file("kernels/ptx/kernels.sm_80.ptx", "good");
    let options = options(&fake.path("kernels"));
    let error = run(&fake, &options).unwrap_err();
    assert!(error.contains("kernels.sm_90.ptx is missing, and no back end can build it"), "{error}");
    assert!(error.contains("`saxpy` has no budget for sm_80 (it uses 16 registers"), "{error}");
    let sm_90 = fake.file("kernels/ptx/kernels.sm_90.ptx", "good");
    run(&fake, &Options { update_budgets: true, check: false, ..options.clone() }).unwrap();
    run(&fake, &options).unwrap();
    assert_eq!(std::fs::read_to_string(&sm_90).unwrap(), "good", "nothing is written");

    let budgets = fake.path("kernels/budgets.toml");
    let tight = std::fs::read_to_string(&budgets).unwrap().replace("registers = 20", "registers = 19");
    std::fs::write(&budgets, tight).unwrap();
    let error = run(&fake, &options).unwrap_err();
    assert!(error.contains("kernels has faults: 2") && error.contains("`saxpy` for sm_100: 20 registers"), "{error}");
}

#[test]
fn what_the_assembler_refuses_is_an_error() {
    let fake = Fake::new();
    fake.file("kernels/Cargo.toml", "");
    fake.file("kernels/ptx/kernels.sm_80.ptx", "good");
    fake.file("kernels/ptx/kernels.sm_90.ptx", "bad");
    let error = || run(&fake, &options(&fake.path("kernels"))).unwrap_err();
    assert!(error().contains("kernels.sm_90.ptx for sm_90:\nline 3; error: Unknown symbol"), "{}", error());
    fake.file("kernels/ptx/kernels.sm_90.ptx", "empty");
    assert!(error().contains("kernels.sm_90.ptx has no kernel: an `extern \"ptx-kernel\" fn`"), "{}", error());
    fake.file("kernels/ptx/kernels.sm_90.ptx", "slow");
    assert!(error().contains("one after the other for sm_90") && error().contains("(C7510)"), "{}", error());
}

#[test]
fn options_that_make_no_sense() {
    let error = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"));
        let output = command.arg("gpu-kernels").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for arch in ["9.0", "sm_90", "8"] {
        let text = error(&["--arch", arch]);
        assert!(text.contains("a compute capability without its point, such as 80, 90 or 100"), "{text}");
    }
    assert!(error(&["--check", "--update-budgets"]).contains("cannot be used with"));
    assert!(error(&["--backend", "llvm"]).contains("[possible values: auto, nvptx64, cuda-builder]"));
}

#[test]
fn a_named_back_end_that_is_not_there_is_an_error() {
    let fake = Fake::new();
    fake.file("kernels/Cargo.toml", "");
    let named = Options { backend: Choice::Nvptx64, ..options(&fake.path("kernels")) };
    assert!(run(&fake, &named).unwrap_err().contains("the back end nvptx64 cannot run on this machine"));
    let error = run(&fake, &options(&fake.path("none"))).unwrap_err();
    assert!(error.contains("there is no package of kernels in "), "{error}");
}
