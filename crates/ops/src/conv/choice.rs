//! Which configuration the row kernel gets: all that make sense, and the learned model's choice among those that the estimate
//! expects most of.

use super::estimate::estimate;
use super::meeting::Meeting;
use super::operation::{RowOperation, work};
use super::problem::{Pass, Precision, Problem};
use super::row_plan::{Multiprocessor, RowConfig, RowPlan, STRIP, TILE};
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models};

const STRIPS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const ROWS: [usize; 8] = [4, 7, 8, 14, 16, 28, 32, 64];
const COLUMNS: [usize; 6] = [16, 28, 32, 48, 56, 64];
const IMAGES: [usize; 5] = [1, 2, 4, 8, 16];
const TILES: [usize; 5] = [1, 2, 3, 4, 7];
const ITEMS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];
/// Rows between barriers, and how many of these steps the ring holds.
const RINGS: [[usize; 2]; 6] = [[1, 4], [1, 6], [1, 8], [2, 3], [2, 4], [2, 6]];

/// The legal configurations of a pass that are worth a look: none with more than a third of its pixels or channels for nothing.
pub fn row_candidates(problem: &Problem, pass: Pass, sm: Multiprocessor) -> Vec<RowConfig> {
    plans(problem, pass, sm, problem.precision).iter().map(|plan| plan.config).collect()
}

pub(super) fn plans(problem: &Problem, pass: Pass, sm: Multiprocessor, written: Precision) -> Vec<RowPlan> {
    let (rows, columns) = (Meeting::of(problem, 0, pass), Meeting::of(problem, 1, pass));
    let channels = problem.channels();
    let mut heights: Vec<usize> = ROWS.into_iter().filter(|r| *r < rows.phase_len()).collect();
    heights.push(rows.phase_len());
    let mut sides: Vec<[usize; 2]> = IMAGES.map(|images| [images, columns.written]).to_vec();
    sides.extend(COLUMNS.into_iter().filter(|side| *side < columns.written).map(|side| [1, side]));
    let mut plans = Vec::new();
    let streams: Vec<[usize; 3]> =
        ITEMS.into_iter().flat_map(|items| RINGS.map(|[step, slots]| [items, step, slots])).collect();
    let stored: Vec<(usize, bool)> = heights.iter().flat_map(|rows| [(*rows, false), (*rows, true)]).collect();
    for strips in STRIPS.into_iter().filter(|s| little_waste(channels, s * STRIP)) {
        for [images, columns] in sides.iter().copied() {
            for tiles in TILES.into_iter().filter(|t| little_waste(images * columns, t * TILE)) {
                for warp_strips in [1, 2, 4] {
                    for [items, step, slots] in streams.iter().copied() {
                        let of = |(rows, whole_rows)| RowConfig {
                            strips,
                            warp_strips,
                            images,
                            items,
                            columns,
                            rows,
                            tiles,
                            step,
                            slots,
                            whole_rows,
                        };
                        let plan = |s: &(usize, bool)| RowPlan::writing(*problem, pass, of(*s), sm, written).ok();
                        plans.extend(stored.iter().filter_map(plan));
                    }
                }
            }
        }
    }
    plans
}

/// Whether rounding up to whole parts adds no more than a third, or there is less than one part.
fn little_waste(size: usize, part: usize) -> bool {
    3 * size.next_multiple_of(part) <= 4 * size || (size < part && 2 * size > part)
}

/// The best of the candidates for results of type `written`, by a model, or by the estimate where no model can say.
pub(super) fn chosen(
    models: &Models,
    problem: &Problem,
    pass: Pass,
    written: Precision,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> RowConfig {
    let count = device.multiprocessors as usize;
    let plans = plans(problem, pass, sm, written);
    let mut timed: Vec<(f64, usize)> = plans.iter().enumerate().map(|(at, it)| (estimate(it, count), at)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if timed.len() > RANKED {
        timed.select_nth_unstable_by(RANKED - 1, order);
        timed.truncate(RANKED);
    }
    timed.sort_unstable_by(order);
    let best = learned(models, &timed, &plans, device).or(timed.first().map(|(_, at)| *at));
    best.map_or_else(|| smallest(problem, pass), |at| plans[at].config)
}

/// How many candidates a model is asked about: those that the estimate expects to be fastest.
const RANKED: usize = 128;

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(models: &Models, timed: &[(f64, usize)], plans: &[RowPlan], device: &DeviceFacts) -> Option<usize> {
    // No kernel whose rows are brought by threads is among those that were measured.
    if plans.iter().any(|plan| !plan.bulk) {
        return None;
    }
    let model = models.nearest(RowOperation.name(), device.architecture).ok()?;
    let work = |index: usize| work(&plans[timed[index].1], device.multiprocessors as usize);
    let ranking = model.rank(device, timed.len(), work).ok()?;
    Some(timed[ranking.best().index as usize].1)
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
        slots: 2,
        whole_rows: false,
    }
}
