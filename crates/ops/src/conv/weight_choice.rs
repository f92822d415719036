//! Which configuration the weights' gradient takes: all legal ones of a grid, and an estimate of their time.

use super::candidates::{self, Kept, TILES, little_waste, sides};
use super::ends::Reading;
use super::meeting::Meeting;
use super::problem::{Pass, Problem};
use super::row_plan::{Multiprocessor, STRIP, bringing};
use super::weight_estimate::{image, least_of_images, of_blocks};
use super::weight_operation::{WeightOperation, work};
use super::weight_plan::{WeightConfig, WeightPlan, depth};
use tilewright_perf::{DeviceFacts, Models};

const STRIPS: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12];
const ROWS: [usize; 6] = [7, 8, 14, 16, 28, 32];
const SLOTS: [usize; 4] = [3, 4, 6, 8];
/// How many times the blocks are to fill all multiprocessors.
const WAVES: [usize; 4] = [1, 2, 3, 4];

/// A problem, and from where its input and its result's gradient come.
type Of<'a> = (&'a Problem, [Reading; 2]);

/// The legal configurations that are worth a look, with what the estimate expects of each, in microseconds on a GPU of so many
/// multiprocessors; the fastest first. None has more than a third of its pixels or channels for nothing.
pub(super) fn estimates(of: Of<'_>, sm: Multiprocessor, multiprocessors: usize) -> Vec<(f64, WeightConfig)> {
    let mut estimates = Vec::new();
    each_height(of, sm, |_, plan, resident| {
        let image = image(plan, resident);
        each_length(*plan, multiprocessors, resident, |_, plan| {
            estimates.push((of_blocks(plan, multiprocessors, resident, image), plan.config));
        });
    });
    estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
    estimates
}

/// The first [`RANKED`] of [`estimates`]: of all others it is enough to know that no number of items makes them fast enough.
///
/// [`RANKED`]: super::candidates::RANKED
fn estimated(of: Of<'_>, sm: Multiprocessor, multiprocessors: usize) -> Vec<(f64, WeightConfig)> {
    let mut kept = Kept::new();
    each_height(of, sm, |place, plan, resident| {
        let image = image(plan, resident);
        if kept.has_better_than(least_of_images(plan, multiprocessors, image)) {
            return;
        }
        each_length(*plan, multiprocessors, resident, |item, plan| {
            kept.add(of_blocks(plan, multiprocessors, resident, image), [place, item], plan.config);
        });
    });
    kept.sorted()
}

/// Goes through the plans that differ in more than items, each with one item, with its place among them and how many of its blocks a
/// multiprocessor has.
fn each_height((problem, readings): Of<'_>, sm: Multiprocessor, mut visit: impl FnMut(usize, &WeightPlan, usize)) {
    let rows = Meeting::of(problem, 0, Pass::GradWeight).phase_len();
    let heights: Vec<usize> = ROWS.into_iter().filter(|height| *height < rows).chain([rows]).collect();
    let mut place = 0;
    for [strips, images, columns, tiles] in tilings(problem) {
        for slots in SLOTS {
            let config = WeightConfig { strips, images, items: 1, columns, rows, tiles, slots };
            let Ok(mut plan) = WeightPlan::new(*problem, config, sm, readings) else { continue };
            let resident = plan.resident();
            for rows in heights.iter().copied() {
                // Whether the number of blocks is legal depends on the items, and is asked with them.
                let _ = plan.retake(1, rows);
                visit(place, &plan, resident);
                place += 1;
            }
        }
    }
}

/// Goes through the legal ones of a plan's numbers of items that are worth it.
fn each_length(
    mut plan: WeightPlan,
    multiprocessors: usize,
    resident: usize,
    mut visit: impl FnMut(usize, &WeightPlan),
) {
    let rows = plan.config.rows;
    for (item, items) in lengths(&plan, multiprocessors * resident).enumerate() {
        if plan.retake(items, rows) && worth_it(&plan) {
            visit(item, &plan);
        }
    }
}

/// Items of a block, so that the blocks, of which so many run at once, fill the multiprocessors once or several times.
fn lengths(plan: &WeightPlan, at_once: usize) -> impl Iterator<Item = usize> + use<> {
    let [_, rows, columns, channels] = plan.blocks;
    let turns = plan.problem.images.max(1).div_ceil(plan.config.images);
    let mut lengths =
        WAVES.map(|waves| turns.div_ceil((waves * at_once / (rows * columns * channels)).clamp(1, turns)));
    lengths.sort_unstable();
    let mut last = 0;
    lengths.into_iter().filter(move |items| std::mem::replace(&mut last, *items) != *items)
}

