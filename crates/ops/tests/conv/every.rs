//! On a GPU, the candidates among which choices are made, each against the reference: all of a small layer, and of four larger ones all or a part of them.

use super::compare::{Operands, POISON, compare, result_extents};
use super::gpu::{at_once, on_gpu};
use super::rows::accuracy;
use crate::support::gpu;
use tilewright_ops::Device;
use tilewright_ops::conv::{Config, Conv2d, Multiprocessor, Pass, Precision, Problem, WeightOperation};
use tilewright_ops::conv::{depthwise_estimates, row_candidates};
use tilewright_perf::DeviceFacts;

/// Each how manieth candidate is run: 1 is every one, tens of thousands. Without it [`FEW`] of each pass are, spread over all.
const STEP: &str = "TILEWRIGHT_CANDIDATES";
const FEW: usize = 64;

/// Groups of 8 and of 16, with a stride and tf32, depthwise, and one whose weights rest in part.
fn layers() -> [Problem; 4] {
    let plain = Conv2d::new();
    [
        ([2, 20, 19, 64], [64, 3, 3, 8], Precision::F16, plain.padding(1)),
        ([3, 17, 14, 48], [48, 5, 5, 16], Precision::F32, plain.padding(2).stride(2)),
        ([4, 14, 14, 72], [72, 5, 5, 1], Precision::Bf16, plain.padding(2)),
        ([16, 20, 19, 32], [32, 7, 7, 16], Precision::F32, plain.padding(3)),
    ]
    .map(|(x, w, precision, params)| Problem::of_forward(x, w, precision, &params).unwrap())
}

/// One that has few candidates.
fn small() -> Problem {
    let params = Conv2d::new().padding(1);
    Problem::of_forward([2, 8, 7, 32], [32, 3, 3, 8], Precision::F16, &params).unwrap()
}

/// All candidates of a pass, as calls take them.
pub(super) fn candidates(problem: &Problem, pass: Pass, sm: Multiprocessor, device: &DeviceFacts) -> Vec<Config> {
    match pass {
        Pass::GradWeight => {
            let all = WeightOperation::estimates(problem, sm, device);
            all.into_iter().map(|(_, config)| Config::weights(config)).collect()
        }
        _ => {
            let all = row_candidates(problem, pass, sm, device.multiprocessors as usize);
            let lanes = depthwise_estimates(problem, pass, sm, device).into_iter();
            all.into_iter().map(Config::rows).chain(lanes.map(|(_, config)| Config::depthwise(config))).collect()
        }
    }
}

/// One of so many; [`FEW`] where nothing is said.
fn each(problem: &Problem, pass: Pass, seed: u64, device: &Device, step: Option<usize>) {
    let Some(gpu) = device.as_gpu() else { return };
    let all = candidates(problem, pass, Multiprocessor::of(gpu), &gpu.facts());
    let step = step.unwrap_or(all.len() / FEW).max(1);
    eprintln!("{pass:?}: one of {step} of {} candidates", all.len());
    let few: Vec<Config> = all.into_iter().step_by(step).collect();
    let both = Operands::both(problem, seed, accuracy(problem.precision));
    let exact = both.each_ref().map(|(operands, _)| operands.exact(pass));
    let written = if pass == Pass::GradWeight { Precision::F32 } else { problem.precision };
    at_once(few.len(), |number| {
        for ((operands, accuracy), exact) in both.iter().zip(&exact) {
            let mut got = vec![POISON; result_extents(problem, pass).iter().product()];
            on_gpu(device, few[number], pass, operands, &mut got);
            let what = format!("GPU, {:?}, {pass:?} of {problem:?}", few[number]);
            compare(&what, written, *accuracy, &got, exact);
        }
    });
}

fn all_of(test: &str, layer: usize) {
    let Some((device, _lock)) = gpu(test) else { return };
    let given = std::env::var(STEP).ok().map(|step| step.parse().unwrap_or_else(|_| panic!("{STEP} is `{step}`")));
    for pass in Pass::ALL {
        each(&layers()[layer], pass, 400 + layer as u64, &device, given);
    }
}

#[test]
fn all_of_a_small_layer() {
    let Some((device, _lock)) = gpu("conv::every::all_of_a_small_layer") else { return };
    for pass in Pass::ALL {
        each(&small(), pass, 399, &device, Some(1));
    }
}

#[test]
fn of_groups_of_8() {
    all_of("conv::every::of_groups_of_8", 0);
}

#[test]
fn with_a_stride_and_tf32() {
    all_of("conv::every::with_a_stride_and_tf32", 1);
}

#[test]
fn depthwise() {
    all_of("conv::every::depthwise", 2);
}

#[test]
fn whose_weights_rest() {
    all_of("conv::every::whose_weights_rest", 3);
}

/// Without a GPU: there are so many, of each layer and pass, with copies by the engine and without.
#[test]
fn layers_have_candidates() {
    for sm in [super::rows::HOPPER, super::rows::SMALL] {
        let of_small = Pass::ALL.map(|pass| candidates(&small(), pass, sm, &DeviceFacts::h200()).len());
        assert!(of_small.iter().all(|count| (16..900).contains(count)), "{of_small:?}");
        for problem in layers() {
            for pass in Pass::ALL {
                let all = candidates(&problem, pass, sm, &DeviceFacts::h200());
                // Of small pictures with large kernels parts of the sum are soon larger than the operands.
                let least = match pass {
                    Pass::GradWeight if problem.kernel == [7; 2] => 2,
                    Pass::GradWeight => 16,
                    _ => FEW,
                };
                assert!(all.len() > least, "{sm:?}, {pass:?} of {problem:?}: {}", all.len());
            }
        }
    }
}
