//! Which configuration the row kernel gets: all that make sense, and the learned model's choice among those that the estimate
//! expects most of.

use super::candidates::{self, Kept, TILES, little_waste, microseconds, sides, timed};
use super::ends::Ends;
use super::estimate::{Lines, Turn, least, least_of_turns, of_blocks, turns};
use super::meeting::Meeting;
use super::multiprocessor::{Gpu, Multiprocessor};
use super::operation::{RowOperation, work};
use super::problem::{Pass, Problem};
use super::row_plan::{MOST_BLOCKS, MOST_THREADS, RowConfig, RowPlan, STRIP, TILE, bringing};
use tilewright_perf::{DeviceFacts, Models};

const STRIPS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const ROWS: [usize; 8] = [4, 7, 8, 14, 16, 28, 32, 64];
const ITEMS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];
/// How many times blocks of stacked rows fill all multiprocessors.
const WAVES: [usize; 3] = [1, 2, 3];
/// Rows between barriers, and how many of these steps the ring holds.
const RINGS: [[usize; 2]; 6] = [[1, 4], [1, 6], [1, 8], [2, 3], [2, 4], [2, 6]];
/// That which takes the least memory and warps, and whether rows are stored whole with it.
const SMALLEST_RING: ([usize; 2], bool) = (RINGS[0], false);

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
    let sides = sides(problem.images, columns.written);
    let mut tilings = Vec::new();
    for strips in STRIPS.into_iter().filter(|s| little_waste(channels, s * STRIP)) {
        for [images, columns] in sides.iter().copied() {
            for tiles in TILES.into_iter().filter(|t| little_waste(images * columns, t * TILE)) {
                let warps = (images * columns).div_ceil(tiles * TILE);
                let divides = |warp_strips: &usize| strips.is_multiple_of(*warp_strips);
                // One more warp brings rows.
                let few = |warp_strips: &usize| warps * (strips / warp_strips) < MOST_THREADS / 32;
                let of = |warp_strips| [strips, warp_strips, images, columns, tiles];
                tilings.extend([1, 2, 4].into_iter().filter(divides).filter(few).map(of));
            }
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
    let first = first(1, models, problem, pass, ends, sm, device);
    first.first().copied().unwrap_or_else(|| smallest(problem, pass))
}

/// As [`chosen`], the best `count`, the best of them first; fewer where there are no more, none where no candidate is legal.
pub(super) fn first(
    count: usize,
    models: &Models,
    problem: &Problem,
    pass: Pass,
    ends: Ends,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<RowConfig> {
    let plans = estimated(problem, pass, ends, sm, device.into());
    let by_estimate = || plans.iter().take(count).map(|plan| plan.config).collect();
    learned(count, models, &plans, device).unwrap_or_else(by_estimate)
}

/// The plans of the candidates that the estimate expects to be fastest; the fastest first, and of equals the one that comes first among
/// all (by tiling, items, ring, rows, and how rows are stored).
///
/// Not one in a hundred is looked at: tilings come in the order of a time that no ring, items and rows of them fall below, until that of
/// the next one is beyond the last of those that are kept.
fn estimated(problem: &Problem, pass: Pass, ends: Ends, sm: Multiprocessor, gpu: Gpu) -> Vec<RowPlan> {
    let meetings @ [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass));
    let tilings = tilings(problem, &columns);
    let Some(first) = tilings.first() else { return Vec::new() };
    let mut plan = RowPlan::unchecked(*problem, pass, smallest_of(*first, &rows), sm, ends, meetings);
    let search = Search::new(plan, sm, gpu);
    let mut bounds: Vec<u128> = Vec::with_capacity(tilings.len());
    for (place, tiling) in tilings.iter().enumerate() {
        plan.retake_all(smallest_of(*tiling, &rows));
        bounds.extend(search.bounded(&mut plan).map(|us| timed(us, place as u64)));
    }
    bounds.sort_unstable();

    let mut kept = Kept::new();
    for bound in bounds {
        if kept.has_better_than(microseconds(bound)) {
            break;
        }
        let tiling = bound as u64 as usize;
        plan.retake_all(smallest_of(tilings[tiling], &rows));
        search.add_all(&mut kept, &mut plan, tiling);
    }
    let planned = |(_, place)| {
        let Place { tiling, item, ring, row, whole_rows } = Place::of(place);
        let mut plan = plan;
        plan.retake_all(smallest_of(tilings[tiling], &rows));
        plan.retake_ring(RINGS[ring], whole_rows);
        // What is kept was legal.
        let rows = match search.heights.get(row) {
            Some(height) => Some(height.rows),
            None => plan.stacked_rows(gpu.multiprocessors * plan.resident() * WAVES[row - search.heights.len()]),
        };
        let _ = rows.map(|rows| plan.retake(ITEMS[item], rows));
        plan
    };
    kept.sorted().map(planned).collect()
}

/// A tiling with all rows, and the ring that takes the least.
fn smallest_of([strips, warp_strips, images, columns, tiles]: [usize; 5], rows: &Meeting) -> RowConfig {
    let ([step, slots], whole_rows) = SMALLEST_RING;
    let (rows, items) = (rows.phase_len(), 1);
    RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step, slots, whole_rows }
}

/// A place among all candidates, in their order.
#[derive(Clone, Copy)]
struct Place {
    tiling: usize,
    item: usize,
    ring: usize,
    row: usize,
    whole_rows: bool,
}

impl Place {
    fn number(self) -> u64 {
        let Place { tiling, item, ring, row, whole_rows } = self;
        (((tiling << 8 | item) << 8 | ring) << 8 | row) as u64 * 2 + u64::from(whole_rows)
    }