/// Strips of a block, images, columns and tiles, without those that are refused at a glance.
fn tilings(problem: &Problem) -> Vec<[usize; 4]> {
    let (channels, sides) = (problem.channels(), sides(problem.images, problem.output()[1]));
    let mut tilings = Vec::new();
    for strips in STRIPS.into_iter().filter(|s| little_waste(channels, s * STRIP)) {
        for [images, columns] in sides.iter().copied() {
            let tiles = TILES.into_iter().filter(|tiles| little_waste(images * columns, tiles * depth(problem)));
            tilings.extend(tiles.map(|tiles| [strips, images, columns, tiles]));
        }
    }
    tilings
}

/// Whether parts are not larger than the operands, unless there are no fewer.
fn worth_it(plan: &WeightPlan) -> bool {
    plan.blocks[1..3].iter().product::<usize>() == plan.parts()
        || plan.workspace() as f64 <= plan.problem.bytes(Pass::GradWeight)
}

/// The best of the candidates, by a model, or by the estimate where no model can say; where there is none, the smallest there is.
pub(super) fn chosen(models: &Models, of: Of<'_>, sm: Multiprocessor, device: &DeviceFacts) -> WeightConfig {
    first(1, models, of, sm, device).first().copied().unwrap_or_else(|| smallest(of))
}

/// As [`chosen`], the best `count`, the best of them first; fewer where there are no more, none where no candidate is legal.
pub(super) fn first(
    count: usize,
    models: &Models,
    (problem, readings): Of<'_>,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<WeightConfig> {
    let estimated = estimated((problem, readings), sm, device.multiprocessors as usize);
    let plan = |(_, config): &(f64, WeightConfig)| WeightPlan::new(*problem, *config, sm, readings).ok();
    let plans: Vec<WeightPlan> = estimated.iter().filter_map(plan).collect();
    let by_estimate = || plans.iter().take(count).map(|plan| plan.config).collect();
    learned(count, models, &plans, device).unwrap_or_else(by_estimate)
}

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(count: usize, models: &Models, plans: &[WeightPlan], device: &DeviceFacts) -> Option<Vec<WeightConfig>> {
    // No kernel whose rows are brought by threads is among those that were measured.
    if plans.iter().any(|plan| plan.bulk != [true; 2]) {
        return None;
    }
    let work = |index: usize| work(&plans[index], device.multiprocessors as usize);
    let best = candidates::learned(&WeightOperation, models, device, (count, plans.len()), work)?;
    Some(best.into_iter().map(|index| plans[index].config).collect())
}

/// One strip of one product: legal wherever a kernel is.
fn smallest((problem, readings): Of<'_>) -> WeightConfig {
    let (strips, columns) = (problem.group_width.div_ceil(STRIP), problem.output()[1].min(8));
    let slots = readings.map(bringing).into_iter().fold(2, usize::max);
    WeightConfig { strips, images: 1, items: 1, columns, rows: 1, tiles: 1, slots }
}

#[cfg(test)]
mod tests {
    use super::super::candidates::RANKED;
    use super::super::params::Conv2d;
    use super::super::problem::Precision;
    use super::*;

    #[test]
    fn what_is_kept_is_the_fastest_of_all() {
        let sm = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };
        let padded = |padding: usize| Conv2d::new().padding(padding);
        let cases = [
            ([128, 64, 64, 64], [64, 3, 3, 8], Precision::F16, padded(1)),
            ([256, 7, 7, 1152], [1152, 5, 5, 8], Precision::Bf16, padded(2)),
            ([3, 49, 33, 40], [40, 3, 7, 4], Precision::F16, Conv2d::new().padding([1, 3]).stride(2)),
            ([32, 19, 21, 96], [96, 5, 3, 16], Precision::F32, Conv2d::new().padding([2, 1]).dilation(2)),
            ([1, 1, 1, 8], [8, 1, 1, 8], Precision::F16, padded(0)),
            ([0, 5, 5, 8], [8, 3, 3, 8], Precision::F16, padded(0)),
        ];
        let mut full = 0;
        for (x, w, precision, params) in cases {
            let problem = Problem::of_forward(x, w, precision, &params).unwrap();
            for readings in [[Reading::Stored; 2], [Reading::Computed, Reading::Stored]] {
                let of = (&problem, readings);
                let mut all = estimates(of, sm, 132);
                full += usize::from(all.len() > RANKED);
                all.truncate(RANKED);
                assert!(estimated(of, sm, 132) == all, "{problem:?}, {readings:?}");
            }
        }
        assert_eq!(full, 8, "problems with more candidates than are kept");
    }
}
