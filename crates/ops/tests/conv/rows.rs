//! The row kernel on the host model: random problems under random configurations, copies by the engine and by threads.

use super::compare::{Accuracy, Operands, check};
use super::memory::{from_bytes, guarded, lines, to_bytes, within};
use super::problems::{chosen, pinned, problems, wide};
use crate::support::Random;
use tilewright_driver::TargetKind;
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_headers::tensor_map::TensorMap;
use tilewright_ops::conv::{
    Conv2d, Fusing, KernelText, Multiprocessor, Pass, Precision, Problem, RowConfig, row_candidates, row_kernel,
    row_kernel_with,
};

pub(crate) const HOPPER: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };
pub(crate) const AMPERE: Multiprocessor = Multiprocessor { shared_bytes: 166_912, bulk_copies: false };
/// Compute capabilities 8.6 and 8.9.
pub(crate) const SMALL: Multiprocessor = Multiprocessor { shared_bytes: 101_376, bulk_copies: false };

/// Products of tensor cores: those of halves are exact, tf32 has 11 bits; sums lose at most two more bits than f32 ones do.
pub(crate) fn accuracy(precision: Precision) -> Accuracy {
    let product = if precision == Precision::F32 { 2.1 / 2048.0 } else { 0.0 };
    Accuracy { product, sum: 4.0 / (1u64 << 24) as f64 }
}

/// The most of what configurations by chance have.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) threads: u32,
    pub(crate) strips: usize,
    pub(crate) images: usize,
    pub(crate) items: usize,
    pub(crate) tiles: usize,
    pub(crate) slots: usize,
}

impl Most {
    /// What the host model runs in bearable time.
    pub(crate) const HOST: Most = Most { threads: 416, strips: 6, images: 4, items: 3, tiles: 4, slots: 5 };
    /// What kernels can have.
    pub(crate) const LEGAL: Most = Most { threads: 1024, strips: 32, images: 16, items: 16, tiles: 8, slots: 16 };
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
    drawn(r, (problem, pass), sm, fusing, Most::HOST)
}

/// As [`random_with`], within other limits.
pub(crate) fn drawn(
    r: &mut Random,
    (problem, pass): (&Problem, Pass),
    sm: Multiprocessor,
    fusing: Fusing<'_>,
    most: Most,
) -> (RowConfig, KernelText) {
    let written = if pass == Pass::Forward { problem.output() } else { [problem.height, problem.width] };
    for _ in 0..100_000 {
        let mut of = |limit: usize| 1 + r.below(limit as u64) as usize;
        let strips = of(most.strips);
        let all = of(2) == 1;
        let config = RowConfig {
            strips,
            warp_strips: [1, 2, 3, 4][of(4) - 1],
            images: if all { of(problem.images.clamp(1, most.images)) } else { 1 },
            items: of(most.items),
            columns: if all { written[1] } else { of(written[1]) },
            // Now and then those of several images.
            rows: if of(3) == 1 { of(3 * written[0]) } else { of(written[0]) },
            tiles: of(most.tiles),
            step: of(2),
            slots: 1 + of(most.slots - 1),
            whole_rows: of(2) == 1,
        };
        if let Ok(kernel) = row_kernel_with(problem, pass, config, sm, true, fusing)
            && kernel.threads <= most.threads
        {
            return (config, kernel);
        }
    }
    panic!("chance finds no legal configuration: {pass:?} of {problem:?}")
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
    let mut y = guarded(&poisoned);
    let mut block =
        [host_map(&kernel.read, a.as_ptr() as u64), host_map(&kernel.other, y[1..].as_mut_ptr() as u64)].concat();
    for address in [a.as_ptr() as u64, b.as_ptr() as u64, bias.as_ptr() as u64, y[1..].as_mut_ptr() as u64] {
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
    let result = within(&y, poisoned.len());
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
    // Weights that rest take more registers on their way in steps of two rows.
    let wide = Conv2d::new().padding(3);
    let resting = Problem::of_forward([4, 32, 32, 64], [64, 7, 7, 16], Precision::F32, &wide).unwrap();
    let steps_of_one = RowConfig { tiles: 2, ..fits };
    assert!(row_kernel(&resting, Pass::Forward, steps_of_one, HOPPER, false).is_ok());
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
        (resting, RowConfig { tiles: 2, step: 2, ..fits }, "registers a thread"),
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
    right("by_the_copy_engine", &[chosen(), pinned(), problems(91, 24)].concat(), HOPPER);
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
        // Images stand apart by two more columns than taps reach.
        assert_eq!(kernel.read.as_ref().map(|map| map.box_sizes()[1]), Some(21), "{config:?}");
        (&problem, pass, (config, kernel))
    });
    all_right("by_warpgroups_of_stacked_rows", &cases, |number, problem| match number {
        0 => vec![(Schedule::Shuffled(7), Operands::not_finite(problem, 7))],
        _ => vec![(Schedule::Shuffled(8), Operands::random(problem, 8))],
    });
}

/// Configurations whose warps go through steps one behind the other, of whole images and of rows that stand upon each other; weights pass through the ring.
pub(crate) fn paced() -> (Problem, [(Pass, RowConfig); 2]) {
    let params = Conv2d::new().padding(3);
    let problem = Problem::of_forward([6, 5, 28, 32], [32, 7, 7, 8], Precision::F16, &params).unwrap();
    let of = |rows, items| RowConfig {
        strips: 2,
        warp_strips: 2,
        images: 4,
        items,
        columns: 28,
        rows,
        tiles: 1,
        step: 2,
        slots: 4,
        whole_rows: false,
    };
    (problem, [(Pass::Forward, of(5, 2)), (Pass::GradInput, of(7, 1))])
}

