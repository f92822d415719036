//! Which configuration the row kernel gets: all that make sense, and the learned model's choice among those that the estimate
//! expects most of.

use super::bringing::TURNS;
use super::candidates::{self, TILES, little_waste, sides};
use super::ends::Ends;
use super::meeting::Meeting;
use super::multiprocessor::Multiprocessor;
use super::operation::{RowOperation, work};
use super::problem::{Pass, Problem};
use super::row_plan::{MOST_THREADS, RowConfig, RowPlan, STRIP, TILE};
use search::estimated;
use tilewright_perf::{DeviceFacts, Models};

mod search;

const STRIPS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const ROWS: [usize; 8] = [4, 7, 8, 14, 16, 28, 32, 64];
const ITEMS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];
/// How many times blocks of stacked rows fill all multiprocessors.
const WAVES: [usize; 3] = [1, 2, 3];
/// Rows between barriers, and how many of these steps the ring holds.
const RINGS: [[usize; 2]; 6] = [[1, 4], [1, 6], [1, 8], [2, 3], [2, 4], [2, 6]];

/// The legal configurations of a pass that are worth a look: none with more than a third of its pixels or channels for nothing.
pub fn row_candidates(problem: &Problem, pass: Pass, sm: Multiprocessor, multiprocessors: usize) -> Vec<RowConfig> {
    let mut candidates = Vec::new();
    each_plan(problem, pass, (sm, multiprocessors), Ends::stored(problem.precision), |plan| {
        candidates.push(plan.config)
    });
    candidates
}

/// Goes through the plans of the candidates. Tens of thousands are looked at: what does not depend on items and rows is decided once for all
/// of them.
pub(super) fn each_plan(
    problem: &Problem,
    pass: Pass,
    (sm, multiprocessors): (Multiprocessor, usize),
    ends: Ends,
    mut visit: impl FnMut(&RowPlan),
) {
    let (rows, columns) = (Meeting::of(problem, 0, pass), Meeting::of(problem, 1, pass));
    let heights = heights(&rows);
    for [strips, warp_strips, images, columns, tiles] in tilings(problem, &columns) {
        let of = |[step, slots]: [usize; 2], whole_rows| {
            let rows = rows.phase_len();
            let items = 1;
            let config =
                RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step, slots, whole_rows };
            RowPlan::between(*problem, pass, config, sm, ends).ok()
        };
        let mut rings = RINGS.map(|ring| [false, true].map(|whole_rows| of(ring, whole_rows)));
        for items in ITEMS.into_iter().filter(|items| *items <= problem.images.div_ceil(images)) {
            for ring in &mut rings {
                for rows in heights.iter().copied() {
                    ring.iter_mut()
                        .flatten()
                        .filter_map(|plan| plan.retake(items, rows).then_some(&*plan))
                        .for_each(&mut visit);
                }
                for waves in WAVES.into_iter().filter(|_| items == 1) {
                    for plan in ring.iter_mut().flatten() {
                        let rows = plan.stacked_rows(multiprocessors * plan.resident() * waves);
                        if rows.is_some_and(|rows| plan.retake(1, rows)) {
                            visit(plan);
                        }
                    }
                }
            }
        }
    }
}

/// Rows of a block.
fn heights(rows: &Meeting) -> Vec<usize> {
    ROWS.into_iter().filter(|r| *r < rows.phase_len()).chain([rows.phase_len()]).collect()
}

/// Strips of a block and of a warp, images, columns and tiles, without those that are refused at a glance.
fn tilings(problem: &Problem, columns: &Meeting) -> Vec<[usize; 5]> {
    let channels = problem.channels();
    let tiled = |[images, columns]: [usize; 2]| {
        let pixels = images * columns;
        let tiles = TILES.into_iter().filter(move |tiles| little_waste(pixels, tiles * TILE));
        tiles.map(move |tiles| (images, columns, tiles, pixels.div_ceil(tiles * TILE)))
    };
    let tiled: Vec<_> = sides(problem.images, columns.written).into_iter().flat_map(tiled).collect();
    let mut tilings = Vec::with_capacity(STRIPS.len() * tiled.len());
    for strips in STRIPS.into_iter().filter(|s| little_waste(channels, s * STRIP)) {
        for (images, columns, tiles, warps) in tiled.iter().copied() {
            let divides = |warp_strips: &usize| strips.is_multiple_of(*warp_strips);
            // One more warp brings rows.
            let few = |warp_strips: &usize| warps * (strips / warp_strips) < MOST_THREADS / 32;
            let of = |warp_strips| [strips, warp_strips, images, columns, tiles];
            tilings.extend([1, 2, 4].into_iter().filter(divides).filter(few).map(of));
        }
    }
    tilings
}

/// The best of the candidates between such ends, by a model, or by the estimate where no model can say.
pub(super) fn chosen(
    models: &Models,
    problem: &Problem,
    pass: Pass,
    ends: Ends,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> RowConfig {
    let first = to_time(1, models, problem, pass, ends, sm, device);
    first.first().copied().unwrap_or_else(|| smallest(problem, pass))
}

/// As [`chosen`], so many to time, the best first; fewer where there are no more, none where no candidate is legal.
pub(super) fn to_time(
    count: usize,
    models: &Models,
    problem: &Problem,
    pass: Pass,
    ends: Ends,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<RowConfig> {
    let mut plans = estimated(problem, pass, ends, sm, device.into());
    // What an epilogue loads is waited for once a step, whatever the step has: 91 us instead of 107 (docs/notes/conv.md).
    if ends.loads && plans.iter().any(|plan| plan.config.step == 2) {
        plans.retain(|plan| plan.config.step == 2);
    }
    let by_estimate = || plans.iter().take(count).map(|plan| plan.config).collect();
    learned(count, models, &plans, device).unwrap_or_else(by_estimate)
}

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(count: usize, models: &Models, plans: &[RowPlan], device: &DeviceFacts) -> Option<Vec<RowConfig>> {
    let gpu = device.into();
    let work = |index: usize| work(&plans[index], gpu);
    let best = candidates::learned(&RowOperation, models, device, (count, plans.len()), work, |index| {
        plans[index].config.tiling()
    })?;
    Some(best.into_iter().map(|index| plans[index].config).collect())
}

/// One strip of one tile: legal wherever a kernel is.
fn smallest(problem: &Problem, pass: Pass) -> RowConfig {
    let [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass).phase_len().min(2));
    let columns = columns.min(Meeting::of(problem, 1, pass).written);
    let strips = problem.group_width.div_ceil(STRIP);
    RowConfig {
        strips,
        warp_strips: 1,
        images: 1,
        items: 1,
        columns,
        rows,
        tiles: 1,
        step: 1,
        slots: TURNS,
        whole_rows: false,
    }
}

#[cfg(test)]
mod tests;
