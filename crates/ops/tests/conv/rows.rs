//! The row kernel on the host model: random problems under random configurations, copies by the engine and by threads.

use super::Exactly;
use super::compare::{Accuracy, Operands, check};
use super::problems::{chosen, problems};
use crate::support::Random;
use tilewright_driver::TargetKind;
use tilewright_expr::{bf16, f16};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_headers::tensor_map::TensorMap;
use tilewright_ops::conv::{
    Conv2d, Fusing, KernelText, Multiprocessor, Pass, Precision, Problem, RowConfig, row_kernel, row_kernel_with,
};

pub(crate) const HOPPER: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };
pub(crate) const AMPERE: Multiprocessor = Multiprocessor { shared_bytes: 166_912, bulk_copies: false };

/// Products of tensor cores: those of halves are exact, tf32 has 11 bits; sums lose at most two more bits than f32 ones do.
pub(crate) fn accuracy(precision: Precision) -> Accuracy {
    let product = if precision == Precision::F32 { 2.1 / 2048.0 } else { 0.0 };
    Accuracy { product, sum: 4.0 / (1u64 << 24) as f64 }
}

/// A legal configuration by chance, small enough for the host model.
pub(crate) fn random(r: &mut Random, problem: &Problem, pass: Pass, sm: Multiprocessor) -> (RowConfig, KernelText) {
    random_with(r, (problem, pass), sm, Fusing::nothing(problem.precision))
}

/// As [`random`], with expressions.
pub(crate) fn random_with(
    r: &mut Random,
    (problem, pass): (&Problem, Pass),
    sm: Multiprocessor,
    fusing: Fusing<'_>,
) -> (RowConfig, KernelText) {
    let written = if pass == Pass::Forward { problem.output() } else { [problem.height, problem.width] };
    loop {
        let mut of = |limit: usize| 1 + r.below(limit as u64) as usize;
        let strips = of(6);
        let all = of(2) == 1;
        let config = RowConfig {
            strips,
            warp_strips: [1, 2, 3, 4][of(4) - 1],
            images: if all { of(problem.images.clamp(1, 4)) } else { 1 },
            items: of(3),
            columns: if all { written[1] } else { of(written[1]) },
            // Now and then those of several images.
            rows: if of(3) == 1 { of(3 * written[0]) } else { of(written[0]) },
            tiles: of(4),
            step: of(2),
            slots: 1 + of(4),
            whole_rows: of(2) == 1,
        };
        if let Ok(kernel) = row_kernel_with(problem, pass, config, sm, true, fusing)
            && kernel.threads <= 416
        {
            return (config, kernel);
        }
    }
}

fn bytes<T: Exactly + bytemuck::NoUninit>(values: &[f32]) -> Vec<u8> {
    let values: Vec<T> = values.iter().map(|v| T::of(*v)).collect();
    bytemuck::cast_slice(&values).to_vec()
}

fn values<T: Exactly + bytemuck::Pod>(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(size_of::<T>()).map(|v| bytemuck::pod_read_unaligned::<T>(v).value()).collect()
}

/// Values as elements of a type.
pub(crate) fn to_bytes(precision: Precision, values: &[f32]) -> Vec<u8> {
    match precision {
        Precision::F16 => bytes::<f16>(values),
        Precision::Bf16 => bytes::<bf16>(values),
        Precision::F32 => bytes::<f32>(values),
    }
}

pub(crate) fn from_bytes(precision: Precision, bytes: &[u8]) -> Vec<f32> {
    match precision {
        Precision::F16 => values::<f16>(bytes),
        Precision::Bf16 => values::<bf16>(bytes),
        Precision::F32 => values::<f32>(bytes),
    }
}

/// Memory at a multiple of 128 bytes, as buffers of a GPU have it.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub(crate) struct Line([u8; 128]);

pub(crate) fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut lines = vec![Line([0; 128]); bytes.len().div_ceil(128).max(1)];
    lines.iter_mut().zip(bytes.chunks(128)).for_each(|(line, part)| line.0[..part.len()].copy_from_slice(part));
    lines
}

/// What a kernel's parameters have of a map.
pub(crate) fn host_map(map: &Option<TensorMap>, address: u64) -> Vec<u8> {
    map.as_ref().map_or(vec![0; 128], |map| map.host_bytes(address).to_vec())
}

