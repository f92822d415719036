//! Convolutions to test with: random ones, and those that have to be among them.

use crate::support::Random;
use tilewright_ops::conv::{Conv2d, GROUP_WIDTHS, Precision, Problem};

/// Pictures: odd sizes, and the smallest.
const PICTURES: [[usize; 2]; 6] = [[49, 33], [20, 19], [6, 5], [1, 1], [14, 14], [7, 9]];
/// Multiplications that the slow reference does in bearable time: those of most problems, and of ample ones.
const WORK: [f64; 2] = [2e5, 1.5e6];
/// The same on a machine with a GPU, which has many cores too.
const MORE_WORK: [f64; 2] = [4e6, 2e7];
const PRECISIONS: [Precision; 3] = [Precision::F16, Precision::Bf16, Precision::F32];

/// All sets of random convolutions in tests: seeds, and how many.
pub(crate) const SETS: [(u64, usize); 23] = [
    (61, 12),
    (63, 12),
    (64, 12),
    (65, 12),
    (66, 12),
    (71, 72),
    (72, 12),
    (73, 40),
    (74, 36),
    (75, 24),
    (76, 24),
    (91, 24),
    (92, 24),
    (94, 12),
    (97, 24),
    (98, 12),
    (99, 12),
    (111, 12),
    (112, 12),
    (113, 12),
    (114, 12),
    (121, 12),
    (122, 24),
];
/// And of [`larger`] ones, on GPUs.
pub(crate) const SETS_OF_LARGER: [(u64, usize); 3] = [(81, 48), (83, 24), (85, 6)];

/// `count` random convolutions: all group widths, kernels of 1 to 7 in each direction, paddings of 0 to 7 on each side, strides and
/// dilations of 1 and 2, 1 to 6 images, 1 to 16 groups. Group widths and precisions take turns, so that a few problems have all pairs; every
/// fourth is ample.
pub(crate) fn problems(seed: u64, count: usize) -> Vec<Problem> {
    assert!(SETS.contains(&(seed, count)), "({seed}, {count}) is no set whose coverage is tested");
    drawn(seed, count, WORK)
}

/// As [`problems`], with more to do.
pub(crate) fn larger(seed: u64, count: usize) -> Vec<Problem> {
    assert!(SETS_OF_LARGER.contains(&(seed, count)), "({seed}, {count}) is no set whose coverage is tested");
    drawn(seed, count, MORE_WORK)
}

fn drawn(seed: u64, count: usize, [work, work_of_ample]: [f64; 2]) -> Vec<Problem> {
    let mut r = Random(seed);
    let mut problems = Vec::new();
    while problems.len() < count {
        let turn = problems.len();
        let width = GROUP_WIDTHS[turn % GROUP_WIDTHS.len()];
        let precision = PRECISIONS[turn / GROUP_WIDTHS.len() % PRECISIONS.len()];
        // Of two groups of 8 and of 16 one is.
        let ample = width >= 8 && (turn / GROUP_WIDTHS.len()).is_multiple_of(2);
        let most = if ample { work_of_ample } else { work };
        let fits = |p: &Problem| p.flops() / 2.0 <= most && (!ample || is_ample(p));
        problems.extend(random(&mut r, width, precision).filter(fits));
    }
    problems
}

/// Whether tensor cores have whole groups, taps are paired along both directions, and a result is wider and higher than a tile's half.
pub(crate) fn is_ample(problem: &Problem) -> bool {
    problem.group_width >= 8
        && problem.kernel.iter().all(|taps| *taps >= 3)
        && problem.output().iter().all(|n| *n >= 10)
}

