//! A program whose kernels are all there does not look for a compiler.

use std::{env, fs};

use tilewright_driver::{Bundle, Compiled, Device, Error, KernelCache, Origin, TargetKind, toolkit};

use super::{compiled, source};
use crate::{child, listener::Listener, skip, stub};

const H200: tilewright_driver::Arch = tilewright_driver::Arch::new(9, 0);

#[test]
fn nothing_looks_for_nvrtc() {
    let root = tempfile::tempdir().unwrap();
    let Some(library) = stub::driver(root.path(), 12_040, 0, &[]) else {
        return skip("cache::without_compiler::nothing_looks_for_nvrtc", "no C compiler");
    };
    let (home, bundle) = (root.path().join("home"), root.path().join("kernels.twb"));
    fs::create_dir(&home).unwrap();
    let kernels =
        ["one", "two", "three"].map(|text| (source(text).key(H200), Compiled { arch: H200, ..compiled(text, 99) }));
    Bundle::write(&bundle, kernels).unwrap();
    let mut command = child::command("bundle and no nvrtc");
    command.env("TILEWRIGHT_LIBCUDA", library).env("TILEWRIGHT_CUDA", "/nowhere").env("TILEWRIGHT_BUNDLES", &bundle);
    child::check(&command.env("HOME", &home).output().unwrap());
}

pub(crate) fn child_bundle_and_no_nvrtc() {
    let listener = Listener::default();
    tracing::subscriber::set_global_default(listener.clone()).unwrap();
    let told = || listener.heard().iter().filter(|event| event.starts_with("tilewright_driver: ")).count();
    let (cache, device) = (KernelCache::shared(), Device::new(0).unwrap());
    assert!(!cache.is_empty());
    assert!(cache.prefetch(source("two"), H200).wait().is_ok());
    for text in ["one", "two", "three", "one"] {
        cache.load(&device, &source(text)).unwrap();
    }
    assert_eq!(cache.get(&source("three"), H200).unwrap().1, Origin::Memory);
    cache.put(&source("four"), Compiled { arch: H200, target: TargetKind::Plain, ..compiled("four", 9) });
    cache.load(&device, &source("four")).unwrap();
    let counted = cache.statistics();
    assert_eq!((counted.bundle, counted.misses, counted.compiles), (3, 0, 0));
    assert!(!toolkit::attempted() && told() == 0);

    // And what no layer has is looked for with the compiler, which says so.
    let error = cache.load(&device, &source("#error not ahead")).unwrap_err();
    assert!(matches!(error, Error::NoNvrtc { .. } | Error::Compile { .. }), "{error}");
    assert!(toolkit::attempted() && told() == 1, "{}", env::var("TILEWRIGHT_CUDA").unwrap());
}
