//! The candidates of the row kernel that the estimate expects to be fastest, found without looking at all.

use super::super::candidates::{Kept, microseconds, timed};
use super::super::ends::Ends;
use super::super::estimate::{Lines, Turn, least, least_of_turns, of_blocks, real, turns};
use super::super::meeting::Meeting;
use super::super::multiprocessor::{GpuScale, Multiprocessor};
use super::super::problem::{Pass, Problem};
use super::super::row_plan::{MOST_BLOCKS, RowConfig, RowPlan};
use super::{ITEMS, RINGS, WAVES, heights, tilings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// That which takes the least memory and warps, and whether rows are stored whole with it.
const SMALLEST_RING: ([usize; 2], bool) = (RINGS[0], false);
/// That with the fewest steps, with which most is under way and stores are widest.
const BEST_RING: ([usize; 2], bool) = ([2, 16], true);

/// The plans of the candidates that the estimate expects to be fastest; the fastest first, and of equals the one that comes first among
/// all (by tiling, items, ring, rows, and how rows are stored).
///
/// Not one in a hundred is looked at: blocks come in the order of a time that nothing of the same strips, images and columns falls below, tilings of them in
/// that of one that no ring, items and rows fall below, and rings of these likewise, until that of the next one is beyond the last of those that are kept.
pub(super) fn estimated(problem: &Problem, pass: Pass, ends: Ends, sm: Multiprocessor, gpu: GpuScale) -> Vec<RowPlan> {
    let meetings @ [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass));
    let tilings = tilings(problem, &columns);
    let Some(first) = tilings.first() else { return Vec::new() };
    let mut plan = RowPlan::unchecked(*problem, pass, smallest_of(*first, &rows), sm, ends, meetings);
    let search = Search::new(plan, sm, gpu);
    let is_same_block = |a: &[usize; 5], b: &[usize; 5]| [a[0], a[2], a[3]] == [b[0], b[2], b[3]];
    let (mut begin, mut kept, mut waiting) = (0, Kept::new(), BinaryHeap::with_capacity(tilings.len()));
    let mut rings = Vec::with_capacity(tilings.len());
    for of_block in tilings.chunk_by(is_same_block) {
        plan.retake_all(smallest_of(of_block[0], &rows));
        waiting.push(Reverse(timed(search.least_of_block(&mut plan), Waiting::Block(begin).number())));
        begin += of_block.len();
    }
    while let Some(Reverse(bound)) = waiting.pop() {
        if kept.has_better_than(microseconds(bound)) {
            break;
        }
        let mut wait = |us: f64, next: Waiting| {
            if !kept.has_better_than(us) {
                waiting.push(Reverse(timed(us, next.number())));
            }
        };
        match Waiting::of(bound as u64) {
            Waiting::Block(begin) => {
                let of_block = tilings[begin..].iter().take_while(|tiling| is_same_block(tiling, &tilings[begin]));
                for (tiling, of) in (begin..).zip(of_block) {
                    plan.retake_all(smallest_of(*of, &rows));
                    if let Some(us) = search.bounded(&mut plan) {
                        wait(us, Waiting::Tiling(tiling));
                    }
                }
            }
            Waiting::Tiling(tiling) => {
                plan.retake_all(smallest_of(tilings[tiling], &rows));
                for whole_rows in [false, true] {
                    plan.retake_ring(SMALLEST_RING.0, whole_rows);
                    let alone = Turn::alone(&plan, gpu);
                    for (ring, steps) in RINGS.into_iter().enumerate() {
                        plan.retake_ring(steps, whole_rows);
                        let place = Place { tiling, item: 0, ring, row: 0, whole_rows };
                        if let Some((us, ring)) = search.bounded_ring(&plan, &alone, place) {
                            wait(us, Waiting::Ring(rings.len()));
                            rings.push(ring);
                        }
                    }
                }
            }
            Waiting::Ring(ring) => {
                let ring: &Ring = &rings[ring];
                let Place { tiling, ring: at, whole_rows, .. } = ring.place;
                plan.retake_all(smallest_of(tilings[tiling], &rows));
                plan.retake_ring(RINGS[at], whole_rows);
                search.add_heights(&mut kept, &plan, ring);
                search.add_stacks(&mut kept, &plan, ring);
            }
        }
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

/// What is to be looked at: all tilings of a block, from the first on, one with all rings, or all rows and items with one ring.
#[derive(Clone, Copy)]
enum Waiting {
    Block(usize),
    Tiling(usize),
    Ring(usize),
}

impl Waiting {
    fn number(self) -> u64 {
        match self {
            Waiting::Block(begin) => 4 * begin as u64,
            Waiting::Tiling(tiling) => 4 * tiling as u64 + 1,
            Waiting::Ring(ring) => 4 * ring as u64 + 2,
        }
    }

    /// The inverse of [`Waiting::number`].
    fn of(number: u64) -> Waiting {
        let place = (number / 4) as usize;
        match number % 4 {
            0 => Waiting::Block(place),
            1 => Waiting::Tiling(place),
            _ => Waiting::Ring(place),
        }
    }
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
    blocks: f64,
    /// Lines with steps of one row and of two.
    lines: [Lines; 2],
}

/// A ring of a tiling, how many of its blocks are resident, and what their turns cost.
struct Ring {
    place: Place,
    resident: usize,
    turn: Turn,
}

/// What all tilings have in common.
struct Search {
    heights: Vec<Height>,
    /// [`Lines::least`] of steps of one row and of two.
    least: [Lines; 2],
    sm: Multiprocessor,
    gpu: GpuScale,
}

impl Search {
    fn new(mut plan: RowPlan, sm: Multiprocessor, gpu: GpuScale) -> Search {
        let least = [1, 2].map(|step| Lines::least(&plan, step));
        let mut legal = heights(&plan.rows);
        legal.retain(|rows| plan.fits_rows(*rows));
        let height = |rows| {
            let lines = [1, 2].map(|step| {
                plan.retake_ring([step, SMALLEST_RING.0[1]], false);
                Lines::of(&plan, rows)
            });
            Height { rows, blocks: real(plan.blocks_above(rows)), lines }
        };
        Search { heights: legal.into_iter().map(height).collect(), least, sm, gpu }
    }

    /// A time that nothing of a plan's strips, images and columns falls below, be it legal or not.
    fn least_of_block(&self, plan: &mut RowPlan) -> f64 {
        plan.retake_ring(BEST_RING.0, BEST_RING.1);
        self.least(plan, turns(plan, self.gpu.multiprocessors), &Turn::least(plan, self.gpu))
    }

    /// A time that nothing of a plan's tiling falls below; nothing where nothing of it is legal. The plan has [`SMALLEST_RING`]: no other
    /// is legal where it is not, nor are more blocks resident with one. Then it has the best ring: none has fewer steps.
    fn bounded(&self, plan: &mut RowPlan) -> Option<f64> {
        plan.check_limits(self.sm).and_then(|()| plan.check_ranges()).ok()?;
        let resident = plan.resident();
        plan.retake_ring(BEST_RING.0, BEST_RING.1);
        Some(self.least(plan, turns(plan, self.gpu.multiprocessors), &Turn::of(plan, resident, self.gpu)))
    }

    /// A time that no items and rows of a plan fall below. Where multiprocessors are more than blocks of all rows, blocks of some height have to keep them busy, and no
    /// rows are stacked.
    fn least(&self, plan: &RowPlan, turns: f64, turn: &Turn) -> f64 {
        let step = plan.config.step - 1;
        if turns > 1.0 {
            return least(plan, turns, turn, &self.least[step]);
        }
        let of_height = |height: &Height| least_of_turns(turns, height.blocks, turn.cycles(&height.lines[step]));
        self.heights.iter().map(of_height).fold(f64::INFINITY, f64::min)
    }

    /// A plan's ring, given [`Turn::alone`], and a time that nothing of it falls below; nothing where it is not legal.
    fn bounded_ring(&self, plan: &RowPlan, alone: &Turn, place: Place) -> Option<(f64, Ring)> {
        plan.check_limits(self.sm).ok()?;
        let resident = plan.resident();
        let turn = alone.shared(plan, resident);
        let us = self.least(plan, turns(plan, self.gpu.multiprocessors), &turn);
        Some((us, Ring { place, resident, turn }))
    }

    /// Adds a plan's ring with stacked rows.
    fn add_stacks(&self, kept: &mut Kept, plan: &RowPlan, Ring { place, resident, turn }: &Ring) {
        let gpu @ [multiprocessors, resident] = [self.gpu.multiprocessors, *resident];
        for (wave, waves) in WAVES.into_iter().enumerate() {
            let Some(rows) = plan.stacked_rows(multiprocessors * resident * waves) else { continue };
            let blocks = plan.stack().div_ceil(rows) * plan.blocks[2] * plan.blocks[3];
            let us = of_blocks(real(blocks), 1, gpu, turn.cycles(&Lines::of(plan, rows)));
            kept.add(us, Place { row: self.heights.len() + wave, ..*place }.number());
        }
    }

    /// Adds all items and rows of a plan's ring that may be among the fastest.
    fn add_heights(&self, kept: &mut Kept, plan: &RowPlan, Ring { place, resident, turn }: &Ring) {
        let (gpu, step) = ([self.gpu.multiprocessors, *resident], plan.config.step - 1);
        let (turns, most) = (turns(plan, gpu[0]), plan.problem.images.div_ceil(plan.config.images));
        // Blocks beside each other: along images, columns and channels.
        let beside = ITEMS.map(|items| real(most.div_ceil(items) * plan.blocks[2] * plan.blocks[3]));
        for (row, height) in self.heights.iter().enumerate() {
            let turn = turn.cycles(&height.lines[step]);
            if kept.has_better_than(least_of_turns(turns, height.blocks, turn)) {
                continue;
            }
            for (item, items) in ITEMS.into_iter().enumerate().take_while(|(_, items)| *items <= most) {
                let blocks = beside[item] * height.blocks;
                if blocks <= real(MOST_BLOCKS) {
                    kept.add(of_blocks(blocks, items, gpu, turn), Place { item, row, ..*place }.number());
                }
            }
        }
    }
}
