//! Libraries that answer like a driver, made with the system's C compiler.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
    process::Command,
};

/// The name of the device.
#[allow(dead_code, reason = "not every package asks for it")]
pub(crate) const NAME: &str = "F";

/// Functions with an answer; all others return `$RESULT`.
const BODIES: [(&str, &str); 16] = [
    ("cuDriverGetVersion", "(int* v) { *v = VERSION; return 0; }"),
    ("cuGetErrorName", "(int code, const char** text) { *text = \"STUB\"; return 0; }"),
    ("cuGetErrorString", "(int code, const char** text) { *text = \"a stub's answer\"; return 0; }"),
    ("cuDeviceGetCount", "(int* v) { *v = 1; return RESULT; }"),
    ("cuDeviceGetName", "(char* v, int n, int d) { v[0] = 'F'; v[1] = 0; return RESULT; }"),
    ("cuDeviceGetAttribute", "(int* v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : 100000; return RESULT; }"),
    ("cuDevicePrimaryCtxRetain", "(void** v, int d) { *v = (void*)16; return RESULT; }"),
    ("cuStreamCreate", "(void** v, unsigned f) { *v = (void*)32; return RESULT; }"),
    ("cuStreamIsCapturing", "(void* s, int* v) { *v = 0; return RESULT; }"),
    ("cuEventCreate", "(void** v, unsigned f) { *v = (void*)48; return RESULT; }"),
    (
        "cuMemAllocAsync",
        "(unsigned long long* v, unsigned long n, void* s) { *v = 4096; return n > 1ul << 40 ? 2 : RESULT; }",
    ),
    (
        "cuMemHostAlloc",
        "(void** v, unsigned long n, unsigned f) { *v = aligned_alloc(4096, (n + 4095) & ~4095ul); return RESULT; }",
    ),
    ("cuModuleLoadData", "(void** v, const char* image) { *v = (void*)64; return image[0] == 'X' ? 200 : RESULT; }"),
    (
        "cuModuleGetFunction",
        "(void** v, void* m, const char* name) { *v = (void*)(name[0] == 't' ? 96ul : 80ul); return name[0] == 'X' ? 500 : RESULT; }",
    ),
    // The kernel with handle 96 is `two(unsigned a, float* b)`, and takes 7 and the address of buffers.
    (
        "cuLaunchKernelEx",
        "(void* c, void* f, void** p, void** e) { return f == (void*)96 && (*(int*)p[0] != 7 || *(long*)p[1] != 4096) ? 1 : RESULT; }",
    ),
    ("cuFuncGetAttribute", "(int* v, int a, void* f) { *v = 24; return RESULT; }"),
];

/// What newer drivers have, with [`TENSOR_MAPS`].
const OPTIONAL: &str = "
int cuFuncGetParamInfo(void* f, unsigned long i, unsigned long* at, unsigned long* n) {
    int two = f == (void*)96;
    *at = 8 * i;
    *n = two ? 4 + 4 * i : 16;
    return i > two ? 1 : 0;
}
";

/// A tensor map here holds what it was made from.
const TENSOR_MAPS: &str = "
int cuTensorMapEncodeTiled(unsigned long long* map, unsigned type, unsigned rank, void* base, const unsigned long long* sizes,
                           const unsigned long long* strides, const unsigned* box, const unsigned* steps, unsigned interleave,
                           unsigned swizzle, unsigned l2, unsigned fill) {
    unsigned long long all[16] = {type, rank, (unsigned long long)base, sizes[0], sizes[1], strides[0], box[0], box[1], steps[0],
                                  steps[1], interleave, swizzle, l2, fill};
    for (int i = 0; i < 16; ++i) map[i] = all[i];
    return sizes[0] == 77 ? 1 : RESULT;
}
";

/// A driver library that serves `version`, whose functions answer `result`, without those in `missing`.
#[allow(dead_code, reason = "other packages use the working one alone")]
pub(crate) fn driver(folder: &Path, version: i32, result: u32, missing: &[&str]) -> Option<PathBuf> {
    let text = answers(version, result, |symbol| !missing.contains(&symbol));
    library(folder, "libcuda.so.1", &(text + OPTIONAL + TENSOR_MAPS))
}

/// What a test and stubs share.
pub(crate) const LEDGER: &str = include_str!("stub/ledger.c");

/// A driver that serves the process that initialised it, and none that is forked from it.
#[allow(dead_code, reason = "only the driver's own tests fork")]
pub(crate) fn lost_by_forks(folder: &Path) -> Option<PathBuf> {
    let own = "
#include <unistd.h>
static int opened_by;
int cuInit(unsigned flags) { opened_by = getpid(); return 0; }
int cuStreamSynchronize(void* s) { return getpid() == opened_by ? 0 : 3; }
";
    let text = answers(12_040, 0, |symbol| !own.contains(&format!("int {symbol}(")));
    library(folder, "libcuda.so.1", &(text + OPTIONAL + TENSOR_MAPS + own))
}

/// A driver with memory, and a compiler that takes any text: what `TILEWRIGHT_LIBCUDA` and `TILEWRIGHT_CUDA` are to name. With
/// `STUB_STEPS` set its events count instructions; with `STUB_LEDGER` calls fail as the file says that it names.
pub(crate) fn working(folder: &Path) -> Option<[PathBuf; 2]> {
    let own = concat!(include_str!("stub/working.c"), include_str!("stub/launches.c"));
    let driver = library(folder, "libcuda.so.1", &(working_text(own) + TENSOR_MAPS + own))?;
    Some([driver, library(folder, "libnvrtc.so.12", include_str!("stub/compiler.c"))?])
}

/// A driver with memory that knows some kernels in Rust by their names, and computes what they do.
#[allow(dead_code, reason = "only the driver's own tests launch these")]
pub(crate) fn computing(folder: &Path) -> Option<PathBuf> {
    let own = concat!(include_str!("stub/working.c"), include_str!("stub/kernels.c"));
    library(folder, "libcuda.so.1", &(working_text(own) + own))
}

/// What a driver with memory has beside its own functions: each can be made to fail.
fn working_text(own: &str) -> String {
    LEDGER.to_owned() + &answers(12_040, "called()", |symbol| !own.contains(&format!("int {symbol}(")))
}

/// The functions that `picked` says, as C text.
fn answers(version: i32, result: impl Display, picked: impl Fn(&str) -> bool) -> String {
    let mut text = format!("#include <stdlib.h>\n#define VERSION {version}\n#define RESULT {result}\n");
    for symbol in tilewright_driver::required_symbols().filter(|symbol| picked(symbol)) {
        let body = BODIES.iter().find(|(name, _)| *name == symbol).map_or("() { return RESULT; }", |(_, body)| body);
        text += &format!("int {symbol}{body}\n");
    }
    text
}

/// A shared library from C text; `None` without a compiler.
pub(crate) fn library(folder: &Path, name: &str, text: &str) -> Option<PathBuf> {
    let (source, library) = (folder.join("stub.c"), folder.join(name));
    std::fs::write(&source, text).expect("a writable folder");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-O1", "-w", "-std=gnu11", "-D_GNU_SOURCE", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-lm");
    let output = compiler.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}
