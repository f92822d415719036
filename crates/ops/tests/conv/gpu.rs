//! The kernels on a GPU, under the chosen configuration and under random ones.

use super::compare::{Operands, POISON, check};
use super::every;
use super::problems::{chosen, larger, pinned, wide};
use super::rows::{self, Most, accuracy, paced, warpgroups};
use super::weights;
use super::{C, Exactly, H, K, N, R, S, W, params, tensor};
use crate::support::{Random, gpu};
use std::sync::atomic::{AtomicUsize, Ordering};
use tilewright_expr::{bf16, f16};
use tilewright_ops::conv::{Config, Fusing, KernelConfig, Multiprocessor, Pass, Precision, Problem, RowConfig};
use tilewright_ops::conv::{conv2d_grad_input_into, conv2d_grad_weight_into, conv2d_into};
use tilewright_ops::{Device, LaunchKind, Tensor, record};
use tilewright_perf::DeviceFacts;

pub(super) fn on_gpu(device: &Device, config: Config, pass: Pass, operands: &Operands, out: &mut [f32]) {
    match operands.problem.precision {
        Precision::F16 => on_gpu_as::<f16>(device, config, pass, operands, out),
        Precision::Bf16 => on_gpu_as::<bf16>(device, config, pass, operands, out),
        Precision::F32 => on_gpu_as::<f32>(device, config, pass, operands, out),
    }
}

fn on_gpu_as<T: Exactly>(device: &Device, config: Config, pass: Pass, operands: &Operands, out: &mut [f32]) {
    let (p, params) = (&operands.problem, params(&operands.problem).config(config));
    let [(a, a_extents), (b, b_extents)] = operands.of(pass);
    let values = if pass == Pass::Forward {
        let x = tensor::<T, (N, H, W, C)>(a_extents, a).to(device).unwrap();
        let w = tensor::<T, (K, R, S, C)>(b_extents, b).to(device).unwrap();
        let mut y = tensor::<T, (N, H, W, K)>(p.output_extents(), out).to(device).unwrap();
        match &operands.bias {
            Some(bias) => {
                let bias = Tensor::<f32, (K,)>::from_vec([bias.len()], bias.clone()).unwrap().to(device).unwrap();
                conv2d_into(&mut y, &x, &w, &params.bias(&bias)).unwrap();
            }
            None => conv2d_into(&mut y, &x, &w, &params).unwrap(),
        }
        y.to_vec().unwrap()
    } else if pass == Pass::GradWeight {
        let x = tensor::<T, (N, H, W, C)>(a_extents, a).to(device).unwrap();
        let dy = tensor::<T, (N, H, W, K)>(b_extents, b).to(device).unwrap();
        let poisoned = Tensor::<f32, (K, R, S, C)>::from_vec(p.weight_extents(), out.to_vec()).unwrap();
        let mut dw = poisoned.to(device).unwrap();
        conv2d_grad_weight_into(&mut dw, &x, &dy, &params).unwrap();
        return out.copy_from_slice(&dw.to_vec().unwrap());
    } else {
        let dy = tensor::<T, (N, H, W, K)>(a_extents, a).to(device).unwrap();
        let w = tensor::<T, (K, R, S, C)>(b_extents, b).to(device).unwrap();
        let mut dx = tensor::<T, (N, H, W, C)>(p.input_extents(), out).to(device).unwrap();
        conv2d_grad_input_into(&mut dx, &dy, &w, &params).unwrap();
        dx.to_vec().unwrap()
    };
    out.iter_mut().zip(values).for_each(|(out, value)| *out = value.value());
}

/// Each of so many cases, several at a time: most of their time is the compiler's.
pub(super) fn at_once(cases: usize, case: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < cases) {
                    case(i);
                }
            });
        }
    });
}

#[test]
fn by_the_chosen_configuration() {
    let Some((device, _lock)) = gpu("conv::gpu::by_the_chosen_configuration") else { return };
    let problems = [chosen(), pinned(), larger(81, 48)].concat();
    at_once(problems.len(), |i| {
        for (operands, accuracy) in Operands::both(&problems[i], i as u64, accuracy(problems[i].precision)) {
            for pass in Pass::ALL {
                check("GPU", (pass, &operands), accuracy, |pass, operands, out| {
                    on_gpu(&device, Config::auto(), pass, operands, out);
                });
            }
        }
    });
}

#[test]
fn by_the_refined_configuration() {
    let Some((device, _lock)) = gpu("conv::gpu::by_the_refined_configuration") else { return };
    let Some(gpu) = device.as_gpu() else { return };
    let problems = [chosen(), larger(85, 6)].concat();
    at_once(problems.len(), |i| {
        let operands = Operands::random(&problems[i], i as u64);
        for pass in Pass::ALL {
            check("GPU", (pass, &operands), accuracy(problems[i].precision), |pass, operands, out| {
                // What is timed is no launch of the call, and it is timed once.
                for _ in 0..2 {
                    let launches = record(|| on_gpu(&device, Config::refined(), pass, operands, out));
                    let own = launches.iter().filter(|launch| launch.kind == LaunchKind::Convolution);
                    assert!((1..=2).contains(&own.count()), "{launches:?}");
                }
            });
            let [first, again] = [(); 2].map(|()| KernelConfig::refined(gpu, &problems[i], pass).unwrap());
            assert_eq!(first, again);
        }
    });
}

