//! Which configuration the weights' gradient takes: all legal ones of a grid, and an estimate of their time.

use super::bringing::{TURNS, check_turns};
use super::candidates::{self, Kept, TILES, little_waste, microseconds, sides, timed};
use super::ends::Reading;
use super::meeting::Meeting;
use super::multiprocessor::{GpuScale, Multiprocessor};
use super::problem::{Pass, Problem};
use super::row_plan::{MOST_BLOCKS, MOST_THREADS, STRIP};
use super::weight_estimate::{Divided, Image, Lines, ends, estimate, least_of_images, of_blocks};
use super::weight_operation::{WeightOperation, work};
use super::weight_plan::{WeightConfig, WeightPlan, depth, workspace};
use tilewright_perf::{DeviceFacts, Models};

const STRIPS: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12];
const ROWS: [usize; 6] = [7, 8, 14, 16, 28, 32];
const SLOTS: [usize; 4] = [3, 4, 6, 8];
/// How many times the blocks are to fill all multiprocessors.
const WAVES: [usize; 4] = [1, 2, 3, 4];

/// A problem, and from where its input and its result's gradient come.
type Of<'a> = (&'a Problem, [Reading; 2]);

/// The legal configurations that are worth a look, with what the estimate expects of each on a GPU, in microseconds; the fastest first. None has more than a third of its pixels or channels for nothing.
pub(super) fn estimates((problem, readings): Of<'_>, sm: Multiprocessor, gpu: GpuScale) -> Vec<(f64, WeightConfig)> {
    let (mut estimates, all) = (Vec::new(), all_rows(problem));
    for (tiling, slots) in tilings(problem).into_iter().flat_map(|tiling| SLOTS.map(|slots| (tiling, slots))) {
        let config = with_rows(all, tiling, slots);
        let Ok(mut plan) = WeightPlan::new(*problem, config, sm, readings) else { continue };
        let resident = plan.resident();
        for rows in heights(&plan.rows) {
            each_length(&mut plan, rows, gpu.multiprocessors * resident, |_, plan| {
                estimates.push((estimate(plan, gpu), plan.config));
            });
        }
    }
    estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
    estimates
}

/// The plans of the first [`RANKED`] of [`estimates`], which are found without looking at most of the others: tilings come in the order of a
/// time that no ring, rows and items of them fall below, until that of the next one is beyond the last of those that are kept.
///
/// [`RANKED`]: super::candidates::RANKED
fn estimated((problem, readings): Of<'_>, sm: Multiprocessor, gpu: GpuScale) -> Vec<WeightPlan> {
    let (tilings, all) = (tilings(problem), all_rows(problem));
    let Some(first) = tilings.first() else { return Vec::new() };
    let mut plan = WeightPlan::unchecked(*problem, with_rows(all, *first, SLOTS[0]), sm, readings);
    let search = Search::new(&plan, sm, gpu);
    let mut bounds: Vec<u128> = Vec::with_capacity(tilings.len());
    for (place, tiling) in tilings.iter().enumerate() {
        plan.retake_all(with_rows(all, *tiling, search.least_slots));
        bounds.extend(search.bounded(&mut plan).map(|us| timed(us, place as u64)));
    }
    bounds.sort_unstable();

    let mut kept = Kept::new();
    for bound in bounds {
        if kept.has_better_than(microseconds(bound)) {
            break;
        }
        let tiling = bound as u64 as usize;
        plan.retake_all(with_rows(all, tilings[tiling], search.least_slots));
        search.add_all(&mut kept, &mut plan, tiling);
    }
    let planned = |(_, place)| {
        let Place { tiling, slot, row, item } = Place::of(place);
        let mut plan = plan;
        plan.retake_all(with_rows(all, tilings[tiling], SLOTS[slot]));
        let (rows, at_once) = (search.heights[row].rows, gpu.multiprocessors * plan.resident());
        // What is kept was legal.
        let [_, _, columns, channels] = plan.blocks;
        let blocks = search.heights[row].blocks * columns * channels;
        let items = lengths(turns(&plan), blocks, at_once).nth(item);
        plan.retake(items.unwrap_or(1), rows);
        plan
    };
    kept.sorted().map(planned).collect()
}

fn with_rows(rows: usize, [strips, images, columns, tiles]: [usize; 4], slots: usize) -> WeightConfig {
    WeightConfig { strips, images, items: 1, columns, rows, tiles, slots }
}

