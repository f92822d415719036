//! Kernels through NVRTC, which takes other things for granted than the host's compiler: for each generation of GPUs.

use super::rows::{AMPERE, HOPPER, SMALL};
use super::{rows, weights};
use crate::support::{Random, skip};
use tilewright_driver::{Arch, Error, Source, TargetKind, compile, toolkit};
use tilewright_headers::headers_for;
use tilewright_ops::conv::{Conv2d, KernelText, Multiprocessor, Pass, Precision, Problem};

/// Architectures, each with what a multiprocessor of it has.
const GENERATIONS: [(Arch, Multiprocessor); 5] = [
    (Arch::new(8, 0), AMPERE),
    (Arch::new(8, 6), SMALL),
    (Arch::new(8, 9), SMALL),
    (Arch::new(9, 0), HOPPER),
    (Arch::new(10, 0), HOPPER),
];

/// Whole channels and odd ones, in all element types, with a stride and a dilation.
fn layers() -> [Problem; 3] {
    let plain = Conv2d::new();
    [
        ([2, 14, 14, 64], [64, 3, 3, 8], Precision::F16, plain.padding(1)),
        ([2, 20, 19, 33], [33, 5, 5, 1], Precision::Bf16, plain.padding(2).dilation(2)),
        ([1, 13, 17, 32], [32, 3, 7, 16], Precision::F32, plain.padding(3).stride(2)),
    ]
    .map(|(x, w, precision, params)| Problem::of_forward(x, w, precision, &params).unwrap())
}

/// To machine code. Whether NVRTC knows the architecture.
fn compiles(kernel: &KernelText, arch: Arch, what: &str) -> bool {
    let headers = headers_for(&kernel.text);
    let source = Source {
        name: "conv2d".into(),
        headers: headers.into_iter().map(|(name, text)| (name.to_string(), text.into())).collect(),
        text: kernel.text.clone(),
        options: Vec::new(),
        target: if kernel.target == TargetKind::Portable { TargetKind::Plain } else { kernel.target },
    };
    match compile(&source, arch) {
        Ok(_) => true,
        Err(Error::UnknownArch { .. }) => false,
        Err(error) => panic!("{arch}, {what}: {error}"),
    }
}

#[test]
fn for_every_generation() {
    if toolkit::nvrtc().is_err() {
        return skip("conv::compiles::for_every_generation", "no NVRTC");
    }
    let mut known = Vec::new();
    for (number, (arch, sm)) in GENERATIONS.into_iter().enumerate() {
        let mut r = Random(131 + number as u64);
        let mut all = Vec::new();
        for problem in layers() {
            for pass in [Pass::Forward, Pass::GradInput] {
                let (config, kernel) = rows::random(&mut r, &problem, pass, sm);
                all.push((kernel, format!("{config:?}, {pass:?} of {problem:?}")));
            }
            let (config, (multiplying, adding)) = weights::random(&mut r, &problem, sm);
            let what = format!("{config:?}, weights of {problem:?}");
            all.extend([Some(multiplying), adding].into_iter().flatten().map(|kernel| (kernel, what.clone())));
        }
        match all.iter().all(|(kernel, what)| compiles(kernel, arch, what)) {
            true => known.push(arch),
            false => skip(&format!("conv::compiles::for_every_generation, {arch}"), "this NVRTC does not know it"),
        }
    }
    assert!(known.contains(&Arch::new(9, 0)), "{known:?}");
}
