//! The benchmark's own kernels compile, and take the parameters that they are launched with.

use std::io::Write;
use tilewright_benches::cases::Random;
use tilewright_benches::kernels::{Empty, Flush, Spin, Stepwise};
use tilewright_driver::{Arch, Error, compile, toolkit};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};

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
    let sources = [64, 1024, 4096, 32_764].map(Empty::source).into_iter().chain([Spin::source(), Flush::source()]);
    for source in sources {
        let compiled = compile(&source, H200).unwrap();
        assert_eq!(compiled.kernels.len(), 1, "{}", compiled.log);
        assert_eq!(compiled.kernels[0].name, source.name);
    }
}

/// What the host model lacks and these kernels use.
const VECTORS: &str = "#include \"tilewright/prelude.cuh\"
struct float4 { float x, y, z, w; };
struct uchar4 { unsigned char x, y, z, w; };
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
";

#[test]
fn single_operations_compute_what_they_say() {
    if HostModel::compiler().is_none() {
        skip("benches kernels::single_operations_compute_what_they_say", "no C++ compiler");
        return;
    }
    let text = VECTORS.to_owned() + &Stepwise::source().text;
    let model = HostModel::compile(&[KernelSource { name: "stepwise", text: &text }]).unwrap_or_else(|e| panic!("{e}"));
    let bytes = Random::new(8).pixels(44);
    // The last group is beyond what is asked for.
    let mut x = vec![f32::NAN; 44];
    for (kernel, by) in [("convert", 0.0f32), ("multiply", 0.54), ("add", -1.0)] {
        let (to, from) = (x.as_mut_ptr() as u64, bytes.as_ptr() as u64);
        let mut block = [to.to_ne_bytes(), from.to_ne_bytes()].concat();
        block.extend_from_slice(&10u32.to_ne_bytes());
        block.extend_from_slice(&by.to_ne_bytes());
        let launch = Launch { grid: [3, 1, 1], block: [4, 1, 1], shared_bytes: 0, schedule: Schedule::Backward };
        // SAFETY: both pointers are good for 44 elements, of which the kernels use 10 groups of four.
        unsafe { model.run(0, kernel, launch, &block) }.unwrap_or_else(|e| panic!("{kernel}: {e}"));
    }
    for (got, byte) in x.iter().zip(&bytes).take(40) {
        assert_eq!(*got, f32::from(*byte) * 0.54 - 1.0);
    }
    assert!(x[40..].iter().all(|x| x.is_nan()));
}