/// Few and small, for those who look for races: weights rest where all warps read them.
#[test]
fn of_weights_that_rest() {
    let Some((device, _lock)) = gpu("conv::gpu::of_weights_that_rest") else { return };
    for (i, problem) in wide().iter().enumerate() {
        let operands = Operands::random(problem, i as u64);
        for pass in [Pass::Forward, Pass::GradInput] {
            check("GPU", (pass, &operands), accuracy(problem.precision), |pass, operands, out| {
                on_gpu(&device, Config::auto(), pass, operands, out);
            });
        }
    }
}

#[test]
fn by_any_configuration() {
    let Some((device, _lock)) = gpu("conv::gpu::by_any_configuration") else { return };
    let Some(gpu) = device.as_gpu() else { return };
    let sm = Multiprocessor::of(gpu);
    let problems = [chosen(), pinned(), larger(83, 24)].concat();
    at_once(problems.len(), |i| {
        let problem = &problems[i];
        let (mut r, facts) = (Random(i as u64), gpu.facts());
        let both = Operands::both(problem, i as u64, accuracy(problem.precision));
        for pass in Pass::ALL {
            for config in configurations(&mut r, (problem, pass), sm, &facts) {
                for (operands, accuracy) in &both {
                    check(&format!("GPU, {config:?}"), (pass, operands), *accuracy, |pass, operands, out| {
                        on_gpu(&device, config, pass, operands, out);
                    });
                }
            }
        }
    });
}

/// Two configurations of a pass by chance of all that are legal, and two of those among which choices are made, if there are any.
fn configurations(
    r: &mut Random,
    (problem, pass): (&Problem, Pass),
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<Config> {
    let nothing = Fusing::nothing(problem.precision);
    let mut configs: Vec<_> = (0..2)
        .map(|_| match pass {
            Pass::GradWeight => Config::weights(weights::drawn(r, problem, sm, [None; 2], Most::LEGAL).0),
            _ => Config::rows(rows::drawn(r, (problem, pass), sm, nothing, Most::LEGAL).0),
        })
        .collect();
    let all = every::candidates(problem, pass, sm, device);
    if !all.is_empty() {
        configs.extend((0..2).map(|_| all[r.below(all.len() as u64) as usize]));
    }
    configs
}

/// The weights' gradient has no order of additions that chance decides.
#[test]
fn weight_gradients_have_the_same_bits_again() {
    let Some((device, _lock)) = gpu("conv::gpu::weight_gradients_have_the_same_bits_again") else { return };
    let Some(gpu) = device.as_gpu() else { return };
    let sm = Multiprocessor::of(gpu);
    let problems = [chosen(), pinned(), larger(83, 24)].concat();
    at_once(problems.len(), |i| {
        let (problem, operands) = (&problems[i], Operands::random(&problems[i], i as u64));
        let any = weights::drawn(&mut Random(i as u64), problem, sm, [None; 2], Most::LEGAL).0;
        for config in [Config::auto(), Config::weights(any)] {
            let [first, again] = [(); 2].map(|()| {
                let mut out = vec![POISON; problem.weight_extents().iter().product()];
                on_gpu(&device, config, Pass::GradWeight, &operands, &mut out);
                out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            });
            assert!(first == again, "{config:?} of {problem:?}: other bits");
        }
    });
}

#[test]
fn by_warpgroups_of_stacked_rows() {
    by_configurations("conv::gpu::by_warpgroups_of_stacked_rows", warpgroups());
}

#[test]
fn by_warps_one_behind_the_other() {
    by_configurations("conv::gpu::by_warps_one_behind_the_other", paced());
}

fn by_configurations(test: &str, (problem, configs): (Problem, [(Pass, RowConfig); 2])) {
    let Some((device, _lock)) = gpu(test) else { return };
    for operands in [Operands::random(&problem, 5), Operands::not_finite(&problem, 5)] {
        for (pass, config) in configs {
            check(
                &format!("GPU, {config:?}"),
                (pass, &operands),
                accuracy(problem.precision),
                |pass, operands, out| {
                    on_gpu(&device, Config::rows(config), pass, operands, out);
                },
            );
        }
    }
}

/// Infinities and NaN go where the definition takes them, though tensor cores multiply zeros that it knows nothing of.
#[test]
fn values_that_are_not_finite() {
    let Some((device, _lock)) = gpu("conv::gpu::values_that_are_not_finite") else { return };
    let problems = [chosen(), pinned(), larger(81, 48)].concat();
    at_once(problems.len(), |i| {
        let operands = Operands::not_finite(&problems[i], i as u64);
        for pass in Pass::ALL {
            check("GPU, not finite", (pass, &operands), accuracy(problems[i].precision), |pass, operands, out| {
                on_gpu(&device, Config::auto(), pass, operands, out);
            });
        }
    });
}

/// Few enough for a sanitizer: copies by the engine and by threads, whole channels and odd ones, a stride, tf32.
#[test]
fn a_few_for_the_sanitizer() {
    let Some((device, _lock)) = gpu("conv::gpu::a_few_for_the_sanitizer") else { return };
    for (i, problem) in chosen().iter().enumerate() {
        let operands = Operands::random(problem, i as u64);
        for pass in Pass::ALL {
            check("GPU", (pass, &operands), accuracy(problem.precision), |pass, operands, out| {
                on_gpu(&device, Config::auto(), pass, operands, out);
            });
        }
    }
}