#[test]
fn by_warps_one_behind_the_other() {
    let (problem, configs) = paced();
    let cases = configs.map(|(pass, config)| {
        let kernel = row_kernel(&problem, pass, config, HOPPER, true).unwrap();
        assert!(kernel.text.contains("paced = true"), "{config:?}");
        (&problem, pass, (config, kernel))
    });
    all_right("by_warps_one_behind_the_other", &cases, |number, problem| match number {
        0 => vec![(Schedule::Shuffled(9), Operands::not_finite(problem, 9))],
        _ => vec![(Schedule::Shuffled(10), Operands::random(problem, 10))],
    });
}

/// Images of a block stand apart where rows of a matrix would lie in the same banks, if that is many of them and there is memory for it; nothing else about a kernel changes.
#[test]
fn images_stand_apart() {
    // Columns that are read of each image, and rows that wait to be sent. Pixels of 16 bytes a strip, of as many as a power of two and not.
    let read = |columns: usize, strips: usize, images: usize, slots: usize| {
        let channels = 8 * strips;
        let params = Conv2d::new().padding(2);
        let problem =
            Problem::of_forward([64, 7, columns, channels], [channels, 5, 5, 8], Precision::F16, &params).unwrap();
        let tiles = (images * columns).div_ceil(16).min(7);
        let config = RowConfig {
            strips,
            warp_strips: 1,
            images,
            items: 1,
            columns,
            rows: 7,
            tiles,
            step: 1,
            slots,
            whole_rows: true,
        };
        let kernel = row_kernel(&problem, Pass::Forward, config, HOPPER, false).unwrap();
        let columns = kernel.read.unwrap().box_sizes()[1];
        assert!(kernel.text.contains(&format!("constexpr int reach = {columns};")));
        (columns, kernel.text.contains("constexpr int sent = 4;"))
    };
    // Every matrix meets the end of an image: 4 columns more make 7 and 15 the same of 8.
    assert_eq!(read(7, 8, 8, 4), (15, true));
    assert_eq!(read(7, 4, 8, 4), (15, true));
    // Ten cells: banks come round after four pixels.
    assert_eq!(read(7, 10, 4, 4), (11, true));
    // One image, images that end where matrices do, matrices of which hardly any meets an end, pixels of two cells.
    assert_eq!(read(7, 8, 1, 4), (11, true));
    assert_eq!(read(16, 8, 2, 4), (20, true));
    assert_eq!(read(43, 4, 2, 4), (47, true));
    assert_eq!(read(7, 2, 8, 4), (11, true));
    // A ring that leaves no memory for either.
    assert_eq!(read(7, 8, 8, 16), (11, true));
    assert_eq!(read(7, 8, 16, 8), (11, false));
}

#[test]
fn by_threads() {
    right("by_threads", &[pinned(), problems(92, 24)].concat(), AMPERE);
}

#[test]
fn by_threads_with_less_shared_memory() {
    right("by_threads_with_less_shared_memory", &problems(94, 12), SMALL);
}

/// The layers of the figures that are to be reached.
pub(crate) fn layers() -> Vec<Problem> {
    let layers = [
        ([128, 64, 64, 64], 3, 8),
        ([128, 112, 112, 64], 3, 8),
        ([128, 56, 56, 128], 3, 8),
        ([64, 16, 16, 1024], 3, 8),
        ([256, 14, 14, 672], 5, 8),
        ([256, 7, 7, 1152], 5, 8),
        ([128, 56, 56, 96], 7, 8),
        ([128, 56, 56, 144], 3, 1),
        ([128, 56, 56, 96], 7, 1),
        ([320, 56, 56, 80], 5, 8),
    ];
    let layer = |(x, taps, group): ([usize; 4], usize, usize)| {
        let params = Conv2d::new().padding(taps / 2);
        Problem::of_forward(x, [x[3], taps, taps, group], Precision::F16, &params).unwrap()
    };
    layers.map(layer).to_vec()
}

/// Of 49 taps by 16 channels of f32 there are more weights than registers: some rest in shared memory, and of no other problem.
#[test]
fn what_registers_do_not_hold() {
    let rests = |problem: &Problem, pass, sm| {
        let candidates = row_candidates(problem, pass, sm, 132);
        assert!(candidates.len() >= 3, "{} candidates: {pass:?} of {problem:?}", candidates.len());
        let kernel = row_kernel(problem, pass, candidates[0], sm, false).unwrap();
        !kernel.text.contains("constexpr int resting = 0;")
    };
    for pass in [Pass::Forward, Pass::GradInput] {
        for sm in [HOPPER, AMPERE, SMALL] {
            assert!(wide().iter().all(|problem| rests(problem, pass, sm)), "{pass:?}");
            for (taps, precision) in [([7, 6], Precision::F32), ([6, 7], Precision::F32), ([7, 7], Precision::F16)] {
                let w = [32, taps[0], taps[1], 16];
                let other = Problem::of_forward([2, 12, 12, 32], w, precision, &Conv2d::new().padding(3)).unwrap();
                assert!(!rests(&other, pass, sm), "{pass:?} of {other:?}");
            }
        }
    }
}

#[test]
fn there_is_something_to_choose_from() {
    for pass in [Pass::Forward, Pass::GradInput] {
        let count = |problem: &Problem| row_candidates(problem, pass, HOPPER, 132).len();
        let mut counts: Vec<usize> = layers().iter().map(count).collect();
        counts.sort_unstable();
        assert!(counts[0] > 0 && counts[counts.len() / 2] >= 100, "{pass:?}: {counts:?}");
    }
}
