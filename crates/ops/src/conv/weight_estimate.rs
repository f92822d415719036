//! What the kernels of the weights' gradient are expected to take, by a few sums.

use super::meeting::Meeting;
use super::problem::Pass;
use super::row_plan::STRIP;
use super::weight_plan::{WeightConfig, WeightPlan};

/// What the estimate was fitted to; in cycles of a multiprocessor and bytes. docs/notes/conv.md has the fit.
mod fitted {
    /// Bytes of DRAM in a cycle, where so many are under way.
    pub(super) const BYTES: f64 = 19.0;
    pub(super) const UNDER_WAY: f64 = 28_000.0;
    /// Bytes that a pixel of a block costs besides its own, and where it does not fill sectors of 32 bytes.
    pub(super) const PIXEL: f64 = 8.0;
    pub(super) const ODD_PIXEL: f64 = 32.0;
    /// A product, a warp's load of a matrix, a row.
    pub(super) const PRODUCT: f64 = 8.0;
    pub(super) const LOAD: f64 = 4.0;
    pub(super) const ROW: f64 = 40.0;
    /// Latencies: a block's begin and end, a warp's turn in adding up, a row's, a product's.
    pub(super) const BLOCK: f64 = 4000.0;
    pub(super) const TURN: f64 = 300.0;
    pub(super) const ROW_LATENCY: f64 = 220.0;
    pub(super) const PRODUCT_LATENCY: f64 = 10.0;
    /// How much of the shorter one of memory and computation does not hide behind the longer one.
    pub(super) const OVERLAPPING: f64 = 0.24;
    /// Bytes of parts in a microsecond, written and read again.
    pub(super) const PARTS: f64 = 2.5e6;
    pub(super) const CYCLES_OF_US: f64 = 1750.0;
    pub(super) const LAUNCH_US: f64 = 5.5;
}

/// Microseconds, roughly, on a GPU of so many multiprocessors like Hopper's.
pub(super) fn estimate(plan: &WeightPlan, multiprocessors: usize) -> f64 {
    use fitted::*;
    let WeightConfig { strips, images, items, columns, rows, tiles, slots } = plan.config;
    let of = |axis| Meeting::of(&plan.problem, axis, Pass::GradWeight);
    let (resident, lines) = (plan.resident(), plan.lines(&of(0)) as f64);

    let bytes = strips * STRIP * plan.problem.precision.bytes();
    let pixel = bytes as f64 + PIXEL + if bytes.is_multiple_of(32) { 0.0 } else { ODD_PIXEL };
    let row = images * (plan.reach + columns) * bytes;
    let under_way = (resident * (slots - 1) * row) as f64;
    let read = images as f64 * (lines * plan.reach.min(of(1).read) as f64 + (rows * columns) as f64) * pixel;
    let memory = read / (BYTES * (under_way / UNDER_WAY).min(1.0));

    let [taps, pairs] = [plan.problem.kernel[0], plan.problem.kernel[1].div_ceil(2)];
    let meetings = lines * taps as f64 / of(0).down as f64;
    let (warps, tiles) = (plan.warps as f64, tiles as f64);
    // What is not turned over on the way is read element by element.
    let reads = if plan.problem.precision.bytes() == 2 { plan.conflicts() as f64 } else { 8.0 };
    let products = meetings * tiles * pairs as f64;
    let loads = tiles * (lines * pairs as f64 + rows as f64 / 2.0) * reads;
    let computing = warps * (products * PRODUCT + loads * LOAD + lines * ROW) / 4.0;
    let serial = lines * ROW_LATENCY + products * PRODUCT_LATENCY;

    let working = computing.max(serial / resident as f64);
    let image = memory.max(working) + OVERLAPPING * memory.min(working);
    let waves = plan.blocks.iter().product::<usize>() as f64 / (multiprocessors * resident) as f64;
    let waves = if waves < 6.0 { waves.ceil() } else { waves + 0.5 };
    let parts = plan.workspace() as f64 / PARTS;
    waves * ((items * resident) as f64 * image + BLOCK + plan.warps_along() as f64 * TURN) / CYCLES_OF_US
        + parts
        + LAUNCH_US
}

impl WeightPlan {
    /// Rows that a block reads, in the mean: those outside the image are left out.
    pub(super) fn lines(&self, rows: &Meeting) -> usize {
        let of = |count: usize| rows.down * (count - 1) + rows.taps;
        let (all, inside) = (of(rows.phase_len()), rows.read.div_ceil(rows.pitch));
        let blocks = rows.phase_len().div_ceil(self.config.rows);
        (blocks * of(self.config.rows) - all.saturating_sub(inside)).div_ceil(blocks)
    }

    /// Lanes that meet in a bank when a warp loads cells of neighbouring pixels, where copies are not swizzled.
    fn conflicts(&self) -> usize {
        let cells = self.config.strips * STRIP * self.problem.precision.bytes() / 16;
        if self.span > 1 { 1 } else { 1 << cells.trailing_zeros().min(3) }
    }

    /// Blocks of a multiprocessor at once.
    fn resident(&self) -> usize {
        let threads = 32 * (self.warps + 1);
        let registers = self.registers.min(255).next_multiple_of(8) * threads;
        (228_000 / (self.shared_bytes + 1024)).min(2048 / threads).min(65_536 / registers).max(1)
    }
}
