//! Bundles, built and built again.

use crate::{entry, file, nvrtc, specific};
use tilewright_build_ptx::build::{Built, build};
use tilewright_build_ptx::catalogue::Entry;
use tilewright_build_ptx::targets::{Kind, Targets};
use tilewright_driver::{Arch, Bundle, KernelCache, Origin, Source};

fn targets(archs: &[&str], kind: Option<Kind>) -> Targets {
    Targets::new(archs.iter().map(|arch| arch.parse().unwrap()).collect(), kind).unwrap()
}

fn compiled(built: &Built) -> Vec<bool> {
    built.rows.iter().map(|row| row.ms.is_some()).collect()
}

#[test]
fn only_what_changed_is_compiled() {
    if !nvrtc("bundles::only_what_changed_is_compiled") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/folder/kernels.twb");
    let both = targets(&["90"], None);
    let first = build(&[entry(1), entry(2)], &both, &out, &|_, _| {}).unwrap();
    assert_eq!(compiled(&first), [true; 4]);
    let written = std::fs::read(&out).unwrap();
    let again = build(&[entry(1), entry(2)], &both, &out, &|_, _| {}).unwrap();
    assert_eq!((compiled(&again), again.dropped, again.bytes), (vec![false; 4], 0, first.bytes));
    assert_eq!(std::fs::read(&out).unwrap(), written);
    // In another order it is the same.
    build(&[entry(2), entry(1)], &both, &out, &|_, _| {}).unwrap();
    assert_eq!(std::fs::read(&out).unwrap(), written);
    let other = build(&[entry(3), entry(2)], &both, &out, &|_, _| {}).unwrap();
    assert_eq!((compiled(&other), other.dropped), (vec![true, true, false, false], 2));
    // What an older one has of another target is not carried along.
    let less = build(&[entry(2)], &targets(&["90"], Some(Kind::Cubin)), &out, &|_, _| {}).unwrap();
    assert_eq!((compiled(&less), less.dropped, Bundle::open(&out).unwrap().len()), (vec![false], 3, 1));
    // A damaged bundle is replaced, another file is not.
    std::fs::write(&out, &written[..written.len() / 2]).unwrap();
    assert_eq!(compiled(&build(&[entry(2)], &both, &out, &|_, _| {}).unwrap()), [true; 2]);
    for text in ["schema = 1", "a"] {
        std::fs::write(&out, text).unwrap();
        let error = build(&[entry(2)], &both, &out, &|_, _| {}).unwrap_err().to_string();
        assert!(error.contains("kernels.twb is there, and no bundle"), "{error}");
        assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
    }
}

#[test]
fn a_program_finds_its_kernels() {
    if !nvrtc("bundles::a_program_finds_its_kernels") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = file(&folder);
    let built = build(&[entry(1), specific(2)], &targets(&["86", "90a"], None), &out, &|_, _| {}).unwrap();
    assert_eq!(built.rows.len(), 4);
    let cache = KernelCache::in_memory();
    cache.add_bundle(Bundle::open(&out).unwrap());
    let target = |source: &Source, arch| {
        let (code, origin) = cache.find(source, arch)?;
        assert_eq!(origin, Origin::Bundle);
        Some(code.target.target(code.arch))
    };
    let (plain, hopper) = (entry(1).source, specific(2).source);
    assert_eq!(target(&plain, Arch::new(9, 0)).as_deref(), Some("sm_90"));
    assert_eq!(target(&plain, Arch::new(8, 9)).as_deref(), Some("sm_86"));
    assert_eq!(target(&plain, Arch::new(12, 0)).as_deref(), Some("compute_80"));
    assert_eq!(target(&plain, Arch::new(7, 5)), None);
    assert_eq!(target(&hopper, Arch::new(9, 0)).as_deref(), Some("sm_90a"));
    assert_eq!(target(&hopper, Arch::new(10, 0)), None);
}

#[test]
fn failures_leave_the_bundle_as_it_was() {
    if !nvrtc("bundles::failures_leave_the_bundle_as_it_was") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = file(&folder);
    let portable = targets(&[], None);
    build(&[entry(1)], &portable, &out, &|_, _| {}).unwrap();
    let before = std::fs::read(&out).unwrap();
    let broken =
        Entry { operation: "broken".into(), source: Source { text: "no C++".into(), ..entry(2).source }, ..entry(2) };
    let built = build(&[entry(2), broken], &portable, &out, &|_, _| {}).unwrap();
    let [failure] = &built.failures[..] else { panic!("{:?}", built.failures) };
    assert_eq!((failure.name.as_str(), failure.target.to_string().as_str()), ("broken 2", "compute_80"));
    assert!(failure.error.contains("broken"), "{}", failure.error);
    assert_eq!(std::fs::read(&out).unwrap(), before);
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "nothing else is left there");
}

#[test]
fn mistakes_are_told_once_with_what_is_known() {
    if !nvrtc("bundles::mistakes_are_told_once_with_what_is_known") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = file(&folder);
    let error = build(&[entry(1), entry(2)], &targets(&["57"], None), &out, &|_, _| {}).unwrap_err().to_string();
    assert!(error.contains("does not know sm_57; it knows ") && error.contains("sm_90"), "{error}");
    std::fs::write(&out, "").unwrap();
    let beneath = out.join("beneath/kernels.twb");
    let error = format!("{:#}", build(&[entry(1)], &targets(&[], None), &beneath, &|_, _| {}).unwrap_err());
    assert!(error.contains("cannot make the folder") && error.contains("beneath"), "{error}");
    let left = build(&[specific(1), entry(1)], &targets(&["90"], None), &file(&folder), &|_, _| {}).unwrap();
    assert_eq!(left.left_out, ["add 1"]);
}
