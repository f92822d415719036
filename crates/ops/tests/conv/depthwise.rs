//! The depthwise kernel, in which lanes multiply: on the host model, through NVRTC, and on a GPU.

use super::compare::{Accuracy, Operands, POISON, check, result_extents};
use super::compiles::resources;
use super::gpu::{at_once, on_gpu};
use super::rows::{AMPERE, HOPPER, NONE, run};
use super::{C, H, K, N, R, S, W, on_cpu};
use crate::support::{Random, gpu, skip};
use tilewright_driver::{Arch, toolkit};
use tilewright_expr::{In, f16};
use tilewright_headers::host_model::{HostModel, KernelSource, Schedule};
use tilewright_ops::conv::{
    Config, Conv2d, DepthwiseConfig, KernelConfig, KernelText, Multiprocessor, Pass, Precision, Problem, conv2d,
    conv2d_grad_input, conv2d_grad_weight, conv2d_with, conv2d_with_workspace, conv2d_workspace, depthwise_estimates,
    depthwise_kernel, read,
};
use tilewright_ops::{Device, Tensor, fuse};
use tilewright_perf::{DeviceFacts, Models};

const PRECISIONS: [Precision; 3] = [Precision::F16, Precision::Bf16, Precision::F32];

/// A depthwise convolution.
fn of(x: [usize; 4], taps: [usize; 2], precision: Precision, params: Conv2d) -> Problem {
    Problem::of_forward(x, [x[3], taps[0], taps[1], 1], precision, &params).expect("a legal convolution")
}

/// The passes that the kernel has of a problem.
fn passes(problem: &Problem) -> impl Iterator<Item = Pass> {
    let strides = problem.stride != [1; 2];
    [Pass::Forward, Pass::GradInput].into_iter().filter(move |pass| *pass == Pass::Forward || !strides)
}

/// Odd pictures with all that chance rarely brings together.
fn pinned() -> Vec<Problem> {
    let plain = Conv2d::new();
    let all = [
        ([2, 6, 5, 8], [3, 3], Precision::F16, plain.padding(1)),
        ([1, 49, 33, 8], [3, 3], Precision::Bf16, plain.padding(1)),
        ([2, 20, 19, 24], [3, 3], Precision::F32, plain.padding([[0, 2], [1, 0]])),
        ([6, 6, 5, 16], [3, 3], Precision::F16, plain.padding([[7, 0], [3, 7]])),
        ([3, 6, 5, 12], [5, 5], Precision::F32, plain.padding(2)),
        ([2, 20, 19, 16], [5, 3], Precision::Bf16, plain.padding([[2, 2], [1, 1]]).stride(2)),
        ([1, 20, 19, 8], [3, 3], Precision::F16, plain.padding(2).dilation(2)),
        ([2, 13, 9, 8], [3, 5], Precision::F32, plain.padding(3).stride([2, 1]).dilation([1, 2])),
        ([1, 13, 9, 8], [3, 3], Precision::F16, plain.padding(2).dilation(2).stride(2)),
        ([4, 1, 1, 8], [3, 3], Precision::Bf16, plain.padding(1)),
        ([5, 7, 7, 40], [1, 1], Precision::F16, plain),
    ];
    all.map(|(x, taps, precision, params)| of(x, taps, precision, params)).to_vec()
}

/// Convolutions by chance, with so many elements in their images at most.
fn drawn(r: &mut Random, count: usize, most: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    while problems.len() < count {
        let mut of = |limit: usize| r.below(limit as u64) as usize;
        let precision = PRECISIONS[problems.len() % 3];
        let channels = 16 / precision.bytes() * (1 + of(5));
        let x = [1 + of(6), 1 + of(50), 1 + of(34), channels];
        let params = Conv2d::new()
            .padding([[of(8), of(8)], [of(8), of(8)]])
            .stride([1 + of(2), 1 + of(2)])
            .dilation([1 + of(2), 1 + of(2)]);
        // Every other one without strides, of which there is a gradient.
        let params = if problems.len() % 2 == 0 { params.stride(1) } else { params };
        let problem = Problem::of_forward(x, [channels, 1 + of(5), 1 + of(5), 1], precision, &params);
        problems.extend(problem.ok().filter(|_| x.iter().product::<usize>() <= most));
    }
    problems
}

