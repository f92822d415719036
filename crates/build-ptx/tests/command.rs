//! The command line.

use crate::{file, nvrtc};
use clap::Parser as _;
use std::path::Path;
use tilewright_build_ptx::command::{Options, run};
use tilewright_dims::dims;
use tilewright_driver::{Arch, Bundle, KernelCache, Origin};
use tilewright_expr::In;
use tilewright_ops::{Plan, Tensor, fuse};

dims! { X }

/// What the command says, or its error.
fn build(arguments: &[&str]) -> Result<String, String> {
    let options = Options::try_parse_from([&["build-ptx"], arguments].concat()).map_err(|error| error.to_string())?;
    let mut said = Vec::new();
    run(&options, &mut said).map_err(|error| format!("{error:#}"))?;
    Ok(String::from_utf8(said).unwrap())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn plan() -> Plan {
    let x = Tensor::<f32, (X,)>::from_vec([100_000], vec![0.0; 100_000]).unwrap();
    fuse(|x: In<f32, (X,)>| (x * 3.5 - 1.0).store::<(X,)>()).plan(&x).unwrap()
}

#[test]
fn a_manifest_becomes_a_bundle() {
    if !nvrtc("command::a_manifest_becomes_a_bundle") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (manifest, out) = (folder.path().join("kernels.toml"), file(&folder));
    std::fs::write(&manifest, plan().manifest().to_string()).unwrap();
    let said = build(&["--manifest", text(&manifest), "--arch", "90", "--out", text(&out)]).unwrap();
    assert!(said.contains("3 kernels") && said.contains("3 compiled, 0 kept") && said.contains("sm_90"), "{said}");
    let said = build(&["--manifest", text(&manifest), "--arch", "90", "--out", text(&out)]).unwrap();
    assert!(said.contains("0 compiled, 3 kept"), "{said}");
    let rows = std::fs::read_to_string(out.with_extension("tsv")).unwrap();
    assert_eq!(rows.lines().count(), 4, "{rows}");

    let cache = KernelCache::in_memory();
    cache.add_bundle(Bundle::open(&out).unwrap());
    for source in plan().sources().unwrap() {
        assert_eq!(cache.find(&source, Arch::new(9, 0)).map(|(_, origin)| origin), Some(Origin::Bundle));
    }
}

#[test]
fn mistakes_name_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("kernels.toml");
    let broken = plan().manifest().to_string().replace(" = f32 fma ", " = f32 fmaa ");
    std::fs::write(&manifest, &broken).unwrap();
    let line = 1 + broken.lines().position(|line| line.contains(" fmaa ")).unwrap();
    let error = build(&["--manifest", text(&manifest)]).unwrap_err();
    assert!(error.contains(&format!("kernels.toml:{line}:")) && error.contains("fmaa"), "{error}");
    let error = build(&["--manifest", text(&folder.path().join("absent.toml"))]).unwrap_err();
    assert!(error.contains("absent.toml"), "{error}");
    for (arguments, expected) in [
        (&["--arch", "hopper"][..], "`hopper` is no architecture; write `80`"),
        (&["--kind", "cubin"], "Add `--arch 90`"),
        (&["--suite", "convolutions"], "[possible values: functions, reductions, patterns, pipelines]"),
        (&["--update-budgets"], "--budgets"),
    ] {
        let error = build(arguments).unwrap_err();
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}
