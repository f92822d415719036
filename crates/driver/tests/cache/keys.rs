//! What decides the key of compiled code.

use tilewright_driver::{Arch, Source, TargetKind};

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
fn options_replace_defaults() {
    let with =
        |option: &str| Source { options: vec![option.into()], ..source("") }.all_options(Arch::new(9, 0)).join(" ");
    assert_eq!(with("-DA"), "--gpu-architecture=sm_90 --std=c++17 --fmad=false -DNDEBUG --ptxas-options=-v -DA");
    assert_eq!(with("-fmad=true"), "--gpu-architecture=sm_90 --std=c++17 -DNDEBUG --ptxas-options=-v -fmad=true");
    assert_eq!(with("--std=c++20"), "--gpu-architecture=sm_90 --fmad=false -DNDEBUG --ptxas-options=-v --std=c++20");
}
