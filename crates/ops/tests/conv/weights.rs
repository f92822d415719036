//! The kernels of the weights' gradient on the host model: random problems under random configurations; and what is refused.

use super::compare::{Operands, POISON, check};
use super::memory::{Line, from_bytes, guarded, lines, to_bytes, within};
use super::problems::{chosen, pinned, problems};
use super::rows::{AMPERE, HOPPER, Most, NONE, SMALL, accuracy, host_map, layers};
use crate::support::Random;
use tilewright_expr::emit::Inlined;
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_ops::conv::{
    Conv2d, KernelText, Multiprocessor, Pass, Precision, Problem, WeightConfig, WeightOperation, weight_kernels,
    weight_kernels_with,
};
use tilewright_perf::DeviceFacts;

pub(crate) type Kernels = (KernelText, Option<KernelText>);

/// A legal configuration by chance, small enough for the host model.
pub(crate) fn random(r: &mut Random, problem: &Problem, sm: Multiprocessor) -> (WeightConfig, Kernels) {
    random_with(r, problem, sm, [None; 2])
}

/// As [`random`], of expressions.
pub(crate) fn random_with(
    r: &mut Random,
    problem: &Problem,
    sm: Multiprocessor,
    expressions: [Option<&Inlined>; 2],
) -> (WeightConfig, Kernels) {
    drawn(r, problem, sm, expressions, Most::HOST)
}

/// As [`random_with`], within other limits.
pub(crate) fn drawn(
    r: &mut Random,
    problem: &Problem,
    sm: Multiprocessor,
    expressions: [Option<&Inlined>; 2],
    most: Most,
) -> (WeightConfig, Kernels) {
    for _ in 0..100_000 {
        let mut of = |limit: usize| 1 + r.below(limit as u64) as usize;
        let [rows, columns] = problem.output();
        let all = of(2) == 1;
        let config = WeightConfig {
            strips: of(most.strips),
            images: if all { of(problem.images.clamp(1, most.images)) } else { 1 },
            items: of(most.items),
            columns: if all { columns } else { of(columns) },
            rows: of(rows),
            tiles: of(most.tiles),
            slots: 1 + of(most.slots - 1),
        };
        if let Ok(kernels) = weight_kernels_with(problem, config, sm, expressions)
            && kernels.0.threads <= most.threads
        {
            return (config, kernels);
        }
    }
    panic!("chance finds no legal configuration: weights of {problem:?}")
}

fn run(model: &HostModel, number: usize, kernel: &KernelText, schedule: Schedule, block: &[u8]) {
    let (grid, threads) = ([kernel.grid, 1, 1], [kernel.threads, 1, 1]);
    let launch = Launch { grid, block: threads, shared_bytes: kernel.shared_bytes, schedule };
    // SAFETY: the buffers have the problem's sizes and live until the launch has ended.
    unsafe { model.run(number, kernel.entry, launch, block) }.unwrap_or_else(|error| panic!("{error}"));
}

fn addresses(of: &[u64]) -> Vec<u8> {
    of.iter().flat_map(|address| address.to_ne_bytes()).collect()
}

/// Both kernels, the second of which stands behind the first: parts of the sum are poisoned, as the result is.
/// `expressions` are their parameters.
pub(crate) fn gradient(
    (model, number): (&HostModel, usize),
    kernels: &Kernels,
    schedule: Schedule,
    operands: &Operands,
    expressions: [&[u8]; 2],
) -> Vec<f32> {
    let (problem, (multiplying, adding)) = (&operands.problem, kernels);
    let elements: usize = problem.weight_extents().iter().product();
    let x = lines(&to_bytes(problem.precision, &operands.x));
    let dy = lines(&to_bytes(problem.precision, &operands.dy));
    let parts = if adding.is_some() { multiplying.grid as usize } else { 1 };
    let poisoned = vec![POISON; parts * elements];
    let mut sums = guarded(bytemuck::cast_slice(&poisoned));
    let operands = [x.as_ptr() as u64, dy.as_ptr() as u64, sums[1..].as_mut_ptr() as u64];
    let mut block = [host_map(&multiplying.read, operands[0]), host_map(&multiplying.other, operands[1])].concat();
    block.extend(addresses(&operands));
    block.resize(block.len().next_multiple_of(16), 0);
    block.extend(expressions.concat());
    block.resize(block.len().next_multiple_of(64), 0);
    run(model, number, multiplying, schedule, &block);
    let bytes = |of: &[Line], elements: usize| from_bytes(Precision::F32, &within(of, 4 * elements));
    let made = bytes(&sums, parts * elements);
    let Some(adding) = adding else { return made };
    let mut dw = guarded(bytemuck::cast_slice(&poisoned[..elements]));
    run(model, number + 1, adding, schedule, &addresses(&[sums[1..].as_ptr() as u64, dw[1..].as_mut_ptr() as u64]));
    bytes(&dw, elements)
}

