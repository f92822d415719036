//! The address sanitizer sees an access past a buffer. It needs its runtime in the process, so the test starts itself
//! again.

use std::process::Command;

use tilewright_headers::host_model::{Error, HostModel, KernelSource, Schedule, skip};

use crate::fixture::{launch, run};

const PAST_THE_END: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { float* y; };
extern "C" __global__ void past_the_end(const __grid_constant__ Params p) {
  float* tile = (float*)tw::host::shared_memory();
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  p.y[threadIdx.x] = tile[threadIdx.x + 1];
}
"#;

const SOURCE: KernelSource<'_> = KernelSource { name: "past_the_end", text: PAST_THE_END };

/// Set in the process that the first test starts.
const CHILD: &str = "TILEWRIGHT_TEST_SANITIZED";

/// Where the compiler keeps the sanitizer's runtime.
fn runtime() -> Option<String> {
    let compiler = HostModel::compiler()?.to_string();
    let output = Command::new(compiler).arg("-print-file-name=libasan.so").output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    path.contains('/').then_some(path)
}

#[test]
fn a_read_past_shared_memory_is_seen() {
    let Some(runtime) = runtime() else { return skip("sanitizers", "no C++ compiler with an address sanitizer") };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "sanitizers::in_a_process_with_the_runtime", "--test-threads=1", "--nocapture"]);
    // The process ends in the middle, and leaves its files.
    let folder = tempfile::tempdir().unwrap();
    command.env("TMPDIR", folder.path());
    command.env(CHILD, "1");
    let output = command.env("LD_PRELOAD", runtime).env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(report.contains("the block of 1024 threads is right"), "{report}");
    assert!(report.contains("AddressSanitizer: use-after-poison"), "{report}");
    assert!(report.contains("past_the_end.cu:8"), "{report}");
    assert!(!output.status.success());
}

/// Started by the test above; by itself it does nothing.
#[test]
fn in_a_process_with_the_runtime() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let compiler = HostModel::compiler().unwrap().with_sanitizers();
    let model = HostModel::compile_with(&compiler, &[SOURCE]).unwrap();
    let mut y = vec![0.0f32; 1024];
    run(&model, "past_the_end", launch(4, 1024, 4100, Schedule::Backward), y.as_mut_ptr()).unwrap();
    eprintln!("the block of 1024 threads is right");
    let _ = run(&model, "past_the_end", launch(1, 1024, 4096, Schedule::Forward), y.as_mut_ptr());
}

#[test]
fn sanitizers_without_their_runtime_are_refused() {
    let Some(compiler) = HostModel::compiler() else { return skip("sanitizers_refused", "no C++ compiler") };
    let outcome = HostModel::compile_with(&compiler.with_sanitizers(), &[SOURCE]);
    assert!(matches!(outcome, Err(Error::NoSanitizer)) || std::env::var_os("LD_PRELOAD").is_some());
}
