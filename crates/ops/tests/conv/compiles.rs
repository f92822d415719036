//! Kernels through NVRTC, which takes other things for granted than the host's compiler: for each generation of GPUs.

use super::rows::{AMPERE, HOPPER, SMALL};
use super::{rows, weights};
use crate::support::{Random, skip};
use tilewright_driver::{Arch, Error, KernelResources, Source, TargetKind, compile, toolkit};
use tilewright_headers::headers_for;
use tilewright_ops::conv::{
    Conv2d, KernelText, Multiprocessor, Pass, Precision, Problem, RowOperation, WeightOperation, row_kernel,
    weight_kernels,
};
use tilewright_perf::{DeviceFacts, Models};

/// Architectures, each with what a multiprocessor of it has.
const GENERATIONS: [(Arch, Multiprocessor); 5] = [
    (Arch::new(8, 0), AMPERE),
    (Arch::new(8, 6), SMALL),
    (Arch::new(8, 9), SMALL),
    (Arch::new(9, 0), HOPPER),
    (Arch::new(10, 0), HOPPER),
];

/// Architectures whose kernels are compiled of all layers; of the others, one layer each: their texts are the same but for sizes.
const WHOLE: [Arch; 2] = [Arch::new(8, 0), Arch::new(9, 0)];

/// Whole channels and odd ones, in all element types, with a stride and a dilation, and weights that rest.
fn layers() -> [Problem; 4] {
    let plain = Conv2d::new();
    [
        ([2, 14, 14, 64], [64, 3, 3, 8], Precision::F16, plain.padding(1)),
        ([2, 20, 19, 33], [33, 5, 5, 1], Precision::Bf16, plain.padding(2).dilation(2)),
        ([1, 13, 17, 32], [32, 3, 7, 16], Precision::F32, plain.padding(3).stride(2)),
        ([2, 20, 19, 48], [48, 7, 7, 16], Precision::F32, plain.padding(3)),
    ]
    .map(|(x, w, precision, params)| Problem::of_forward(x, w, precision, &params).unwrap())
}

/// A kernel as NVRTC takes it.
fn source(kernel: &KernelText) -> Source {
    let headers = headers_for(&kernel.text);
    Source {
        name: "conv2d".into(),
        headers: headers.into_iter().map(|(name, text)| (name.to_string(), text.into())).collect(),
        text: kernel.text.clone(),
        options: Vec::new(),
        target: if kernel.target == TargetKind::Portable { TargetKind::Plain } else { kernel.target },
    }
}

/// What a kernel takes of a GPU, compiled to machine code.
pub(super) fn resources(kernel: &KernelText, arch: Arch) -> KernelResources {
    let compiled = compile(&source(kernel), arch).unwrap_or_else(|error| panic!("{arch}: {error}"));
    compiled.kernels.into_iter().next().expect("a kernel")
}

/// To machine code. Whether NVRTC knows the architecture.
fn compiles(kernel: &KernelText, arch: Arch, what: &str) -> bool {
    match compile(&source(kernel), arch) {
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
        let one = |place: &usize| WHOLE.contains(&arch) || *place == number % layers().len();
        for (_, problem) in layers().into_iter().enumerate().filter(|(place, _)| one(place)) {
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

/// Sums and weights are registers, whatever meets which row: an array that the compiler does not take apart lies in memory, and is read for
/// every product.
#[test]
fn arrays_are_registers() {
    if toolkit::nvrtc().is_err() {
        return skip("conv::compiles::arrays_are_registers", "no NVRTC");
    }
    let (models, device) = (Models::shipped().unwrap(), DeviceFacts::h200());
    let plain = Conv2d::new();
    let layers = [
        ([3, 8], Precision::F16, plain),
        ([3, 8], Precision::F16, plain.stride(2)),
        ([5, 8], Precision::F16, plain.stride(2).dilation(2)),
        ([7, 8], Precision::Bf16, plain.stride(2)),
        ([3, 16], Precision::F32, plain.stride(2)),
        ([7, 16], Precision::F32, plain),
    ];
    for ([taps, width], precision, params) in layers {
        let w = [128, taps, taps, width];
        let problem = Problem::of_forward([64, 56, 56, 128], w, precision, &params.padding(taps / 2)).unwrap();
        let rows = [Pass::Forward, Pass::GradInput].map(|pass| {
            let config = RowOperation::chosen(&models, &problem, pass, HOPPER, &device);
            row_kernel(&problem, pass, config, HOPPER, false).unwrap()
        });
        let weights = WeightOperation::chosen(&models, &problem, HOPPER, &device);
        let (weights, _) = weight_kernels(&problem, weights, HOPPER).unwrap();
        for kernel in rows.iter().chain([&weights]) {
            let uses = resources(kernel, Arch::new(9, 0));
            // Some registers may be spilled, no arrays.
            assert!(uses.stack_bytes <= 32, "{} of {problem:?}: {uses:?}", kernel.entry);
        }
    }
}
