//! Which configuration the row kernel gets: all that make sense, an estimate of their time, and the learned model's choice among the
//! best of them.

use super::meeting::Meeting;
use super::operation::{RowOperation, work};
use super::problem::{Pass, Precision, Problem};
use super::row_plan::{Multiprocessor, RowConfig, RowPlan, STRIP, TILE};
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models};

const STRIPS: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16];
const ROWS: [usize; 8] = [4, 7, 8, 14, 16, 28, 32, 64];
const COLUMNS: [usize; 6] = [16, 28, 32, 48, 56, 64];
const IMAGES: [usize; 5] = [1, 2, 4, 8, 16];
const TILES: [usize; 5] = [1, 2, 3, 4, 7];
const ITEMS: [usize; 5] = [1, 2, 4, 8, 16];
/// Rows between barriers, and how many of these steps the ring holds.
const RINGS: [[usize; 2]; 5] = [[1, 4], [1, 6], [1, 8], [2, 3], [2, 4]];

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
const RANKED: usize = 400;

/// What a model takes; nothing where there is none, or where it refuses what it is asked about.
fn learned(models: &Models, timed: &[(f64, usize)], plans: &[RowPlan], device: &DeviceFacts) -> Option<usize> {
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

/// What the estimate was fitted to: 430 random configurations of seven layers, f16, timed on an H200; in cycles of a multiprocessor and
/// bytes. docs/notes/conv.md has the fit.
mod fitted {
    /// Bytes of DRAM in a cycle, where so many are under way, and how much a byte that is read weighs beside one that is written.
    pub(super) const BYTES: f64 = 18.9;
    pub(super) const UNDER_WAY: f64 = 11_000.0;
    pub(super) const READ: f64 = 0.83;
    /// What is lost of pixels that do not fill sectors of 32 bytes: bytes more for reads, a share of the speed for a warp's writes.
    pub(super) const ODD_READ: f64 = 37.0;
    pub(super) const HALF_WRITE: f64 = 0.39;
    /// A product of two cells, and of one beside one of two; loads of operands, steps.
    pub(super) const PRODUCT: f64 = 6.1;
    pub(super) const HALF_PRODUCT: f64 = 0.63;
    pub(super) const LOAD: f64 = 0.9;
    pub(super) const STEP: f64 = 19.0;
    /// A block's begin, a step's latency, a product's.
    pub(super) const BEGIN: f64 = 4400.0;
    pub(super) const STEP_LATENCY: f64 = 270.0;
    pub(super) const PRODUCT_LATENCY: f64 = 12.3;
    /// How much of the shorter one of memory and computation does not hide behind the longer one.
    pub(super) const OVERLAPPING: f64 = 1.0;
    pub(super) const CYCLES_OF_US: f64 = 1750.0;
    pub(super) const LAUNCH_US: f64 = 2.0;
}

/// Microseconds, roughly, on a GPU of so many multiprocessors like Hopper's.
pub(super) fn estimate(plan: &RowPlan, multiprocessors: usize) -> f64 {
    use fitted::*;
    let RowConfig { strips, images, items, rows, tiles, step, slots, warp_strips, columns, whole_rows } = plan.config;
    let (taps, bytes) = (plan.rows.taps as f64, plan.problem.precision.bytes());
    let resident = resident(plan);
    let lines = plan.lines();

    let (cell, row) = (strips * STRIP * bytes, images * plan.reach * strips * STRIP * bytes);
    let reading = if cell.is_multiple_of(32) { 1.0 } else { 1.0 + ODD_READ / cell as f64 };
    let pixel_of_store = if whole_rows { cell } else { warp_strips * STRIP * bytes };
    let writing = if pixel_of_store.is_multiple_of(32) { 1.0 } else { 1.0 / HALF_WRITE };
    let read = (lines * row) as f64 * reading * READ;
    let written = (images * columns * rows * cell) as f64 * writing;
    let under_way = (resident * (slots - 1) * step * row) as f64;
    let memory = (read + written) / (BYTES * (under_way / UNDER_WAY).min(1.0));

    let cells = plan.cells();
    let products_of_line = taps / plan.rows.down as f64 * ((cells / 2) as f64 + (cells % 2) as f64 * HALF_PRODUCT);
    let products = lines as f64 * products_of_line;
    let parts = (tiles * warp_strips) as f64;
    let work = plan.warps as f64 * parts;
    let tensor = work * products * PRODUCT / 4.0;
    let instructions = products * 1.1 + lines as f64 * cells as f64 / 2.0 * LOAD;
    let issue = (work * instructions + (plan.warps * lines) as f64 * STEP) / 4.0;
    let steps = (lines / step) as f64;
    let serial = BEGIN / items as f64 + steps * STEP_LATENCY + products * parts * PRODUCT_LATENCY;

    let computing = tensor.max(issue);
    let block = memory.max(computing).max(serial / resident as f64) + OVERLAPPING * memory.min(computing);
    let waves = plan.blocks.iter().product::<usize>() as f64 / (multiprocessors * resident) as f64;
    let waves = if waves < 6.0 { waves.ceil() } else { waves + 0.5 };
    waves * items as f64 * block * resident as f64 / CYCLES_OF_US + LAUNCH_US
}

/// Blocks of a multiprocessor at once.
fn resident(plan: &RowPlan) -> usize {
    let threads = 32 * plan.block_warps;
    let registers = plan.registers.next_multiple_of(8) * threads;
    (228_000 / (plan.shared_bytes + 1024)).min(2048 / threads).min(65_536 / registers).max(1)
}

impl RowPlan {
    /// Read rows of a block, up to whole steps.
    pub(super) fn lines(&self) -> usize {
        let lines = (self.rows.down * self.config.rows + self.rows.taps - 1).div_ceil(self.rows.up);
        lines.next_multiple_of(self.config.step)
    }

    /// Cells of 16 bytes that the taps of a row have.
    fn cells(&self) -> usize {
        self.columns.taps * self.problem.group_width.max(STRIP) * self.problem.precision.bytes() / 16
    }

    /// Products of two cells of a tile and a strip, in one block's read rows.
    pub(super) fn products(&self) -> f32 {
        let of_line = self.rows.taps as f32 / self.rows.down as f32 * self.cells().div_ceil(2) as f32;
        self.lines() as f32 * of_line
    }
}