/// Parameters of expressions, each a multiple of 16 bytes: 16 of one that is not there.
pub(crate) const NONE: [&[u8]; 2] = [&[0; 16]; 2];

/// Runs a compiled kernel on the model: results are of type `written`, `expressions` are parameters of what is behind and of what is read.
pub(crate) fn run(
    (model, number): (&HostModel, usize),
    kernel: &KernelText,
    schedule: Schedule,
    operands: &Operands,
    pass: Pass,
    (written, expressions): (Precision, [&[u8]; 2]),
    out: &mut [f32],
) {
    let precision = operands.problem.precision;
    let [(a, _), (b, _)] = operands.of(pass);
    let channels = operands.problem.channels();
    let bias = operands.bias.clone().filter(|_| pass == Pass::Forward).unwrap_or_else(|| vec![0.0; channels]);
    let (a, b, bias) =
        (lines(&to_bytes(precision, a)), lines(&to_bytes(precision, b)), lines(bytemuck::cast_slice(&bias)));
    let poisoned = to_bytes(written, out);
    let mut y = lines(&poisoned);
    let mut block =
        [host_map(&kernel.read, a.as_ptr() as u64), host_map(&kernel.other, y.as_mut_ptr() as u64)].concat();
    for address in [a.as_ptr() as u64, b.as_ptr() as u64, bias.as_ptr() as u64, y.as_mut_ptr() as u64] {
        block.extend(address.to_ne_bytes());
    }
    block.extend(expressions.concat());
    block.resize(block.len().next_multiple_of(64), 0);
    let launch = Launch {
        grid: [kernel.grid, 1, 1],
        block: [kernel.threads, 1, 1],
        shared_bytes: kernel.shared_bytes,
        schedule,
    };
    // SAFETY: the buffers have the problem's sizes and live until the launch has ended.
    unsafe { model.run(number, kernel.entry, launch, &block) }
        .unwrap_or_else(|error| panic!("{pass:?} of {:?}: {error}", operands.problem));
    let result: Vec<u8> = y.iter().flat_map(|line| line.0).take(poisoned.len()).collect();
    out.copy_from_slice(&from_bytes(written, &result));
}

/// A problem, a pass and a kernel of it.
type Case<'a> = (&'a Problem, Pass, (RowConfig, KernelText));

fn right(name: &str, problems: &[Problem], sm: Multiprocessor) {
    let mut r = Random(91);
    let cases: Vec<Case<'_>> = problems
        .iter()
        .flat_map(|problem| [Pass::Forward, Pass::GradInput].map(|pass| (problem, pass)))
        .map(|(problem, pass)| (problem, pass, random(&mut r, problem, pass, sm)))
        .collect();
    all_right(name, &cases, |number, problem| {
        let seed = number as u64 / 2;
        vec![
            (Schedule::Forward, Operands::random(problem, seed)),
            (Schedule::Shuffled(number as u64), Operands::random(problem, seed)),
            (Schedule::Shuffled(seed), Operands::not_finite(problem, seed)),
        ]
    });
}