/// A random convolution, if it is a legal one.
fn random(r: &mut Random, width: usize, precision: Precision) -> Option<Problem> {
    let mut between = |low: usize, high: usize| low + r.below((high - low + 1) as u64) as usize;
    let [height, columns] = PICTURES[between(0, PICTURES.len() - 1)];
    let (images, groups) = (between(1, 6), between(1, 16));
    let kernel = [between(1, 7), between(1, 7)];
    // Half of the paddings are small: with large ones every tap of a small picture meets some.
    let mut side = || if between(0, 1) == 0 { between(0, 2) } else { between(0, 7) };
    let padding = [[side(), side()], [side(), side()]];
    let params =
        Conv2d::new().padding(padding).stride([between(1, 2), between(1, 2)]).dilation([between(1, 2), between(1, 2)]);
    let channels = groups * width;
    let w = [channels, kernel[0], kernel[1], width];
    Problem::of_forward([images, height, columns, channels], w, precision, &params).ok()
}

/// Convolutions that have to be right whatever chance brings: more channels than a block has, images wider than a tile, kernels larger
/// than pictures, padding alone under some taps, and layers of real networks cut to a picture or two.
pub(crate) fn chosen() -> Vec<Problem> {
    let plain = Conv2d::new();
    let all = [
        ([1, 3, 19, 136], [3, 3, 8], plain.padding(1)),
        ([2, 3, 5, 100], [3, 3, 1], plain.padding(1)),
        ([1, 3, 4, 80], [5, 5, 16], plain.padding(2)),
        ([1, 5, 6, 68], [2, 4, 4], plain.padding([[1, 0], [2, 1]])),
        ([1, 1, 1, 8], [7, 7, 8], plain.padding(7).stride(2)),
        ([3, 2, 3, 8], [1, 1, 8], plain.padding(7)),
        ([2, 7, 14, 8], [5, 5, 8], plain.padding(2)),
        ([1, 15, 30, 33], [7, 7, 1], plain.padding(3).stride(2)),
        ([1, 13, 17, 16], [3, 3, 8], plain.padding(2).dilation(2).stride(2)),
    ];
    of(&all)
}

/// Convolutions of these inputs, kernels with their group widths, and parameters; precisions take turns.
fn of(all: &[([usize; 4], [usize; 3], Conv2d)]) -> Vec<Problem> {
    let turns = all.iter().zip(PRECISIONS.into_iter().cycle());
    let problem = |((x, [rows, columns, width], params), precision): (&([usize; 4], [usize; 3], Conv2d), _)| {
        Problem::of_forward(*x, [x[3], *rows, *columns, *width], precision, params).expect("a legal convolution")
    };
    turns.map(problem).collect()
}

/// Convolutions of more weights than a thread of the row kernel has registers for.
pub(crate) fn wide() -> Vec<Problem> {
    let plain = Conv2d::new().padding(3);
    let all = [
        ([2, 9, 20, 32], plain),
        ([1, 12, 27, 48], plain.stride(2).padding([[7, 0], [2, 3]])),
        ([1, 13, 28, 16], plain.dilation([2, 1]).stride([1, 2])),
    ];
    let problem = |(x, params): ([usize; 4], Conv2d)| {
        Problem::of_forward(x, [x[3], 7, 7, 16], Precision::F32, &params).expect("a legal convolution")
    };
    all.map(problem).to_vec()
}

/// Odd pictures with wide groups, large kernels, many groups, many images and much padding at once, and [`wide`] ones: what chance rarely
/// brings together.
pub(crate) fn pinned() -> Vec<Problem> {
    let plain = Conv2d::new();
    let all = [
        ([6, 6, 5, 128], [3, 3, 8], plain.padding(1)),
        ([6, 6, 5, 16], [7, 7, 16], plain.padding(7)),
        ([1, 6, 5, 256], [3, 3, 16], plain.padding([[7, 0], [1, 7]])),
        ([1, 49, 33, 16], [3, 3, 16], plain.padding(1)),
        ([1, 49, 33, 8], [7, 7, 8], plain.padding(3).stride(2)),
        ([1, 49, 33, 8], [5, 5, 8], plain.padding(7)),
        ([2, 20, 19, 16], [7, 7, 8], plain.padding([[7, 0], [3, 7]]).stride([1, 2])),
        ([1, 20, 19, 32], [5, 5, 16], plain.padding(7).stride(2)),
        ([1, 20, 19, 128], [3, 3, 8], plain.padding(2).dilation(2)),
    ];
    [of(&all), wide()].concat()
}