/// The most rows of a block.
fn all_rows(problem: &Problem) -> usize {
    Meeting::of(problem, 0, Pass::GradWeight).phase_len()
}

/// Rows of a block.
fn heights(rows: &Meeting) -> impl Iterator<Item = usize> + use<> {
    let all = rows.phase_len();
    ROWS.into_iter().filter(move |height| *height < all).chain([all])
}

/// A place among all candidates, in their order.
#[derive(Clone, Copy)]
struct Place {
    tiling: usize,
    slot: usize,
    row: usize,
    item: usize,
}

impl Place {
    fn number(self) -> u64 {
        let Place { tiling, slot, row, item } = self;
        (((tiling << 8 | slot) << 8 | row) << 8 | item) as u64
    }

    /// The inverse of [`Place::number`].
    fn of(number: u64) -> Place {
        let part = |shift: u32| (number >> shift) as usize & 0xff;
        Place { tiling: (number >> 24) as usize, slot: part(16), row: part(8), item: part(0) }
    }
}

/// Rows of a block, with what follows from them whatever the tiling.
struct Height {
    rows: usize,
    /// Blocks one above the other.
    blocks: usize,
    lines: Lines,
}

/// What all tilings have in common.
struct Search {
    heights: Vec<Height>,
    /// No more than blocks of any height read together.
    least: Lines,
    /// The smallest ring that is legal for some tiling.
    least_slots: usize,
    /// Elements of the result, and bytes of the operands and it.
    elements: usize,
    bytes: f64,
    sm: Multiprocessor,
    gpu: GpuScale,
}

impl Search {
    fn new(plan: &WeightPlan, sm: Multiprocessor, gpu: GpuScale) -> Search {
        let height = |rows| Height { rows, blocks: plan.blocks_above(rows), lines: Lines::of(plan, rows) };
        let heights: Vec<Height> = heights(&plan.rows).map(height).collect();
        let least = |lines: fn(&Lines) -> f64| {
            heights.iter().map(|it| it.blocks as f64 * lines(&it.lines)).fold(f64::INFINITY, f64::min)
        };
        let least = Lines { input: least(|it| it.input), given: least(|it| it.given) };
        let legal = |slots: &usize| check_turns(*slots, plan.bringing).is_ok();
        let least_slots = SLOTS.into_iter().find(legal).unwrap_or(SLOTS[0]);
        let (elements, bytes) = (plan.elements(), plan.problem.bytes(Pass::GradWeight));
        Search { heights, least, least_slots, elements, bytes, sm, gpu }
    }

    /// A time that nothing of a plan's tiling falls below; nothing where nothing of it is legal. The plan has the smallest ring: no other is
    /// legal where it is not, nor are more blocks resident with one. Then it has the largest, with which most bytes are under way.
    fn bounded(&self, plan: &mut WeightPlan) -> Option<f64> {
        plan.check_limits(self.sm).and_then(|()| plan.check_ranges()).ok()?;
        let resident = plan.resident();
        plan.retake_slots(SLOTS[SLOTS.len() - 1]);
        Some(self.least(plan, &Image::of(plan, resident, self.gpu), ends(plan)))
    }

    /// A time that no rows and items of a plan fall below.
    fn least(&self, plan: &WeightPlan, image: &Image, ends: f64) -> f64 {
        least_of_images(plan, self.gpu.multiprocessors, image.cycles(&self.least), ends)
    }

    /// Adds all of a plan's tiling that may be among the fastest.
    fn add_all(&self, kept: &mut Kept, plan: &mut WeightPlan, tiling: usize) {
        for (slot, slots) in SLOTS.into_iter().enumerate() {
            plan.retake_slots(slots);
            if plan.check_limits(self.sm).is_err() {
                continue;
            }
            let resident = plan.resident();
            let (image, ends) = (Image::of(plan, resident, self.gpu), ends(plan));
            if !kept.has_better_than(self.least(plan, &image, ends)) {
                self.add_heights(kept, plan, (resident, &image, ends), Place { tiling, slot, row: 0, item: 0 });
            }
        }
    }