fn right(name: &str, problems: &[Problem], sm: Multiprocessor) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let mut r = Random(95);
    let cases: Vec<_> = problems.iter().map(|problem| (problem, random(&mut r, problem, sm))).collect();
    let texts = cases.iter().flat_map(|(_, (_, (multiplying, adding)))| [Some(multiplying), adding.as_ref()]).flatten();
    let sources: Vec<_> = texts.map(|kernel| KernelSource { name: kernel.entry, text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    let mut number = 0;
    for (seed, (problem, (config, kernels))) in cases.iter().enumerate() {
        let seed = seed as u64;
        for (schedule, operands) in [
            (Schedule::Forward, Operands::random(problem, seed)),
            (Schedule::Shuffled(seed), Operands::not_finite(problem, seed)),
        ] {
            let what = format!("{config:?}, {schedule:?}");
            check(&what, (Pass::GradWeight, &operands), accuracy(problem.precision), |_, operands, out| {
                let first = gradient((&model, number), kernels, schedule, operands, NONE);
                let again = gradient((&model, number), kernels, Schedule::Shuffled(seed + 1), operands, NONE);
                assert!(first.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{what}: other bits");
                out.copy_from_slice(&first);
            });
        }
        number += 1 + usize::from(kernels.1.is_some());
    }
}

#[test]
fn of_any_problem() {
    right("of_any_problem", &[chosen(), pinned(), problems(97, 24)].concat(), HOPPER);
}

#[test]
fn with_less_shared_memory() {
    right("with_less_shared_memory", &problems(98, 12), AMPERE);
    right("with_least_shared_memory", &problems(99, 12), SMALL);
}

fn layer(x: [usize; 4], taps: usize, group: usize) -> Problem {
    let params = Conv2d::new().padding(taps / 2);
    Problem::of_forward(x, [x[3], taps, taps, group], Precision::F16, &params).unwrap()
}

#[test]
fn what_does_not_fit_is_refused() {
    let fits = WeightConfig { strips: 2, images: 1, items: 1, columns: 32, rows: 4, tiles: 1, slots: 2 };
    let small = layer([4, 32, 32, 64], 3, 8);
    assert!(weight_kernels(&small, fits, HOPPER).is_ok());
    let cases = [
        (small, WeightConfig { strips: 17, ..fits }, "`strips` is 17, allowed are multiples of 1 from 1 to 16"),
        (
            layer([4, 32, 32, 64], 3, 16),
            WeightConfig { strips: 3, ..fits },
            "`strips` is 3, allowed are multiples of 2",
        ),
        (small, WeightConfig { columns: 33, ..fits }, "`columns` is 33, allowed are 1 to 32"),
        (small, WeightConfig { images: 5, ..fits }, "`images` is 5, allowed are 1, or up to 4"),
        (small, WeightConfig { columns: 16, images: 2, ..fits }, "`images` is 2, allowed are 1, or up to 4"),
        (small, WeightConfig { rows: 33, ..fits }, "`rows` is 33, allowed are 1 to 32"),
        (small, WeightConfig { items: 5, ..fits }, "`items` is 5, allowed are 1 to 4, all images"),
        (small, WeightConfig { tiles: 9, ..fits }, "`tiles` is 9, allowed are 1 to 8"),
        (small, WeightConfig { slots: 1, ..fits }, "`slots` is 1, allowed are 2 to 16"),
        (small, WeightConfig { strips: 16, ..fits }, "needs 1056 threads, at most 1024"),
        (
            small,
            WeightConfig { strips: 8, images: 4, tiles: 8, slots: 16, ..fits },
            "bytes of shared memory, at most 232448",
        ),
        (layer([1, 8, 400, 64], 3, 8), WeightConfig { columns: 300, tiles: 8, ..fits }, "a copy takes at most 256"),
        (layer([16, 56, 56, 96], 7, 8), WeightConfig { tiles: 8, columns: 56, ..fits }, "registers a thread, at most"),
    ];
    for (problem, config, part) in cases {
        let error = weight_kernels(&problem, config, HOPPER).unwrap_err().to_string();
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
}

#[test]
fn there_is_something_to_choose_from() {
    let count = |it: &Problem| WeightOperation::estimates(it, HOPPER, &DeviceFacts::h200()).len();
    let mut counts: Vec<_> = layers().iter().map(count).collect();
    counts.sort_unstable();
    assert!(counts[0] > 0 && counts[counts.len() / 2] >= 100, "{counts:?}");
}
