//! Which configuration the weights' gradient takes: all legal ones of a grid, and an estimate of their time.

use super::meeting::Meeting;
use super::problem::{Pass, Problem};
use super::row_plan::{Multiprocessor, STRIP};
use super::weight_estimate::estimate;
use super::weight_plan::{WeightConfig, WeightPlan, depth};

const STRIPS: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12];
const ROWS: [usize; 6] = [7, 8, 14, 16, 28, 32];
const COLUMNS: [usize; 6] = [16, 28, 32, 48, 56, 64];
const IMAGES: [usize; 5] = [1, 2, 4, 8, 16];
const TILES: [usize; 5] = [1, 2, 3, 4, 7];
const ITEMS: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
const SLOTS: [usize; 4] = [3, 4, 6, 8];

/// The legal configurations of the weights' gradient that are worth a look, with what the estimate expects of each, in microseconds on a
/// GPU of so many multiprocessors; the fastest first. None has more than a third of its pixels or channels for nothing.
pub fn weight_estimates(problem: &Problem, sm: Multiprocessor, multiprocessors: usize) -> Vec<(f64, WeightConfig)> {
    let mut estimates = Vec::new();
    let rows = Meeting::of(problem, 0, Pass::GradWeight).phase_len();
    let heights: Vec<usize> = ROWS.into_iter().filter(|height| *height < rows).chain([rows]).collect();
    for [strips, images, columns, tiles] in tilings(problem) {
        for slots in SLOTS {
            for rows in heights.iter().copied() {
                for items in ITEMS.into_iter().filter(|items| *items <= problem.images.div_ceil(images)) {
                    let config = WeightConfig { strips, images, items, columns, rows, tiles, slots };
                    let plan = WeightPlan::new(*problem, config, sm).ok().filter(|plan| worth_it(plan));
                    estimates.extend(plan.map(|plan| (estimate(&plan, multiprocessors), config)));
                }
            }
        }
    }
    estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
    estimates
}

/// Strips of a block, images, columns and tiles, without those that are refused at a glance.
fn tilings(problem: &Problem) -> Vec<[usize; 4]> {
    let (channels, written) = (problem.channels(), problem.output()[1]);
    let mut sides: Vec<[usize; 2]> =
        IMAGES.into_iter().filter(|it| *it <= problem.images).map(|images| [images, written]).collect();
    sides.extend(COLUMNS.into_iter().filter(|side| *side < written).map(|side| [1, side]));
    let mut tilings = Vec::new();
    for strips in STRIPS.into_iter().filter(|s| little_waste(channels, s * STRIP)) {
        for [images, columns] in sides.iter().copied() {
            let tiles = TILES.into_iter().filter(|tiles| little_waste(images * columns, tiles * depth(problem)));
            tilings.extend(tiles.map(|tiles| [strips, images, columns, tiles]));
        }
    }
    tilings
}

/// Whether rounding up to whole parts adds no more than a third, or there is less than one part.
fn little_waste(size: usize, part: usize) -> bool {
    3 * size.next_multiple_of(part) <= 4 * size || (size < part && 2 * size > part)
}

/// Whether parts are not larger than the operands, unless there are no fewer.
fn worth_it(plan: &WeightPlan) -> bool {
    plan.blocks[1..3].iter().product::<usize>() == plan.parts()
        || plan.workspace() as f64 <= plan.problem.bytes(Pass::GradWeight)
}

/// The configuration of the shortest estimate; where none of the grid is legal, the smallest there is.
pub(super) fn chosen_weights(problem: &Problem, sm: Multiprocessor, multiprocessors: usize) -> WeightConfig {
    let best = weight_estimates(problem, sm, multiprocessors).first().map(|(_, config)| *config);
    best.unwrap_or(WeightConfig {
        strips: problem.group_width.div_ceil(STRIP),
        images: 1,
        items: 1,
        columns: problem.output()[1].min(8),
        rows: 1,
        tiles: 1,
        slots: 2,
    })
}