    /// Adds a plan with all rows and items, given how many of its blocks are resident, and what their images and ends cost.
    fn add_heights(
        &self,
        kept: &mut Kept,
        plan: &WeightPlan,
        (resident, image, ends): (usize, &Image, f64),
        place: Place,
    ) {
        let gpu = [self.gpu.multiprocessors, resident];
        let [_, _, columns, channels] = plan.blocks;
        let turns = turns(plan);
        for (row, height) in self.heights.iter().enumerate() {
            let image = image.cycles(&height.lines);
            if kept.has_better_than(least_of_images(plan, gpu[0], image * height.blocks as f64, ends)) {
                continue;
            }
            let beside = height.blocks * columns;
            for (item, items) in lengths(turns, beside * channels, gpu[0] * resident).enumerate() {
                let parts = turns.div_ceil(items) * beside;
                let divided = Divided { blocks: parts * channels, items, workspace: workspace(parts, self.elements) };
                if divided.blocks <= MOST_BLOCKS && (parts == beside || divided.workspace as f64 <= self.bytes) {
                    kept.add(of_blocks(&divided, gpu, image, ends), Place { row, item, ..place }.number());
                }
            }
        }
    }
}

/// Goes through the legal ones of a plan's numbers of items that are worth it, with so many rows.
fn each_length(plan: &mut WeightPlan, rows: usize, at_once: usize, mut visit: impl FnMut(usize, &WeightPlan)) {
    // Whether the number of blocks is legal depends on the items, and is asked with them.
    plan.retake(1, rows);
    let [_, rows_of_blocks, columns, channels] = plan.blocks;
    for (item, items) in lengths(turns(plan), rows_of_blocks * columns * channels, at_once).enumerate() {
        if plan.retake(items, rows) && worth_it(plan) {
            visit(item, plan);
        }
    }
}

/// How many times a block can take its images, one time after another.
fn turns(plan: &WeightPlan) -> usize {
    plan.problem.images.max(1).div_ceil(plan.config.images)
}

/// Items of a block, of so many turns, so that the blocks, so many for a turn, of which some run at once, fill the multiprocessors once or
/// several times.
fn lengths(turns: usize, blocks: usize, at_once: usize) -> impl Iterator<Item = usize> {
    let mut lengths = WAVES.map(|waves| turns.div_ceil((waves * at_once / blocks).clamp(1, turns)));
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
            let of_row = strips * problem.group_width.div_ceil(STRIP);
            // One more warp brings rows.
            let few = |tiles: &usize| of_row * (images * columns).div_ceil(tiles * depth(problem)) < MOST_THREADS / 32;
            let tiles = TILES.into_iter().filter(|tiles| little_waste(images * columns, tiles * depth(problem)));
            tilings.extend(tiles.filter(few).map(|tiles| [strips, images, columns, tiles]));
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
    to_time(1, models, of, sm, device).first().copied().unwrap_or_else(|| smallest(of.0))
}

/// As [`chosen`], so many to time, the best first; fewer where there are no more, none where no candidate is legal.
pub(super) fn to_time(
    count: usize,
    models: &Models,
    (problem, readings): Of<'_>,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<WeightConfig> {
    let plans = estimated((problem, readings), sm, device.into());
    let by_estimate = || plans.iter().take(count).map(|plan| plan.config).collect();
    learned(count, models, &plans, device).unwrap_or_else(by_estimate)
}

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(count: usize, models: &Models, plans: &[WeightPlan], device: &DeviceFacts) -> Option<Vec<WeightConfig>> {
    let gpu = device.into();
    let work = |index: usize| work(&plans[index], gpu);
    let best = candidates::learned(&WeightOperation, models, device, (count, plans.len()), work, |index| {
        plans[index].config.tiling()
    })?;
    Some(best.into_iter().map(|index| plans[index].config).collect())
}

/// One strip of one product: legal wherever a kernel is.
fn smallest(problem: &Problem) -> WeightConfig {
    let (strips, columns) = (problem.group_width.div_ceil(STRIP), problem.output()[1].min(8));
    WeightConfig { strips, images: 1, items: 1, columns, rows: 1, tiles: 1, slots: TURNS }
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
        let gpu = GpuScale::from(&DeviceFacts::h100());
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
                let mut all = estimates(of, sm, gpu);
                full += usize::from(all.len() > RANKED);
                all.truncate(RANKED);
                let kept = estimated(of, sm, gpu);
                let checked = |it: &WeightPlan| WeightPlan::new(problem, it.config, sm, readings).map(|of| of.blocks);
                assert!(kept.iter().all(|it| checked(it).as_ref() == Ok(&it.blocks)), "{problem:?}, {readings:?}");
                let kept: Vec<_> = kept.iter().map(|it| (estimate(it, gpu), it.config)).collect();
                assert!(kept == all, "{problem:?}, {readings:?}");
            }
        }
        assert_eq!(full, 8, "problems with more candidates than are kept");
    }
}
