//! Compiling in the background, and compilations that fail.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tilewright_driver::{Arch, CacheFolder, Device, Error, KernelCache, Origin, Source};

use super::{ARCH, compiled, entries, source};
use crate::{child, compile::has_nvrtc, skip, stub};

const H200: Arch = Arch::new(9, 0);

/// A kernel of its own; the more steps, the longer it takes.
fn kernel(number: usize, steps: usize) -> Source {
    let body = (0..steps).map(|step| format!("x[{step}] = x[{}] * {number}.5f + x[{}];\n", step + 1, 2 * step));
    source(&format!("extern \"C\" __global__ void k{number}(float* x) {{\n{}}}\n", body.collect::<String>()))
}

#[test]
fn what_is_stored_comes_without_a_compiler() {
    let root = tempfile::tempdir().unwrap();
    KernelCache::open(root.path()).put(&source("text"), compiled("text", 10));
    let cache = KernelCache::open(root.path());
    let pending = cache.prefetch(source("text"), ARCH);
    assert!(format!("{pending:?}").contains("cached"));
    let (found, origin) = pending.wait().unwrap();
    assert_eq!((&*found, origin), (&compiled("text", 10), Origin::Disk));
    assert_eq!(cache.get(&source("text"), ARCH).unwrap().1, Origin::Memory);
}

#[test]
fn a_failure_is_told_each_time() {
    let cache = KernelCache::in_memory();
    let refused = |error| matches!(error, Error::NoNvrtc { .. } | Error::UnknownArch { .. });
    assert!(refused(cache.prefetch(source("text"), ARCH).wait().unwrap_err()));
    assert!(refused(cache.get(&source("text"), ARCH).unwrap_err()));
    let pending = cache.prefetch(source("text"), ARCH);
    let until = Instant::now() + Duration::from_secs(60);
    while !pending.is_done() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(refused(pending.wait().unwrap_err()));
    assert_eq!(cache.statistics().misses, 3);
}

#[test]
fn a_later_get_joins() {
    if !has_nvrtc("cache::ahead::a_later_get_joins") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let cache = KernelCache::open(root.path());
    let sources: Vec<_> = (0..6).map(|number| kernel(number, 30)).collect();
    let pending: Vec<_> = sources.iter().map(|source| cache.prefetch(source.clone(), H200)).collect();
    // The last are not begun yet, the first are under way: either way there is one compilation of each.
    let mut got = sources.iter().rev().map(|source| cache.get(source, H200).unwrap().0).collect::<Vec<_>>();
    got.reverse();
    for (pending, got) in pending.into_iter().zip(got) {
        assert!(Arc::ptr_eq(&pending.wait().unwrap().0, &got));
    }
    let counted = cache.statistics();
    assert_eq!((counted.compiles, counted.misses, counted.memory), (6, 6, 6));
    assert!(counted.compile_ms > 0.0);
    assert_eq!(CacheFolder::open(root.path()).unwrap().statistics().unwrap().entries, 6);
}

#[test]
fn a_source_that_does_not_compile() {
    if !has_nvrtc("cache::ahead::a_source_that_does_not_compile") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let cache = KernelCache::open(root.path());
    let bad = Source { name: "bad".into(), ..source("this is no program") };
    let pending = cache.prefetch(bad.clone(), H200);
    assert!(matches!(pending.wait(), Err(Error::Compile { name, .. }) if name == "bad"));
    assert!(matches!(cache.get(&bad, H200), Err(Error::Compile { .. })));
    assert_eq!((entries(root.path()).len(), cache.statistics().compiles), (0, 0));
    let good = kernel(0, 1);
    assert!(matches!(cache.get(&good, H200).unwrap().1, Origin::Compiled { .. }));
    assert_eq!((entries(root.path()).len(), cache.statistics().compiles), (1, 1));
}

#[test]
fn two_kernels_compile_at_once() {
    let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some([driver, _]) = stub::working(root.path()) else {
        return skip("cache::ahead::two_kernels_compile_at_once", "no C compiler");
    };
    // A compiler that goes on only when two compile.
    let begin = "int nvrtcCompileProgram(void* program, int count, const char** options) {";
    let wait = "static int inside; __atomic_add_fetch(&inside, 1, 5); \
                for (int ms = 0; ms < 20000 && __atomic_load_n(&inside, 5) < 2; ++ms) usleep(1000); \
                if (__atomic_load_n(&inside, 5) < 2) return 11;";
    let text = include_str!("../stub/compiler.c");
    assert!(text.contains(begin));
    let text = format!("#include <unistd.h>\n{}", text.replace(begin, &format!("{begin} {wait}")));
    let compiler = stub::library(other.path(), "libnvrtc.so.12", &text).expect("a C compiler");
    let mut command = child::command("two at once");
    child::check(&command.env("TILEWRIGHT_LIBCUDA", driver).env("TILEWRIGHT_CUDA", compiler).output().unwrap());
}

pub(crate) fn child_two_at_once() {
    let cache = KernelCache::in_memory();
    std::thread::scope(|scope| {
        for text in ["one", "two"] {
            let cache = &cache;
            scope.spawn(move || assert_eq!(cache.get(&source(text), H200).unwrap().0.image, b"code"));
        }
    });
    assert_eq!((cache.statistics().compiles, cache.statistics().misses), (2, 2));
    let device = Device::new(0).unwrap();
    assert_eq!(cache.load(&device, &source("one")).unwrap().1, Origin::Memory);
}
