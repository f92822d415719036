//! Which configuration the row kernel gets: all that make sense, and the learned model's choice among those that the estimate
//! expects most of.

use super::candidates::{self, Kept, TILES, little_waste, sides};
use super::ends::Ends;
use super::estimate::{least, least_of_turns, of_blocks, turn};
use super::meeting::Meeting;
use super::operation::{RowOperation, work};
use super::problem::{Pass, Problem};
use super::row_plan::{Multiprocessor, RowConfig, RowPlan, STRIP, TILE, bringing};
use tilewright_perf::{DeviceFacts, Models};

const STRIPS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const ROWS: [usize; 8] = [4, 7, 8, 14, 16, 28, 32, 64];
const ITEMS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];
/// Rows between barriers, and how many of these steps the ring holds.
const RINGS: [[usize; 2]; 6] = [[1, 4], [1, 6], [1, 8], [2, 3], [2, 4], [2, 6]];
/// That which takes the least memory and warps, and whether rows are stored whole with it.
const SMALLEST_RING: ([usize; 2], bool) = (RINGS[0], false);

/// The legal configurations of a pass that are worth a look: none with more than a third of its pixels or channels for nothing.
pub fn row_candidates(problem: &Problem, pass: Pass, sm: Multiprocessor) -> Vec<RowConfig> {
    let mut candidates = Vec::new();
    each_plan(problem, pass, sm, Ends::stored(problem.precision), |plan| candidates.push(plan.config));
    candidates
}

/// Goes through the plans of the candidates. Tens of thousands are looked at: what does not depend on items and rows is decided once for all
/// of them.
pub(super) fn each_plan(
    problem: &Problem,
    pass: Pass,
    sm: Multiprocessor,
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
                let divides = |warp_strips: &usize| strips.is_multiple_of(*warp_strips);
                let of = |warp_strips| [strips, warp_strips, images, columns, tiles];
                tilings.extend([1, 2, 4].into_iter().filter(divides).map(of));
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
    first.first().copied().unwrap_or_else(|| smallest(problem, pass, ends))
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
    let timed = estimated(problem, pass, ends, sm, device.multiprocessors as usize);
    let plan = |(_, config): &(f64, RowConfig)| RowPlan::between(*problem, pass, *config, sm, ends).ok();
    let plans: Vec<RowPlan> = timed.iter().filter_map(plan).collect();
    let by_estimate = || plans.iter().take(count).map(|plan| plan.config).collect();
    learned(count, models, &plans, sm, device).unwrap_or_else(by_estimate)
}

/// The candidates that the estimate expects to be fastest, with what it expects in microseconds; the fastest first, and of equals the one
/// that comes first among all (by tiling, items, ring, rows, and how rows are stored).
///
/// Not one in a hundred is looked at: tilings come in the order of a time that no ring, items and rows of them fall below, until that of
/// the next one is beyond the last of those that are kept.
fn estimated(
    problem: &Problem,
    pass: Pass,
    ends: Ends,
    sm: Multiprocessor,
    multiprocessors: usize,
) -> Vec<(f64, RowConfig)> {
    let meetings @ [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass));
    let heights = heights(&rows);
    let smallest = |[strips, warp_strips, images, columns, tiles]: [usize; 5]| {
        let ([step, slots], whole_rows) = SMALLEST_RING;
        let (rows, items) = (rows.phase_len(), 1);
        let config = RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step, slots, whole_rows };
        RowPlan::unchecked(*problem, pass, config, sm, ends, meetings)
    };
    // The smallest ring: no other is legal where it is not, nor are more blocks resident with one. The best: none has fewer steps.
    let bounded = |tiling: (usize, [usize; 5])| {
        let mut plan = smallest(tiling.1);
        plan.check_ranges().and_then(|()| plan.check_limits(sm)).ok()?;
        let resident = plan.resident();
        plan.retake_ring([2, 16], true);
        Some((least(&plan, multiprocessors, resident), tiling))
    };
    let mut tilings: Vec<_> = tilings(problem, &columns).into_iter().enumerate().filter_map(bounded).collect();
    tilings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));

    let mut kept = Kept::new();
    for (bound, (place, tiling)) in tilings {
        if kept.has_better_than(bound) {
            break;
        }
        let mut plan = smallest(tiling);
        for (ring, whole_rows) in (0..RINGS.len()).flat_map(|ring| [(ring, false), (ring, true)]) {
            plan.retake_ring(RINGS[ring], whole_rows);
            if kept.has_better_than(least(&plan, multiprocessors, plan.resident())) || plan.check_limits(sm).is_err() {
                continue;
            }
            let place = |item, row| [place, item, ring, row, whole_rows.into()];
            add_all(&mut kept, plan, multiprocessors, &heights, place);
        }
    }
    kept.sorted()
}