/// A legal configuration by chance, of so many threads at most.
fn random(r: &mut Random, problem: &Problem, pass: Pass, threads: u32) -> (DepthwiseConfig, KernelText) {
    let written = if pass == Pass::Forward { problem.output() } else { [problem.height, problem.width] };
    for _ in 0..100_000 {
        let mut of = |limit: usize| 1 + r.below(limit as u64) as usize;
        let config = DepthwiseConfig {
            strips: of(6),
            columns: if of(2) == 1 { written[1] } else { of(written[1]) },
            // Now and then those of several images.
            rows: if of(2) == 1 { of(3 * written[0]) } else { of(written[0]) },
            pixels: of(8),
            vector: [2, 4, 8][of(3) - 1],
            slots: 1 + of(6),
        };
        if let Ok(kernel) = depthwise_kernel(problem, pass, config, HOPPER, true)
            && kernel.threads <= threads
        {
            return (config, kernel);
        }
    }
    panic!("chance finds no legal configuration: {pass:?} of {problem:?}")
}

/// A problem, a pass and a kernel of it.
type Case = (Problem, Pass, DepthwiseConfig, KernelText);

fn cases(seed: u64, problems: &[Problem]) -> Vec<Case> {
    let mut r = Random(seed);
    let each = problems.iter().flat_map(|problem| passes(problem).map(|pass| (*problem, pass)));
    each.map(|(problem, pass)| {
        let (config, kernel) = random(&mut r, &problem, pass, 256);
        (problem, pass, config, kernel)
    })
    .collect()
}

/// Each case on the host model, in some orders and with some operands; in the forward pass the bits are the CPU's.
fn all_right(name: &str, cases: &[Case]) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let sources: Vec<KernelSource<'_>> =
        cases.iter().map(|(.., kernel)| KernelSource { name: "conv2d_depthwise", text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (number, (problem, pass, config, kernel)) in cases.iter().enumerate() {
        let seed = number as u64;
        for (schedule, operands) in [
            (Schedule::Forward, Operands::random(problem, seed)),
            (Schedule::Shuffled(seed), Operands::random(problem, seed + 1)),
            (Schedule::Backward, Operands::not_finite(problem, seed)),
        ] {
            let what = format!("{config:?}, {schedule:?}");
            check(&what, (*pass, &operands), Accuracy::FMA, |pass, operands, out| {
                run((&model, number), kernel, schedule, operands, pass, (problem.precision, NONE), out);
                same_bits_as_the_cpu(&what, pass, operands, out);
            });
        }
    }
}

/// Of a forward pass: the order of additions is the definition's.
fn same_bits_as_the_cpu(what: &str, pass: Pass, operands: &Operands, got: &[f32]) {
    if pass != Pass::Forward {
        return;
    }
    let mut expected = vec![POISON; result_extents(&operands.problem, pass).iter().product()];
    on_cpu(pass, operands, &mut expected);
    for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
        assert!(got == expected || got.is_nan() && expected.is_nan(), "{what}: element {at}: {got}, {expected}");
    }
}

#[test]
fn odd_pictures() {
    all_right("conv::depthwise::odd_pictures", &cases(141, &pinned()));
}

#[test]
fn by_any_configuration() {
    all_right("conv::depthwise::by_any_configuration", &cases(142, &drawn(&mut Random(143), 24, 12_000)));
}

/// Blocks that begin and end in the middle of images, of less than one and of all, with a ring of two rows and one that is longer than an image.
#[test]
fn rows_that_stand_upon_each_other() {
    let config = |rows, slots| DepthwiseConfig { strips: 2, columns: 5, rows, pixels: 2, vector: 4, slots };
    let problem = of([6, 6, 5, 16], [3, 3], Precision::F16, Conv2d::new().padding(1));
    let cases = [config(4, 3), config(8, 2), config(35, 16), config(13, 3), config(36, 4)].map(|config| {
        let kernel = depthwise_kernel(&problem, Pass::Forward, config, HOPPER, true).unwrap();
        assert_eq!(kernel.grid, 36u32.div_ceil(config.rows as u32));
        assert!(kernel.text.contains("constexpr bool stacked = true;"));
        (problem, Pass::Forward, config, kernel)
    });
    all_right("conv::depthwise::rows_that_stand_upon_each_other", &cases);
}

/// What reads a manifest reads it as a kernel of a user's.
#[test]
fn its_text_is_a_kernel() {
    for (.., kernel) in cases(144, &pinned()) {
        let interface = tilewright_ops::KernelSource::new(&kernel.text).interface().unwrap();
        assert_eq!((interface.kernel(), interface.text()), (kernel.entry, kernel.text.as_str()));
    }
}

/// The configuration that fits the first problem of [`what_does_not_fit_is_refused`].
const FITS: DepthwiseConfig = DepthwiseConfig { strips: 2, columns: 16, rows: 8, pixels: 4, vector: 4, slots: 4 };

