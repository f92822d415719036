//! NVRTC: needs the library, no GPU.

use std::sync::Barrier;

use tilewright_driver::{Arch, Error, KernelCache, Origin, Source, TargetKind, compile, compile_with_ptx, toolkit};

use crate::{child, skip};

const H200: Arch = Arch::new(9, 0);

/// Whether NVRTC is there; if not, the test is skipped by name.
pub(crate) fn has_nvrtc(name: &str) -> bool {
    match toolkit::nvrtc() {
        Ok(_) => true,
        Err(Error::NoNvrtc { .. }) => {
            skip(name, "no NVRTC");
            false
        }
        Err(other) => panic!("{other}"),
    }
}

fn source(text: &str) -> Source {
    Source { name: "my op".into(), text: text.into(), ..Source::default() }
}

const KERNEL: &str = r#"
#include "types.h"
struct P { float* x; i64 n; };
extern "C" __global__ void k(const __grid_constant__ P p) {
    __shared__ float s[256];
    s[threadIdx.x] = p.x[threadIdx.x];
    __syncthreads();
    p.x[threadIdx.x] = s[255 - threadIdx.x] * p.n;
}
extern "C" __global__ void empty() {}
"#;

fn kernel() -> Source {
    Source { headers: vec![("types.h".into(), "using i64 = long long;\n".into())], ..source(KERNEL) }
}

/// Both forms from one compilation are what each is by itself.
#[test]
fn machine_code_and_its_ptx_at_once() {
    if !has_nvrtc("compile::machine_code_and_its_ptx_at_once") {
        return;
    }
    for arch in [Arch::new(8, 0), H200] {
        let both = compile_with_ptx(&kernel(), arch).unwrap();
        let alone = [TargetKind::Plain, TargetKind::Portable]
            .map(|target| compile(&Source { target, ..kernel() }, arch).unwrap());
        for (both, alone) in both.iter().zip(&alone) {
            assert_eq!((both.built_for(), both.compiler), (alone.built_for(), alone.compiler));
            assert_eq!((&both.kernels, &both.name), (&alone.kernels, &alone.name));
            assert!(both.image == alone.image, "{}", both.built_for());
        }
    }
    assert!(matches!(compile_with_ptx(&source("no C++"), H200), Err(Error::Compile { .. })));
}

#[test]
fn targets() {
    if !has_nvrtc("compile::targets") {
        return;
    }
    for (target, start) in
        [(TargetKind::Plain, &b"\x7fELF"[..]), (TargetKind::ArchSpecific, b"\x7fELF"), (TargetKind::Portable, b"//")]
    {
        // Again: nothing is missing from what the compiler says of a source that it has seen.
        assert_eq!(
            compile(&Source { target, ..kernel() }, H200).unwrap().kernels.is_empty(),
            target == TargetKind::Portable
        );
        let compiled = compile(&Source { target, ..kernel() }, H200).unwrap();
        assert!(compiled.image.starts_with(start), "{target:?}");
        assert_eq!((compiled.arch, compiled.target), (H200, target));
        if target != TargetKind::Portable {
            let k = compiled.kernels.iter().find(|kernel| kernel.name == "k").expect("resources of k");
            assert!(k.registers >= 6, "{k:?}\n{}", compiled.log);
            assert_eq!((k.shared_bytes, k.spill_store_bytes), (1024, 0));
            assert_eq!(compiled.kernels.len(), 2);
        }
    }
}

#[test]
fn no_contraction_unless_written() {
    if !has_nvrtc("compile::no_contraction_unless_written") {
        return;
    }
    let text = r#"extern "C" __global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }"#;
    let ptx = |options: Vec<String>| {
        let source = Source { target: TargetKind::Portable, options, ..source(text) };
        String::from_utf8_lossy(&compile(&source, H200).unwrap().image).into_owned()
    };
    assert!(!ptx(vec![]).contains("fma.rn"));
    assert!(ptx(vec!["--fmad=true".into()]).contains("fma.rn"));
}

#[test]
fn errors_name_the_op_then_the_log_then_a_file() {
    if !has_nvrtc("compile::errors_name_the_op_then_the_log_then_a_file") {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let mut command = child::command("compile errors");
    let nvrtc = toolkit::nvrtc().unwrap().path();
    if nvrtc.is_absolute() {
        command.env("TILEWRIGHT_CUDA", nvrtc);
    }
    child::check(&command.env("TILEWRIGHT_CACHE", cache.path().join("kernels")).output().unwrap());
}

pub(crate) fn child_compile_errors() {
    let text = "int line_one;\nthis is wrong;\n".to_owned() + &"// a long source\n".repeat(3000);
    let error = compile(&Source { name: "../my op".into(), ..source(&text) }, H200).unwrap_err();
    let message = error.to_string();
    let Error::Compile { log, source_path: Some(path), .. } = &error else { panic!("{error:?}") };
    assert!(message.starts_with("../my op does not compile (source: "), "{message}");
    assert!(log.contains("(2): error"), "{log}");
    assert!(
        message.contains(&path.display().to_string())
            && message.lines().count() < 70
            && !message.contains("a long source")
    );
    let written = std::fs::read_to_string(path).unwrap();
    assert!(path.starts_with(child::argument("TILEWRIGHT_CACHE")), "{path:?}");
    assert!(written.starts_with(&text) && written.contains("--fmad=false"));

    let error = compile(&Source { options: vec!["--no-such-option".into()], ..source("") }, H200).unwrap_err();
    assert!(matches!(&error, Error::Compile { .. } | Error::Nvrtc { code: 5, .. }), "{error:?}");
}

#[test]
fn bad_input() {
    if !has_nvrtc("compile::bad_input") {
        return;
    }
    let error = compile(&source("int x;\0"), H200).unwrap_err();
    assert!(matches!(error, Error::NulByte { .. }), "{error:?}");
    let error = compile(&kernel(), Arch::new(2, 0)).unwrap_err();
    assert!(matches!(&error, Error::UnknownArch { known, .. } if known.contains("sm_90")), "{error:?}");
    assert!(matches!(compile(&kernel(), Arch::new(u32::MAX, u32::MAX)), Err(Error::UnknownArch { .. })));
    assert!(compile(&source(""), H200).is_ok(), "nothing to do is no error");
}

#[test]
fn cache_compiles_once() {
    if !has_nvrtc("compile::cache_compiles_once") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let cache = KernelCache::open(&folder);
    let (threads, kernel) = (8, kernel());
    let barrier = Barrier::new(threads);
    let origins: Vec<_> = std::thread::scope(|scope| {
        let one = || {
            barrier.wait();
            cache.get(&kernel, H200).unwrap().1
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(origins.iter().filter(|origin| matches!(origin, Origin::Compiled { .. })).count(), 1, "{origins:?}");
    assert_eq!(origins.iter().filter(|origin| **origin == Origin::Memory).count(), threads - 1);
    let (found, origin) = KernelCache::open(&folder).get(&kernel, H200).unwrap();
    assert_eq!(origin, Origin::Disk);
    assert_eq!(found, cache.get(&kernel, H200).unwrap().0);
}
