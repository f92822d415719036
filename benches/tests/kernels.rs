//! The benchmark's own kernels compile, and take the parameters that they are launched with.

use std::io::Write;
use tilewright_benches::kernels::{Empty, Spin};
use tilewright_driver::{Arch, Error, compile, toolkit};

pub(crate) const H200: Arch = Arch::new(9, 0);

/// Whether kernels can be compiled here; if not, the test is skipped by name.
pub(crate) fn has_nvrtc(name: &str) -> bool {
    let reason = match toolkit::nvrtc() {
        Ok(_) => return true,
        Err(Error::NoNvrtc { .. }) => "no NVRTC",
        Err(other) => panic!("{other}"),
    };
    eprintln!("SKIP {name}: {reason}");
    if let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "SKIP {name}: {reason}").unwrap();
    }
    false
}

#[test]
fn they_compile() {
    if !has_nvrtc("benches kernels::they_compile") {
        return;
    }
    let sources = [64, 1024, 4096, 32_764].map(Empty::source).into_iter().chain([Spin::source()]);
    for source in sources {
        let compiled = compile(&source, H200).unwrap();
        assert_eq!(compiled.kernels.len(), 1, "{}", compiled.log);
        assert_eq!(compiled.kernels[0].name, source.name);
    }
}
