//! What is refused, and what the message says.

use std::fs;
use std::path::Path;

use tilewright_headers::host_model::{Error, HostModel, KernelSource, Launch, Schedule};

use crate::fixture::{compile, launch, run};

const GOOD: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { int* y; int a; int b; };
extern "C" __global__ void good(const __grid_constant__ Params p) { *p.y = p.a + p.b; }
"#;

/// The error of compiling `text` beside a good source; `None` without a compiler.
fn refused(test: &'static str, text: &str) -> Option<Error> {
    compile(test, &[GOOD])?;
    let sources = [KernelSource { name: "good", text: GOOD }, KernelSource { name: test, text }];
    Some(HostModel::compile(&sources).expect_err("accepted"))
}

/// Removes a kept folder: one of ours and nothing else, whatever the error says.
fn discard(folder: &Path) {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let below_temporary = folder.parent() == Some(std::env::temp_dir().as_path());
    assert!(name.starts_with("tilewright-host-") && below_temporary, "not a kept folder: {}", folder.display());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_parameter_of_another_size_is_refused() {
    let Some(model) = compile("parameter", &[GOOD]) else { return };
    let error = run(&model, "good", launch(1, 1, 0, Schedule::Forward), [0u64; 3]).unwrap_err();
    assert!(matches!(error, Error::ParameterBytes { expected: 16, got: 24, .. }), "{error}");
    assert_eq!(error.to_string(), "kernel good takes a parameter of 16 bytes, got 24");
}

#[test]
fn an_unknown_kernel_is_refused() {
    let Some(model) = compile("unknown", &[GOOD]) else { return };
    let error = run(&model, "bad", launch(1, 1, 0, Schedule::Forward), [0u64; 2]).unwrap_err();
    assert_eq!(error.to_string(), "source 0 has no kernel bad; it has: good");
}

#[test]
fn sizes_outside_the_gpus_limits_are_refused() {
    let Some(model) = compile("limits", &[GOOD]) else { return };
    let refused = |grid, block, shared_bytes| {
        let launch = Launch { grid, block, shared_bytes, schedule: Schedule::Forward };
        run(&model, "good", launch, [0u64; 2]).unwrap_err().to_string()
    };
    assert_eq!(refused([0, 1, 1], [1, 1, 1], 0), "kernel good: grid x is 0, allowed is 1 to 2147483647");
    assert_eq!(refused([1, 1, 1], [32, 33, 1], 0), "kernel good: threads of a block is 1056, allowed is 1 to 1024");
    assert!(
        refused([1, 1, 1], [1, 1, 1], 300_000).contains("bytes of shared memory is 300000, allowed is 0 to 232448")
    );
}

#[test]
fn a_compile_error_names_line_and_kept_source() {
    let Some(error) = refused("typo", &GOOD.replace("p.a + p.b", "p.a + p.c")) else { return };
    let message = error.to_string();
    let Error::Compile { errors, folder, file, .. } = error else { panic!("{message}") };
    assert!(errors.starts_with("1_typo.cu:4:"), "{errors}");
    assert!(errors.contains("error: ") && errors.contains("‘c’") | errors.contains("'c'"), "{errors}");
    assert!(errors.lines().count() <= 15, "{errors}");
    let kept = folder.join(file);
    assert!(message.contains(&kept.display().to_string()), "{message}");
    assert!(fs::read_to_string(&kept).unwrap().contains("p.a + p.c"));
    discard(&folder);
}

#[test]
fn static_shared_memory_is_refused_with_a_reason() {
    let text = GOOD.replace("*p.y", "__shared__ int tile[32]; *p.y");
    let Some(Error::Compile { errors, folder, .. }) = refused("static_shared", &text) else { return };
    assert!(errors.contains("use the one dynamic buffer"), "{errors}");
    discard(&folder);
}

#[test]
fn a_kernel_takes_no_reference() {
    let text = GOOD.replace("const __grid_constant__ Params p", "const Params& p");
    let Some(Error::Compile { errors, folder, .. }) = refused("a_reference", &text) else { return };
    assert!(errors.contains("takes values and pointers, no references"), "{errors}");
    discard(&folder);
}

#[test]
fn a_source_without_a_kernel_is_refused() {
    let Some(error) = refused("empty", "// __global__ void none(\n") else { return };
    assert_eq!(error.to_string(), "source 1 (empty) holds no kernel: expected `__global__ void NAME(`");
}
