//! What kernels are built for.

use crate::{entry, specific};
use tilewright_build_ptx::targets::{ArchOption, Kind, Targets};
use tilewright_driver::{Arch, Source};

fn archs(list: &[&str]) -> Vec<ArchOption> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

fn names(targets: &Targets, source: &Source) -> Vec<String> {
    targets.of(source).iter().map(|target| target.to_string()).collect()
}

/// A kernel that includes a header.
fn including(header: &str) -> Source {
    Source { headers: vec![(header.into(), "".into())], ..entry(0).source }
}

#[test]
fn architectures_as_people_write_them() {
    for (text, arch, is_specific) in
        [("80", (8, 0), false), ("90a", (9, 0), true), ("sm_89", (8, 9), false), ("120", (12, 0), false)]
    {
        let parsed: ArchOption = text.parse().unwrap();
        assert_eq!((parsed.arch, parsed.specific), (Arch::new(arch.0, arch.1), is_specific), "{text}");
    }
    for text in ["", "a", "9.0", "hopper", "9", "+90", "-90", "90aa", "sm_", "99999999999"] {
        let error = text.parse::<ArchOption>().unwrap_err();
        assert!(error.contains(&format!("`{text}`")) && error.contains("write `80`"), "{error}");
    }
}

#[test]
fn ptx_alone_cubins_alone_and_both() {
    let plain = entry(1).source;
    assert_eq!(names(&Targets::new(Vec::new(), None).unwrap(), &plain), ["compute_80"]);
    assert_eq!(names(&Targets::new(archs(&["80", "90a"]), None).unwrap(), &plain), ["compute_80", "sm_80", "sm_90"]);
    assert_eq!(names(&Targets::new(archs(&["86"]), Some(Kind::Cubin)).unwrap(), &plain), ["sm_86"]);
    assert_eq!(names(&Targets::new(archs(&["86"]), Some(Kind::Ptx)).unwrap(), &plain), ["compute_80"]);
    let error = Targets::new(Vec::new(), Some(Kind::Cubin)).unwrap_err().to_string();
    assert!(error.contains("--arch 90"), "{error}");
}

#[test]
fn an_architecture_that_is_named_twice_is_one() {
    for twice in [["90", "90a"], ["90a", "90"]] {
        let targets = Targets::new(archs(&twice), Some(Kind::Cubin)).unwrap();
        assert_eq!(names(&targets, &entry(1).source), ["sm_90"]);
        assert_eq!(names(&targets, &specific(1).source), ["sm_90a"]);
        assert_eq!(targets.all().len(), 1);
    }
}

#[test]
fn kernels_are_built_for_what_they_declare() {
    let all = Targets::new(archs(&["80", "89", "90a", "100"]), None).unwrap();
    assert_eq!(names(&all, &specific(1).source), ["sm_90a"]);
    assert_eq!(names(&all, &including("tilewright/arch/tensor_map.cuh")), ["compute_90", "sm_90", "sm_100"]);
    let with_form = including("tilewright/arch/grid.cuh");
    assert_eq!(names(&all, &with_form), ["compute_80", "compute_90", "sm_80", "sm_89", "sm_90", "sm_100"]);
    let without = Targets::new(archs(&["90"]), None).unwrap();
    assert_eq!(names(&without, &specific(1).source), <[&str; 0]>::default());
}
