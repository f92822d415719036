//! What the depthwise kernel's time is expected to be: bytes as the row kernel's fit has them, and instructions as they are counted.

use super::super::estimate::fitted::{
    BYTES, FETCHED, ODD_PIXEL, OVERLAPPING, PIXEL_READ, PIXEL_WRITTEN, READ, STEP_LATENCY, UNDER_WAY,
};
use super::super::estimate::{of_blocks, real};
use super::super::multiprocessor::{GpuScale, fetched_beside};
use super::super::problem::Precision;
use super::super::row_plan::STRIP;
use super::plan::{DepthwiseConfig, DepthwisePlan};

/// Instructions of a warp for a row that it reads, and for one that it completes, besides those that move and multiply: barriers, turns, fences.
const STEP: f64 = 40.0;
const ROW: f64 = 40.0;
/// Turns of a scheduler that a warp's load from shared memory takes, or its store there: of two ways to move as much the one with wider vectors is faster.
const ACCESS: f64 = 2.0;
/// Bytes that shared memory moves in a cycle.
const SHARED_BYTES: usize = 128;

/// Microseconds, roughly, on a GPU with multiprocessors like Hopper's.
pub(super) fn estimate(plan: &DepthwisePlan, gpu: GpuScale) -> f64 {
    let resident = plan.resident();
    let (memory, working) = (memory(plan, resident, gpu), working(plan, resident));
    let turn = memory.max(working) + OVERLAPPING * memory.min(working);
    of_blocks(real(plan.blocks.iter().product()), 1, [gpu.multiprocessors, resident], turn)
}

/// Cycles that memory takes for a block.
fn memory(plan: &DepthwisePlan, resident: usize, gpu: GpuScale) -> f64 {
    let DepthwiseConfig { strips, columns, slots, .. } = plan.config;
    let (bytes, channels) = (plan.problem.precision.bytes(), plan.problem.channels());
    let (cell, pixel) = (strips * STRIP * bytes, channels * bytes);
    // In the mean of blocks: the last one may have fewer channels.
    let own = real(pixel) / real(plan.blocks[3]);
    let read = (own + PIXEL_READ + FETCHED * real(fetched_beside(cell, pixel))) * READ;
    let written = own + PIXEL_WRITTEN + if cell.is_multiple_of(32) { 0.0 } else { ODD_PIXEL };
    let all =
        plan.lines() * real(plan.reach.min(plan.columns.read)) * read + real(plan.config.rows * columns) * written;
    let under_way = real(resident * (slots - 1) * plan.reach * cell);
    all / (BYTES * gpu.memory) * (UNDER_WAY / under_way).max(1.0)
}

/// Cycles that a block's warps take for instructions, the four schedulers at once, or for shared memory, or that each of them waits.
fn working(plan: &DepthwisePlan, resident: usize) -> f64 {
    let DepthwiseConfig { strips, pixels, vector, .. } = plan.config;
    let [taps, along] = [plan.rows.taps, plan.columns.taps];
    let bytes = plan.problem.precision.bytes();
    let (own, down) = (plan.columns.across().reach(pixels, along), plan.rows.down);
    let products = real(pixels * along * vector * taps) / real(down);
    let conversions = if plan.problem.precision == Precision::F32 { 0 } else { own * vector };
    let line = products + real(conversions) + real(own) * ACCESS + STEP;
    let row = real(pixels * vector / 2) + real(pixels) * ACCESS + ROW;
    let (lines, rows) = (plan.lines(), real(plan.config.rows));
    let issued = real(plan.warps) / 4.0 * (lines * line + rows * row);
    // Lanes of other pixels meet in a bank where a block has so few channels that a warp's turn has several of them.
    let beside = (SHARED_BYTES / (strips * STRIP * bytes)).max(1);
    let moved = real((vector * bytes / 4).max(1) * plan.warps);
    let turns = |pixels: usize, step: usize| moved * real(pixels * common(step, beside));
    let shared = lines * turns(own, pixels * plan.columns.across().down) + rows * turns(pixels, pixels);
    let waits = (lines * (STEP_LATENCY + line) + rows * row) / real(resident);
    issued.max(shared).max(waits)
}

/// The greatest common divisor.
fn common(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common(b, a % b) }
}

impl DepthwisePlan {
    /// Rows that a block reads, in the mean: those outside the image are left out.
    fn lines(&self) -> f64 {
        let (len, halo) = (self.rows.phase_len(), self.rows.taps - 1);
        let of = |rows: usize| self.rows.down * rows + halo;
        let least = of(len).min(self.rows.read.div_ceil(self.rows.pitch));
        if self.stacked() {
            // What images read, and again what two blocks need of the same image.
            let blocks = self.blocks[1];
            return real(self.problem.images * least + (blocks - 1) * halo) / real(blocks);
        }
        let blocks = len.div_ceil(self.config.rows);
        real(blocks * of(self.config.rows.min(len)) - (of(len) - least)) / real(blocks)
    }
}
