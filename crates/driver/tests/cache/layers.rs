//! In which order the layers are asked, and what serves which device.

use std::path::PathBuf;

use tilewright_driver::{
    Arch, Bundle, Compiled, Device, Error, KernelCache, Origin, Source, Statistics, Target, TargetKind,
};

use super::{bundle_of, compiled, source};
use crate::{child, skip, stub};

use TargetKind::{ArchSpecific, Plain, Portable};

const ARCHS: [Arch; 7] = [
    Arch::new(7, 5),
    Arch::new(8, 0),
    Arch::new(8, 6),
    Arch::new(8, 9),
    Arch::new(9, 0),
    Arch::new(10, 0),
    Arch::new(10, 3),
];

/// Code that tells where it lies.
fn code(target: Target, place: &str) -> Compiled {
    let image = format!("{target} {place}").into_bytes();
    Compiled { arch: target.arch, target: target.kind, image, ..compiled("", 1) }
}

/// A bundle with code for these targets, all of one source.
fn bundle(source: &Source, targets: &[Target], place: &str) -> Bundle {
    let keys = source.keys();
    bundle_of(targets.iter().map(|target| (keys.of(*target), code(*target, place))))
}

/// What a search has to give, by the list in the documentation of the cache: the least of (step, how much lesser, which bundle).
fn expected(wanted: Target, bundles: &[Vec<Target>], on_disk: bool) -> Option<String> {
    let number = |arch: Arch| 100 * arch.major + arch.minor;
    let mut found = Vec::new();
    for (place, targets) in bundles.iter().enumerate() {
        for target in targets.iter().filter(|target| number(target.arch) <= number(wanted.arch)) {
            let lesser = number(wanted.arch) - number(target.arch);
            let step = match (wanted.kind, target.kind) {
                (Plain, Plain) if target.arch.major == wanted.arch.major => 1,
                (ArchSpecific, ArchSpecific) | (Portable, Portable) if lesser == 0 => 1,
                (Plain | Portable, Portable) => 3,
                _ => continue,
            };
            found.push(((step, lesser, place), format!("{target} {place}")));
        }
    }
    found.extend(on_disk.then(|| ((2, 0, 0), format!("{wanted} disk"))));
    found.into_iter().min().map(|(_, name)| name)
}

#[test]
fn the_best_serves() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let text = source("text");
    let (mut served, mut missed) = (0, 0);
    for round in 0..200 {
        let mut target = |of: &[TargetKind]| Target::new(of[random(of.len())], ARCHS[random(ARCHS.len())]);
        let wanted = target(&[Plain, Plain, ArchSpecific, Portable]);
        let mut held: Vec<Vec<Target>> =
            (0..3).map(|_| (0..3).map(|_| target(&[Plain, Plain, ArchSpecific, Portable])).collect()).collect();
        held.iter_mut().for_each(|targets| targets.truncate(1 + random(3)));
        let root = tempfile::tempdir().unwrap();
        let on_disk = random(3) == 0;
        let text = Source { target: wanted.kind, ..text.clone() };
        if on_disk {
            KernelCache::open(root.path()).put(&text, code(wanted, "disk"));
        }
        let cache = KernelCache::open(root.path());
        for (place, targets) in held.iter().enumerate() {
            cache.add_bundle(bundle(&text, targets, &place.to_string()));
        }
        let found = cache.find(&text, wanted.arch).map(|(found, _)| String::from_utf8(found.image.clone()).unwrap());
        assert_eq!(found, expected(wanted, &held, on_disk), "round {round}: {wanted} of {held:?}, on disk {on_disk}");
        if found.is_some() {
            assert_eq!(cache.find(&text, wanted.arch).unwrap().1, Origin::Memory, "and is kept");
            served += 1;
        } else {
            missed += 1;
        }
        assert_eq!(cache.statistics().unusable, 0);
    }
    assert!(served > 50 && missed > 25, "{served} {missed}");
}

#[test]
fn what_is_damaged_is_passed_over() {
    let text = source("text");
    let archs = [Arch::new(8, 9), Arch::new(8, 6), Arch::new(8, 0)];
    let keys = text.keys();
    let [exact, less, least] = archs.map(|arch| Target::new(Plain, arch));
    let cache = KernelCache::in_memory();
    // Of an old compiler; under the key of another target; and one as it should be.
    let old = Compiled { compiler: (11, 8), ..code(exact, "old") };
    cache.add_bundle(bundle_of([(keys.of(exact), old), (keys.of(less), code(least, "wrong"))]));
    cache.add_bundle(bundle_of([(keys.of(less), code(exact, "wrong too")), (keys.of(least), code(least, "right"))]));
    let (found, origin) = cache.find(&text, archs[0]).unwrap();
    assert_eq!((&*found, origin), (&code(least, "right"), Origin::Bundle));
    let counted = cache.statistics();
    assert_eq!((counted.bundle, counted.misses), (1, 0));
    assert!(counted.unusable >= 1, "{counted:?}");
}