#[test]
fn what_does_not_fit_is_refused() {
    let plain = Conv2d::new().padding(1);
    let small = of([4, 32, 32, 64], [3, 3], Precision::F16, plain);
    let f32s = of([4, 32, 32, 64], [3, 3], Precision::F32, plain);
    let dilated = of([4, 32, 32, 64], [3, 3], Precision::F16, plain.dilation(2));
    let wide = of([1, 8, 8192, 64], [5, 5], Precision::F16, plain.padding(2));
    assert!(depthwise_kernel(&small, Pass::Forward, FITS, HOPPER, false).is_ok());
    let cases = [
        (small, DepthwiseConfig { strips: 9, ..FITS }, "`strips` is 9, allowed are 1 to 8"),
        (small, DepthwiseConfig { strips: 0, ..FITS }, "`strips` is 0, allowed are 1 to 8"),
        (small, DepthwiseConfig { columns: 33, ..FITS }, "`columns` is 33, allowed are 1 to 32"),
        (small, DepthwiseConfig { rows: 129, ..FITS }, "`rows` is 129, allowed are 1 to 128, those of all images"),
        (dilated, DepthwiseConfig { rows: 33, ..FITS }, "`rows` is 33, allowed are 1 to 15"),
        (small, DepthwiseConfig { pixels: 9, ..FITS }, "`pixels` is 9, allowed are 1 to 8"),
        (small, DepthwiseConfig { vector: 3, ..FITS }, "`vector` is 3, allowed are 2, 4 and 8, up to 8"),
        (f32s, DepthwiseConfig { vector: 8, ..FITS }, "`vector` is 8, allowed are 2, 4 and 8, up to 4"),
        (small, DepthwiseConfig { slots: 1, ..FITS }, "`slots` is 1, allowed are 2 to 16"),
        (wide, DepthwiseConfig { strips: 8, columns: 64, pixels: 1, vector: 2, ..FITS }, "2048 threads, at most 1024"),
        (wide, DepthwiseConfig { columns: 256, pixels: 8, vector: 8, ..FITS }, "`columns` is 256, which reads 260"),
        (wide, DepthwiseConfig { pixels: 8, vector: 8, ..FITS }, "registers a thread"),
        (wide, DepthwiseConfig { strips: 8, columns: 128, pixels: 8, slots: 16, ..FITS }, "bytes of shared memory"),
    ];
    for (problem, config, part) in cases {
        let error = depthwise_kernel(&problem, Pass::Forward, config, HOPPER, false).unwrap_err().to_string();
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
    let groups = Problem::of_forward([4, 32, 32, 64], [64, 3, 3, 8], Precision::F16, &plain).unwrap();
    let problems = [
        (groups, Pass::Forward, HOPPER, "is for groups of 1 channel, these have 8"),
        (of([1, 9, 9, 8], [3, 7], Precision::F16, plain), Pass::Forward, HOPPER, "up to 5x5 taps, this one is 7 long"),
        (of([1, 9, 9, 8], [3, 3], Precision::F16, plain.stride([1, 2])), Pass::GradInput, HOPPER, "no stride"),
        (of([1, 9, 9, 12], [3, 3], Precision::F16, plain), Pass::Forward, HOPPER, "16 bytes, these have 24"),
        (small, Pass::Forward, AMPERE, "needs compute capability 9.0"),
    ];
    for (problem, pass, sm, part) in problems {
        let error = depthwise_kernel(&problem, pass, FITS, sm, false).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("`Config::depthwise`"), "{error}\nlacks {part}");
        assert!(error.contains("`Config::rows`"), "{error}");
    }
}