/// Adds a plan with all items and rows, at the places of both.
fn add_all(
    kept: &mut Kept<[usize; 5], RowConfig>,
    mut plan: RowPlan,
    multiprocessors: usize,
    heights: &[usize],
    place: impl Fn(usize, usize) -> [usize; 5],
) {
    let (resident, most) = (plan.resident(), plan.problem.images.div_ceil(plan.config.images));
    for (row, rows) in heights.iter().copied().enumerate() {
        // The turn depends on the rows alone; whether items and rows are legal is asked below.
        let _ = plan.retake(1, rows);
        let turn = turn(&plan, resident);
        if kept.has_better_than(least_of_turns(&plan, multiprocessors, turn)) {
            continue;
        }
        for (item, items) in ITEMS.into_iter().enumerate().take_while(|(_, items)| *items <= most) {
            if plan.retake(items, rows) {
                kept.add(of_blocks(&plan, multiprocessors, resident, turn), place(item, row), plan.config);
            }
        }
    }
}

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(
    count: usize,
    models: &Models,
    plans: &[RowPlan],
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Option<Vec<RowConfig>> {
    // Nothing was measured where no rows are brought by the copy engine.
    if !sm.bulk_copies {
        return None;
    }
    let work = |index: usize| work(&plans[index], device.multiprocessors as usize);
    let best = candidates::learned(&RowOperation, models, device, (count, plans.len()), work)?;
    Some(best.into_iter().map(|index| plans[index].config).collect())
}

/// One strip of one tile: legal wherever a kernel is.
fn smallest(problem: &Problem, pass: Pass, ends: Ends) -> RowConfig {
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
        slots: bringing(ends.reading).max(2),
        whole_rows: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidates::{COLUMNS, IMAGES, RANKED};
    use super::super::ends::Reading;
    use super::super::estimate::estimate;
    use super::super::params::Conv2d;
    use super::super::problem::Precision;
    use super::*;

    const SM: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };
    const COMPUTED: Ends = Ends { reading: Reading::Computed, written: Precision::F16 };

    /// Every combination, each with a plan of its own.
    fn plainly(problem: &Problem, pass: Pass, ends: Ends) -> Vec<RowPlan> {
        let (rows, columns) = (Meeting::of(problem, 0, pass), Meeting::of(problem, 1, pass));
        let heights = ROWS.into_iter().filter(|r| *r < rows.phase_len()).chain([rows.phase_len()]);
        let mut sides = IMAGES.map(|images| [images, columns.written]).to_vec();
        sides.extend(COLUMNS.into_iter().filter(|side| *side < columns.written).map(|side| [1, side]));
        let mut all = STRIPS.map(|strips| vec![strips]).to_vec();
        let mut each = |choices: Vec<Vec<usize>>| {
            let with = |it: &Vec<usize>| choices.iter().map(|more| [&it[..], more].concat()).collect::<Vec<_>>();
            all = all.iter().flat_map(with).collect();
        };
        each(sides.iter().map(|it| it.to_vec()).collect());
        for choices in [&TILES[..], &[1, 2, 4], &ITEMS] {
            each(choices.iter().map(|it| vec![*it]).collect());
        }
        each(RINGS.map(|it| it.to_vec()).to_vec());
        each(heights.map(|it| vec![it]).collect());
        each(vec![vec![0], vec![1]]);
        let plan = |it: &Vec<usize>| {
            let [strips, images, columns, tiles, warp_strips, items, step, slots, rows, whole] = it[..] else {
                return None;
            };
            if !little_waste(problem.channels(), strips * STRIP) || !little_waste(images * columns, tiles * TILE) {
                return None;
            }
            let whole_rows = whole == 1;
            let config =
                RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step, slots, whole_rows };
            RowPlan::between(*problem, pass, config, SM, ends).ok()
        };
        all.iter().filter_map(plan).collect()
    }

    #[test]
    fn candidates_and_the_choice_are_those_of_a_plain_enumeration() {
        let device = DeviceFacts::h200();
        let params = [Conv2d::new().padding(1), Conv2d::new().padding(1).stride(2), Conv2d::new().dilation(2)];
        let ends = [Ends::stored(Precision::F16), Ends::stored(Precision::F32), COMPUTED];
        for (params, ends) in params.into_iter().zip(ends) {
            let problem = Problem::of_forward([5, 21, 20, 48], [48, 3, 3, 8], Precision::F16, &params).unwrap();
            for pass in [Pass::Forward, Pass::GradInput] {
                let plain = plainly(&problem, pass, ends);
                let mut found = Vec::new();
                each_plan(&problem, pass, SM, ends, |plan| found.push((plan.config, plan.blocks)));
                assert!(found.len() > 100, "{}", found.len());
                assert!(
                    found == plain.iter().map(|plan| (plan.config, plan.blocks)).collect::<Vec<_>>(),
                    "{problem:?}"
                );
                let fastest = plain.iter().min_by(|a, b| estimate(a, 132).total_cmp(&estimate(b, 132))).unwrap();
                let models = Models::default();
                assert_eq!(chosen(&models, &problem, pass, ends, SM, &device), fastest.config);
                let [one, two, three] = super::first(3, &models, &problem, pass, ends, SM, &device)[..] else {
                    panic!("three of {}", plain.len());
                };
                assert!(one == fastest.config && one != two && two != three && one != three);
            }
        }
    }

    #[test]
    fn what_is_kept_is_the_fastest_of_all() {
        let padded = |padding: usize| Conv2d::new().padding(padding);
        let cases = [
            ([128, 56, 56, 128], [128, 3, 3, 8], Precision::F16, padded(1)),
            ([64, 28, 28, 240], [240, 5, 5, 8], Precision::Bf16, padded(2)),
            ([3, 49, 33, 40], [40, 3, 7, 4], Precision::F16, Conv2d::new().padding([1, 3]).stride(2)),
            ([32, 19, 21, 96], [96, 5, 3, 16], Precision::F32, Conv2d::new().padding([2, 1]).dilation(2)),
            ([16, 15, 15, 72], [72, 7, 7, 1], Precision::F16, padded(3)),
            ([1, 1, 1, 8], [8, 1, 1, 8], Precision::F16, padded(0)),
            // No copy engine takes these channels.
            ([7, 20, 19, 12], [12, 3, 3, 4], Precision::F16, padded(1)),
        ];
        for (x, w, precision, params) in cases {
            let problem = Problem::of_forward(x, w, precision, &params).unwrap();
            let stored = Ends::stored;
            for (pass, ends) in [
                (Pass::Forward, stored(Precision::F32)),
                (Pass::Forward, stored(precision)),
                (Pass::GradInput, stored(precision)),
                (Pass::Forward, COMPUTED),
            ] {
                let mut all = Vec::new();
                each_plan(&problem, pass, SM, ends, |plan| all.push((estimate(plan, 132), plan.config)));
                // Sorting keeps the order of equals.
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                all.truncate(RANKED);
                let kept = estimated(&problem, pass, ends, SM, 132);
                assert!(kept == all, "{problem:?} {pass:?}: {} of {}", kept.len(), all.len());
            }
        }
    }
}