#[test]
fn nvrtc_flags() {
    let mut command = child::command("nvrtc flags");
    child::check(&command.env("NVRTC_APPEND_FLAGS", "--use_fast_math").output().unwrap());
    child::check(&child::command("nvrtc flags").output().unwrap());
}

pub(crate) fn child_nvrtc_flags() {
    let set = std::env::var_os("NVRTC_APPEND_FLAGS").is_some();
    let (text, target) = (source("text"), Target::new(Plain, Arch::new(9, 0)));
    let cache = KernelCache::in_memory();
    cache.add_bundle(bundle(&text, &[target], "0"));
    assert_eq!(cache.find(&text, target.arch).is_none(), set);
    assert_eq!(cache.is_empty(), set);
}

#[test]
fn an_empty_bundle_is_nothing() {
    let cache = KernelCache::in_memory();
    cache.add_bundle(bundle_of([]));
    assert!(cache.is_empty());
    cache.add_bundle(bundle(&source("text"), &[Target::new(Portable, ARCHS[0])], "0"));
    assert!(!cache.is_empty());
}

#[test]
fn what_the_driver_refuses_is_a_miss() {
    let root = tempfile::tempdir().unwrap();
    let Some(library) = stub::driver(root.path(), 12_040, 0, &[]) else {
        return skip("cache::layers::what_the_driver_refuses_is_a_miss", "no C compiler");
    };
    let mut command = child::command("refused targets");
    command.env("TILEWRIGHT_LIBCUDA", library).env("HOME", root.path()).env("TILEWRIGHT_CUDA", "/nowhere");
    child::check(&command.env("FOLDER", root.path().join("kernels")).output().unwrap());
}

/// On a device of 9.0 that refuses images which begin with an X.
pub(crate) fn child_refused_targets() {
    let device = Device::new(0).unwrap();
    let text = source("#error is not compiled");
    let keys = text.keys();
    let folder = PathBuf::from(child::argument("FOLDER"));
    let refused = |target: Target, place: &str| {
        let image = format!("X {target} {place}").into_bytes();
        (keys.of(target), Compiled { image, ..code(target, place) })
    };
    let [exact, same, less, least] = [(Plain, 9), (Portable, 9), (Portable, 8), (Portable, 7)]
        .map(|(kind, major)| Target::new(kind, Arch::new(major, 0)));
    KernelCache::open(&folder).put(&text, refused(exact, "disk").1);
    let cache = KernelCache::open(&folder);
    cache.add_bundle(bundle_of([refused(exact, "0"), refused(same, "0"), refused(less, "0")]));
    cache.add_bundle(bundle_of([refused(exact, "1"), (keys.of(less), code(less, "1")), refused(least, "1")]));
    // Refused: both cubins, that on the disk, the text for 9.0 and the first for 8.0.
    assert_eq!(cache.load(&device, &text).unwrap().1, Origin::Bundle);
    let expected = Statistics { bundle: 5, disk: 1, unusable: 5, ..Statistics::default() };
    assert_eq!(cache.statistics(), expected);
    assert_eq!(cache.load(&device, &text).unwrap().1, Origin::Memory);
    let (found, origin) = cache.get(&text, device.arch()).unwrap();
    assert_eq!((&*found, origin), (&code(less, "1"), Origin::Memory));
    assert_eq!(cache.statistics(), Statistics { memory: 2, ..expected });

    // All are refused, so it is compiled; each is tried once, also when it is asked for again.
    let cache = KernelCache::open(&folder);
    let archs: Vec<Arch> = ARCHS.into_iter().filter(|arch| *arch <= device.arch()).collect();
    let texts = archs.iter().map(|arch| refused(Target::new(Portable, *arch), "0"));
    cache.add_bundle(bundle_of(texts.chain([refused(exact, "0")])));
    for _ in 0..3 {
        let error = cache.load(&device, &text).unwrap_err();
        assert!(matches!(error, Error::NoNvrtc { .. } | Error::Compile { .. }), "{error:?}");
        assert_eq!(cache.statistics().unusable, archs.len() as u64 + 2);
    }
}