/// Through the functions that users call.
fn refused_in_calls(device: &Device) {
    let config = DepthwiseConfig { strips: 1, columns: 5, rows: 5, pixels: 1, vector: 2, slots: 2 };
    let plain = Conv2d::new().padding(1);
    let params = plain.config(Config::depthwise(config));
    let w = Tensor::<f16, (K, R, S, C)>::zeros([8, 3, 3, 1], device).unwrap();
    let says = |error: tilewright_ops::Error, words: &str| assert!(error.to_string().contains(words), "{error}");
    for images in [0, 2] {
        let x = Tensor::<f16, (N, H, W, C)>::zeros([images, 5, 5, 8], device).unwrap();
        let y = conv2d(&x, &w, &params).unwrap();
        assert_eq!(conv2d_workspace(&x, &w, &params).unwrap(), 0);
        conv2d_grad_input::<_, N, H, W, C, K, R, S, _>(&y, &w, [5, 5], &params).unwrap();
        let weights = conv2d_grad_weight::<_, N, H, W, C, K, R, S, _>(&x, &y, [3, 3, 1], &params);
        says(weights.unwrap_err(), "takes `Config::weights`, got `Config::depthwise`");
        let columns = plain.config(Config::depthwise(DepthwiseConfig { columns: 6, ..config }));
        says(conv2d(&x, &w, &columns).unwrap_err(), "`columns` is 6, allowed are 1 to 5");
        says(conv2d_workspace(&x, &w, &columns).unwrap_err(), "`columns` is 6, allowed are 1 to 5");
        let strided = plain.stride(2).config(Config::depthwise(DepthwiseConfig { columns: 3, rows: 3, ..config }));
        let small = conv2d(&x, &w, &strided).unwrap();
        let gradient = conv2d_grad_input::<_, N, H, W, C, K, R, S, _>(&small, &w, [5, 5], &strided);
        says(gradient.unwrap_err(), "`Config::depthwise` undoes no stride");
    }
}

#[test]
fn calls_are_refused() {
    refused_in_calls(&Device::Cpu);
}

#[test]
fn calls_are_refused_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::depthwise::calls_are_refused_on_a_gpu") else { return };
    refused_in_calls(&device);
    // With an expression in the kernel there is no such kernel; where sums go through memory, only of f32.
    let config = DepthwiseConfig { strips: 1, columns: 5, rows: 5, pixels: 1, vector: 2, slots: 2 };
    let params = Conv2d::new().padding(1).config(Config::depthwise(config));
    let x = Tensor::<f16, (N, H, W, C)>::zeros([2, 5, 5, 8], &device).unwrap();
    let w = Tensor::<f16, (K, R, S, C)>::zeros([8, 3, 3, 1], &device).unwrap();
    let within = fuse(|sum: In<f32, (N, H, W, K)>| sum.max(0.0).to::<f16>().store::<(N, H, W, K)>());
    let apart = fuse(|sum: In<f32, (N, H, W, K)>| sum.to::<f16>().store::<(N, K, H, W)>());
    let before = fuse(|x: In<f16, (N, H, W, C)>| x.to::<f32>().max(0.0).to::<f16>().store::<(N, H, W, C)>());
    let (no, of_f16) = ("no expression before or behind", "stores results of F16");
    for (error, words) in [
        (conv2d_with(&x, &w, &params, &within, ()).map(drop).unwrap_err(), no),
        (conv2d_with_workspace(&x, &w, &params, &within, ()).map(drop).unwrap_err(), no),
        (conv2d_with(&x, &w, &params, &apart, ()).map(drop).unwrap_err(), of_f16),
        (conv2d_with_workspace(&x, &w, &params, &apart, ()).map(drop).unwrap_err(), of_f16),
        (conv2d(&read(&before, (&x,)), &w, &params).map(drop).unwrap_err(), no),
        (conv2d_workspace(&read(&before, (&x,)), &w, &params).map(drop).unwrap_err(), no),
    ] {
        assert!(error.to_string().contains(words), "{error}\nlacks {words}");
    }
}

/// Layers of depthwise networks with small windows, in f16.
fn layers() -> Vec<Problem> {
    let params = |taps: usize, stride: usize| Conv2d::new().padding(taps / 2).stride(stride);
    let of = |x, taps, stride| of(x, [taps; 2], Precision::F16, params(taps, stride));
    vec![
        of([128, 56, 56, 144], 3, 1),
        of([128, 112, 112, 96], 3, 2),
        of([128, 28, 28, 192], 3, 1),
        of([128, 28, 28, 240], 5, 1),
        of([128, 14, 14, 480], 3, 1),
        of([128, 7, 7, 1152], 3, 1),
        of([1, 56, 56, 144], 3, 1),
    ]
}

