//! What a cache says about its work.

use tilewright_driver::{Compiled, Error, KernelCache, Origin, Statistics};

use super::{ARCH, bundle_of, compiled, only_entry, source};

#[test]
fn each_layer_is_counted() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    KernelCache::open(&folder).put(&source("on disk"), compiled("on disk", 10));
    let cache = KernelCache::open(&folder);
    cache.add_bundle(bundle_of([(source("bundled").key(ARCH), compiled("bundled", 9))]));
    assert_eq!(cache.statistics(), Statistics::default());

    let origin = |text| cache.find(&source(text), ARCH).map(|(_, origin)| origin);
    assert_eq!(origin("bundled"), Some(Origin::Bundle));
    assert_eq!(origin("on disk"), Some(Origin::Disk));
    assert_eq!(
        (origin("on disk"), origin("bundled"), origin("on disk")),
        (Some(Origin::Memory), Some(Origin::Memory), Some(Origin::Memory))
    );
    assert_eq!((origin("nowhere"), origin("nowhere")), (None, None));
    let expected = Statistics { bundle: 1, disk: 1, memory: 3, misses: 2, ..Statistics::default() };
    assert_eq!(cache.statistics(), expected);

    // A clone is the same cache.
    assert!(cache.clone().find(&source("on disk"), ARCH).is_some());
    assert_eq!(cache.statistics(), Statistics { memory: 4, ..expected });
}

#[test]
fn unusable_entries_are_counted() {
    let root = tempfile::tempdir().unwrap();
    KernelCache::open(root.path()).put(&source("text"), compiled("text", 10));
    let file = only_entry(root.path());
    let mut content = std::fs::read(&file).unwrap();
    content[70] ^= 1;
    std::fs::write(&file, content).unwrap();
    let cache = KernelCache::open(root.path());
    assert!(cache.find(&source("text"), ARCH).is_none());
    assert_eq!(cache.statistics(), Statistics { unusable: 1, misses: 1, ..Statistics::default() });
    cache.put(&source("old"), Compiled { compiler: (11, 8), ..compiled("old", 10) });
    assert!(KernelCache::open(root.path()).find(&source("old"), ARCH).is_none());
}

#[test]
fn a_failed_compilation_is_a_miss_and_no_compile() {
    let cache = KernelCache::in_memory();
    let error = cache.get(&source("text"), ARCH).unwrap_err();
    assert!(matches!(error, Error::NoNvrtc { .. } | Error::UnknownArch { .. }), "{error}");
    assert_eq!(cache.statistics(), Statistics { misses: 1, ..Statistics::default() });
}
