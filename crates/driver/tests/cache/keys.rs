//! What decides the key of compiled code.

use tilewright_driver::{Arch, Source, Target, TargetKind};

use super::{ARCH, source};

#[test]
fn key_covers_what_decides_the_code() {
    let base = source("text");
    let header = |name: &str, text: &'static str| vec![(name.to_owned(), text.into())];
    let others = [
        source("text "),
        Source { headers: header("a.h", ""), ..base.clone() },
        Source { headers: header("a.h", "x"), ..base.clone() },
        Source { headers: header("a.h", "y"), ..base.clone() },
        Source { headers: header("a.", "h"), ..base.clone() },
        Source { options: vec!["-DX".into()], ..base.clone() },
        Source { target: TargetKind::ArchSpecific, ..base.clone() },
        Source { target: TargetKind::Portable, ..base.clone() },
    ];
    let mut keys: Vec<_> = others.iter().map(|other| other.key(ARCH)).collect();
    keys.extend([base.key(ARCH), base.key(Arch::new(9, 0))]);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
    let owned = Source { headers: vec![("a.h".to_owned(), "x".to_owned().into())], ..base.clone() };
    assert_eq!(owned.key(ARCH), others[2].key(ARCH), "who owns a header's text does not matter");
    assert_eq!(Source { name: "other".into(), ..base.clone() }.key(ARCH), base.key(ARCH));
}

#[test]
fn one_pass_gives_the_keys_of_all_targets() {
    let text = source("text");
    let archs = [(8, 0), (8, 9), (9, 0), (10, 0), (1, 0), (100, 0), (12, 1), (1, 21)].map(|(a, b)| Arch::new(a, b));
    let kinds = [TargetKind::Plain, TargetKind::ArchSpecific, TargetKind::Portable];
    let keys = text.keys();
    let mut all = Vec::new();
    for (arch, target) in archs.into_iter().flat_map(|arch| kinds.map(|kind| (arch, kind))) {
        let key = Source { target, ..text.clone() }.key(arch);
        assert_eq!(keys.of(Target::new(target, arch)), key, "the source's own form is not in what is hashed once");
        all.push(key);
    }
    let other = source("other").keys();
    all.extend(archs.map(|arch| other.of(Target::new(TargetKind::Plain, arch))));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn options_replace_defaults() {
    let with =
        |option: &str| Source { options: vec![option.into()], ..source("") }.all_options(Arch::new(9, 0)).join(" ");
    assert_eq!(with("-DA"), "--gpu-architecture=sm_90 --std=c++17 --fmad=false -DNDEBUG --ptxas-options=-v -DA");
    assert_eq!(with("-fmad=true"), "--gpu-architecture=sm_90 --std=c++17 -DNDEBUG --ptxas-options=-v -fmad=true");
    assert_eq!(with("--std=c++20"), "--gpu-architecture=sm_90 --fmad=false -DNDEBUG --ptxas-options=-v --std=c++20");
}