/// Each case, by its number, in some orders and with some operands.
fn all_right(name: &str, cases: &[Case<'_>], runs: impl Fn(usize, &Problem) -> Vec<(Schedule, Operands)>) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let sources: Vec<KernelSource<'_>> =
        cases.iter().map(|(.., (_, kernel))| KernelSource { name: "conv2d", text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (number, (problem, pass, (config, kernel))) in cases.iter().enumerate() {
        for (schedule, operands) in runs(number, problem) {
            check(
                &format!("{config:?}, {schedule:?}"),
                (*pass, &operands),
                accuracy(problem.precision),
                |pass, operands, out| {
                    run((&model, number), kernel, schedule, operands, pass, (problem.precision, NONE), out)
                },
            );
        }
    }
}

/// What reads a manifest reads it as a kernel of a user's.
#[test]
fn its_text_is_a_kernel() {
    for problem in chosen() {
        let (_, kernel) = random(&mut Random(93), &problem, Pass::Forward, HOPPER);
        let interface = tilewright_ops::KernelSource::new(&kernel.text).interface().unwrap();
        assert_eq!((interface.kernel(), interface.text()), (kernel.entry, kernel.text.as_str()));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let fits = RowConfig {
        strips: 2,
        warp_strips: 1,
        images: 1,
        items: 1,
        columns: 16,
        rows: 8,
        tiles: 1,
        step: 1,
        slots: 4,
        whole_rows: false,
    };
    let problem = |images, side, channels: usize| {
        Problem::of_forward(
            [images, side, side, channels],
            [channels, 3, 3, 8],
            Precision::F16,
            &Conv2d::new().padding(1),
        )
    };
    let (small, large) = (problem(4, 32, 64).unwrap(), problem(4, 8192, 16).unwrap());
    assert!(row_kernel(&small, Pass::Forward, fits, HOPPER, false).is_ok());
    let cases = [
        (small, RowConfig { strips: 9, ..fits }, "`strips` is 9, allowed are multiples of 1 from 1 to 8"),
        (small, RowConfig { warp_strips: 3, ..fits }, "does not divide the 2 strips"),
        (small, RowConfig { columns: 33, ..fits }, "`columns` is 33, allowed are 1 to 32"),
        (
            small,
            RowConfig { images: 2, ..fits },
            "`images` is 2, allowed are 1, or up to 4 where a block has all 32 columns",
        ),
        (small, RowConfig { items: 5, ..fits }, "`items` is 5, allowed are 1 to 4"),
        (small, RowConfig { rows: 0, ..fits }, "`rows` is 0, allowed are 1 to 128, those of all images"),
        (small, RowConfig { rows: 129, ..fits }, "`rows` is 129, allowed are 1 to 128, those of all images"),
        (
            small,
            RowConfig { rows: 33, items: 2, ..fits },
            "`rows` is 33, allowed are 1 to 32, or with one item those of more images",
        ),
        (small, RowConfig { tiles: 9, ..fits }, "`tiles` is 9, allowed are 1 to 8"),
        (small, RowConfig { step: 3, ..fits }, "`step` is 3"),
        (small, RowConfig { slots: 1, ..fits }, "`slots` is 1, allowed are 2 to 16"),
        (
            small,
            RowConfig { strips: 8, warp_strips: 2, columns: 32, images: 4, tiles: 4, slots: 16, ..fits },
            "bytes of shared memory, at most 232448",
        ),
        (small, RowConfig { columns: 32, warp_strips: 2, tiles: 8, ..fits }, "registers a thread"),
        (large, RowConfig { images: 4, columns: 8192, ..fits }, "elements of a block's images, at most 2147483647"),
        (large, RowConfig { columns: 512, tiles: 8, ..fits }, "`columns` is 512, which reads 514 columns"),
    ];
    for (problem, config, part) in cases {
        let error = row_kernel(&problem, Pass::Forward, config, HOPPER, false).unwrap_err().to_string();
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
}

#[test]
fn by_the_copy_engine() {
    right("by_the_copy_engine", &[chosen(), problems(91, 24)].concat(), HOPPER);
}

/// Configurations of warpgroups that borrow registers, whose blocks begin and end in the middle of images.
pub(crate) fn warpgroups() -> (Problem, [(Pass, RowConfig); 2]) {
    let params = Conv2d::new().padding([[3, 2], [3, 3]]);
    let problem = Problem::of_forward([5, 4, 13, 64], [64, 7, 7, 8], Precision::F16, &params).unwrap();
    let of = |rows, whole_rows| RowConfig {
        strips: 8,
        warp_strips: 1,
        images: 4,
        items: 1,
        columns: 13,
        rows,
        tiles: 4,
        step: 1,
        slots: 3,
        whole_rows,
    };
    // Of 6 rows that stand upon each other, and of 8.
    (problem, [(Pass::Forward, of(4, true)), (Pass::GradInput, of(5, false))])
}

#[test]
fn by_warpgroups_of_stacked_rows() {
    let (problem, configs) = warpgroups();
    let cases = configs.map(|(pass, config)| {
        let kernel = row_kernel(&problem, pass, config, HOPPER, true).unwrap();
        assert_eq!((kernel.threads, kernel.target), (384, TargetKind::ArchSpecific), "{config:?}");
        (&problem, pass, (config, kernel))
    });
    all_right("by_warpgroups_of_stacked_rows", &cases, |number, problem| match number {
        0 => vec![(Schedule::Shuffled(7), Operands::not_finite(problem, 7))],
        _ => vec![(Schedule::Shuffled(8), Operands::random(problem, 8))],
    });
}

#[test]
fn by_threads() {
    right("by_threads", &problems(92, 24), AMPERE);
}