    /// The inverse of [`Place::number`].
    fn of(number: u64) -> Place {
        let part = |shift: u32| (number >> shift) as usize & 0xff;
        let tiling = (number >> 25) as usize;
        Place { tiling, item: part(17), ring: part(9), row: part(1), whole_rows: number % 2 == 1 }
    }
}

/// Rows of a block, with what follows from them whatever the tiling.
struct Height {
    rows: usize,
    /// Blocks one above the other.
    blocks: usize,
    /// Lines with each step of [`RINGS`].
    lines: [Lines; RINGS.len()],
}

/// What depends on a tiling alone.
struct Across<'a> {
    /// [`turns`].
    turns: f64,
    /// Blocks along images, for each of [`ITEMS`]; the first one is 1.
    images: &'a [usize; ITEMS.len()],
    /// Blocks along columns and channels.
    blocks: usize,
}

/// What all tilings have in common.
struct Search {
    heights: Vec<Height>,
    /// [`Lines::least`] of steps of one row and of two.
    least: [Lines; 2],
    sm: Multiprocessor,
    gpu: Gpu,
}

impl Search {
    fn new(mut plan: RowPlan, sm: Multiprocessor, gpu: Gpu) -> Search {
        let least = [1, 2].map(|step| Lines::least(&plan, step));
        let mut legal = heights(&plan.rows);
        legal.retain(|rows| plan.fits_rows(*rows));
        let height = |rows| {
            let lines = RINGS.map(|ring| {
                plan.retake_ring(ring, false);
                Lines::of(&plan, rows)
            });
            Height { rows, blocks: plan.blocks_above(rows), lines }
        };
        Search { heights: legal.into_iter().map(height).collect(), least, sm, gpu }
    }

    /// A time that nothing of a plan's tiling falls below; nothing where nothing of it is legal. The plan has [`SMALLEST_RING`]: no other
    /// is legal where it is not, nor are more blocks resident with one. Then it has the best ring: none has fewer steps.
    fn bounded(&self, plan: &mut RowPlan) -> Option<f64> {
        plan.check_limits(self.sm).and_then(|()| plan.check_ranges()).ok()?;
        let resident = plan.resident();
        plan.retake_ring([2, 16], true);
        Some(self.least(plan, turns(plan, self.gpu.multiprocessors), &Turn::of(plan, resident, self.gpu)))
    }

    /// A time that no items and rows of a plan fall below.
    fn least(&self, plan: &RowPlan, turns: f64, turn: &Turn) -> f64 {
        least(plan, turns, turn, &self.least[plan.config.step - 1])
    }

    /// Adds all of a plan's tiling that may be among the fastest.
    fn add_all(&self, kept: &mut Kept, plan: &mut RowPlan, tiling: usize) {
        let turns = turns(plan, self.gpu.multiprocessors);
        let most = plan.problem.images.div_ceil(plan.config.images);
        let images = ITEMS.map(|items| most.div_ceil(items));
        for (ring, whole_rows) in (0..RINGS.len()).flat_map(|ring| [(ring, false), (ring, true)]) {
            plan.retake_ring(RINGS[ring], whole_rows);
            if plan.check_limits(self.sm).is_err() {
                continue;
            }
            let resident = plan.resident();
            let turn = Turn::of(plan, resident, self.gpu);
            if !kept.has_better_than(self.least(plan, turns, &turn)) {
                let place = Place { tiling, item: 0, ring, row: 0, whole_rows };
                let across = Across { turns, images: &images, blocks: plan.blocks[2] * plan.blocks[3] };
                self.add_heights(kept, &across, (resident, &turn), place);
                self.add_stacks(kept, plan, (resident, &turn), place);
            }
        }
    }

    /// Adds a tiling with stacked rows, given how many of its blocks are resident, and what their turns cost.
    fn add_stacks(&self, kept: &mut Kept, plan: &RowPlan, (resident, turn): (usize, &Turn), place: Place) {
        let gpu @ [multiprocessors, _] = [self.gpu.multiprocessors, resident];
        for (wave, waves) in WAVES.into_iter().enumerate() {
            let Some(rows) = plan.stacked_rows(multiprocessors * resident * waves) else { continue };
            let blocks = plan.stack().div_ceil(rows) * plan.blocks[2] * plan.blocks[3];
            let us = of_blocks(blocks, 1, gpu, turn.cycles(&Lines::of(plan, rows)));
            kept.add(us, Place { row: self.heights.len() + wave, ..place }.number());
        }
    }

    /// Adds a tiling with all items and rows, given how many of its blocks are resident, and what their turns cost.
    fn add_heights(&self, kept: &mut Kept, across: &Across<'_>, (resident, turn): (usize, &Turn), place: Place) {
        let (gpu, most) = ([self.gpu.multiprocessors, resident], across.images[0]);
        for (row, height) in self.heights.iter().enumerate() {
            let turn = turn.cycles(&height.lines[place.ring]);
            if kept.has_better_than(least_of_turns(across.turns, height.blocks, turn)) {
                continue;
            }
            for (item, items) in ITEMS.into_iter().enumerate().take_while(|(_, items)| *items <= most) {
                let blocks = across.images[item] * height.blocks * across.blocks;
                if blocks <= MOST_BLOCKS {
                    kept.add(of_blocks(blocks, items, gpu, turn), Place { item, row, ..place }.number());
                }
            }
        }
    }
}

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(count: usize, models: &Models, plans: &[RowPlan], device: &DeviceFacts) -> Option<Vec<RowConfig>> {
    let work = |index: usize| work(&plans[index], device.into());
    let best = candidates::learned(&RowOperation, models, device, (count, plans.len()), work)?;
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
        slots: bringing(false),
        whole_rows: false,
    }
}

#[cfg(test)]
mod tests;