/// There is something to choose from, the estimate's order is that of its times, and all of it is legal.
#[test]
fn candidates() {
    let device = DeviceFacts::h200();
    for (number, problem) in layers().iter().enumerate() {
        for pass in passes(problem) {
            let estimates = depthwise_estimates(problem, pass, HOPPER, &device);
            assert!(estimates.len() >= 16, "{} candidates: {pass:?} of {problem:?}", estimates.len());
            assert!(estimates.is_sorted_by(|a, b| a.0 <= b.0));
            for (_, config) in estimates.iter().step_by(7) {
                depthwise_kernel(problem, pass, *config, HOPPER, true).unwrap();
            }
            assert!(depthwise_estimates(problem, pass, AMPERE, &device).is_empty());
            // The layer that the kernel is made for: it was timed at 64 to 66 us.
            if number == 0 {
                assert!((62.0..68.0).contains(&estimates[0].0), "{pass:?}: {:?}", estimates[0]);
            }
            // Calls take it, with whole rows, where these are long and many and windows small.
            match KernelConfig::chosen(&Models::default(), problem, pass, HOPPER, &device) {
                KernelConfig::Depthwise(config) => {
                    assert_eq!(
                        [8 * config.strips, config.columns],
                        [problem.channels(), 56],
                        "{pass:?} of {problem:?}"
                    );
                    assert!(number < 2, "{pass:?} of {problem:?}");
                }
                other => assert!(number > 1, "{pass:?} of {problem:?}: {other:?}"),
            }
        }
    }
    let wide = of([128, 56, 56, 96], [7, 7], Precision::F16, Conv2d::new().padding(3));
    let groups = Problem::of_forward([8, 56, 56, 64], [64, 3, 3, 8], Precision::F16, &Conv2d::new()).unwrap();
    for problem in [wide, groups] {
        assert!(depthwise_estimates(&problem, Pass::Forward, HOPPER, &device).is_empty());
    }
}

/// Sums and weights are registers, and none is spilled, whatever is legal, nor of what choices are made among.
#[test]
fn compiles_without_spills() {
    if toolkit::nvrtc().is_err() {
        return skip("conv::depthwise::compiles_without_spills", "no NVRTC");
    }
    let none = |kernel: &KernelText, what: &str| {
        let uses = resources(kernel, Arch::new(9, 0));
        assert!(uses.stack_bytes == 0, "{what}: {uses:?}");
    };
    let mut r = Random(151);
    for problem in [pinned(), vec![layer(Precision::F16), layer(Precision::F32)]].concat() {
        for pass in passes(&problem) {
            let (config, kernel) = random(&mut r, &problem, pass, 1024);
            none(&kernel, &format!("{config:?}, {pass:?} of {problem:?}"));
        }
    }
    for problem in layers() {
        for (_, config) in &depthwise_estimates(&problem, Pass::Forward, HOPPER, &DeviceFacts::h200())[..2] {
            let kernel = depthwise_kernel(&problem, Pass::Forward, *config, HOPPER, true).unwrap();
            none(&kernel, &format!("{config:?} of {problem:?}"));
        }
    }
}

/// The layer that the kernel is made for, with fewer images.
fn layer(precision: Precision) -> Problem {
    of([8, 56, 56, 144], [3, 3], precision, Conv2d::new().padding(1))
}

fn on_a_gpu_as(test: &str, problems: &[Problem], operands: impl Fn(&Problem, u64) -> Vec<Operands> + Sync) {
    let Some((device, _lock)) = gpu(test) else { return };
    if !device.as_gpu().is_some_and(|gpu| Multiprocessor::of(gpu).bulk_copies) {
        return skip(test, "compute capability below 9.0");
    }
    at_once(problems.len(), |i| {
        let mut r = Random(i as u64);
        for pass in passes(&problems[i]) {
            for _ in 0..3 {
                let (config, _) = random(&mut r, &problems[i], pass, 1024);
                let what = format!("GPU, {config:?}");
                for operands in operands(&problems[i], i as u64) {
                    check(&what, (pass, &operands), Accuracy::FMA, |pass, operands, out| {
                        on_gpu(&device, Config::depthwise(config), pass, operands, out);
                        same_bits_as_the_cpu(&what, pass, operands, out);
                    });
                }
            }
        }
    });
}

#[test]
fn on_a_gpu() {
    let layers = PRECISIONS.map(layer).to_vec();
    let problems = [pinned(), drawn(&mut Random(161), 48, 200_000), layers].concat();
    on_a_gpu_as("conv::depthwise::on_a_gpu", &problems, |problem, seed| {
        vec![Operands::random(problem, seed), Operands::whole(problem, seed)]
    });
}

#[test]
fn not_finite_on_a_gpu() {
    let problems = [pinned(), drawn(&mut Random(162), 24, 100_000)].concat();
    on_a_gpu_as("conv::depthwise::not_finite_on_a_gpu", &problems, |problem, seed| {
        vec![Operands::not_finite(problem, seed)]
    });
}

/// Few enough for a sanitizer: all types, a gradient, a stride, blocks of several images.
#[test]
fn a_few_for_the_sanitizer() {
    on_a_gpu_as("conv::depthwise::a_few_for_the_sanitizer", &pinned()[..6], |problem, seed| {
        vec![Operands::random(problem, seed), Operands::not_finite(problem, seed)]
    });
}
