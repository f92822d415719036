//! Convolutions to test with: random ones, and those that have to be among them.

use crate::support::Random;
use tilewright_ops::conv::{Conv2d, GROUP_WIDTHS, Precision, Problem};

/// Pictures: odd sizes, and the smallest.
const PICTURES: [[usize; 2]; 6] = [[49, 33], [20, 19], [6, 5], [1, 1], [14, 14], [7, 9]];
/// Multiplications that the slow reference does in bearable time.
const WORK: f64 = 2e5;
const PRECISIONS: [Precision; 3] = [Precision::F16, Precision::Bf16, Precision::F32];

/// `count` random convolutions: all group widths, kernels of 1 to 7 in each direction, paddings of 0 to 7 on each side, strides and
/// dilations of 1 and 2, 1 to 6 images, 1 to 16 groups. Group widths and precisions take turns, so that a few problems have all pairs.
pub(crate) fn problems(seed: u64, count: usize) -> Vec<Problem> {
    let mut r = Random(seed);
    let mut problems = Vec::new();
    while problems.len() < count {
        let turn = problems.len();
        let width = GROUP_WIDTHS[turn % GROUP_WIDTHS.len()];
        let precision = PRECISIONS[turn / GROUP_WIDTHS.len() % PRECISIONS.len()];
        if let Some(problem) = random(&mut r, width, precision).filter(|p| p.flops() / 2.0 <= WORK) {
            problems.push(problem);
        }
    }
    problems
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
    let turns = all.into_iter().zip(PRECISIONS.into_iter().cycle());
    let of = |((x, [rows, columns, width], params), precision): ((_, [usize; 3], Conv2d), _)| {
        let x: [usize; 4] = x;
        Problem::of_forward(x, [x[3], rows, columns, width], precision, &params).expect("a legal convolution")
    };
    turns.map(of).collect()
}
