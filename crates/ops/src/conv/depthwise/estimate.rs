//! What the depthwise kernel's time is expected to be, by a few sums.

use super::super::estimate::{real, waves};
use super::super::multiprocessor::{GpuScale, fetched_beside};
use super::super::problem::Precision;
use super::super::row_plan::STRIP;
use super::plan::{DepthwiseConfig, DepthwisePlan};

/// What it was fitted to: 339 configurations of 42 shapes and passes with windows of 3x3, timed on an H200; in cycles of a multiprocessor, bytes and
/// instructions of a warp. docs/notes/conv.md has the fit.
mod fitted {
    /// Bytes of an H200's DRAM in a cycle, where so many are under way, and how much a byte that is read weighs beside one that is written.
    pub(super) const BYTES: f64 = 12.7;
    pub(super) const UNDER_WAY: f64 = 12_100.0;
    pub(super) const READ: f64 = 0.427;
    /// Bytes that a pixel of a block costs besides its own where boxes are copied: to read, of what memory fetches with it for other blocks, to write,
    /// and to write where it does not fill sectors of 32 bytes. Runs of bytes cost nothing besides.
    pub(super) const PIXEL_READ: f64 = 7.5;
    pub(super) const FETCHED: f64 = 0.93;
    pub(super) const PIXEL_WRITTEN: f64 = 21.5;
    pub(super) const ODD_PIXEL: f64 = 15.1;
    /// Instructions: for each fused multiply-add, for each number that is converted, for each access to shared memory; of a line that is read, and of a
    /// row that is complete, besides.
    pub(super) const PRODUCT: f64 = 1.37;
    pub(super) const CONVERTED: f64 = 5.97;
    pub(super) const ACCESS: f64 = 1.04;
    pub(super) const STEP: f64 = 17.0;
    pub(super) const ROW: f64 = 68.0;
    /// What a warp waits for, once a line, and once a row.
    pub(super) const STEP_LATENCY: f64 = 366.0;
    pub(super) const ROW_LATENCY: f64 = 468.0;
    /// Cycles of an instruction of a warp that is alone.
    pub(super) const ALONE: f64 = 0.852;
    /// How much of the shorter one of memory and computation does not hide behind the longer one.
    pub(super) const OVERLAPPING: f64 = 0.078;
    pub(super) const BEGIN: f64 = 671.0;
    pub(super) const US_OF_CYCLE: f64 = 1.0 / 1750.0;
    pub(super) const LAUNCH_US: f64 = 4.19;
    /// How much longer blocks take that begin and end in the middle of images, as single calls: not of the fit, which is of calls back to back.
    pub(super) const STACKED: f64 = 1.015;
}

/// Bytes that shared memory moves in a cycle.
const SHARED_BYTES: usize = 128;

/// Microseconds, roughly, on a GPU with multiprocessors like Hopper's.
pub(super) fn estimate(plan: &DepthwisePlan, gpu: GpuScale) -> f64 {
    let resident = plan.resident();
    let (memory, working) = (memory(plan, resident, gpu), working(plan, resident));
    let amid = if plan.stacked() { fitted::STACKED } else { 1.0 };
    let turn = amid * (memory.max(working) + fitted::OVERLAPPING * memory.min(working));
    let waves = waves(real(plan.blocks.iter().product()), gpu.multiprocessors * resident);
    waves * (real(resident) * turn + fitted::BEGIN) * fitted::US_OF_CYCLE + fitted::LAUNCH_US
}

/// Cycles that memory takes for a block.
fn memory(plan: &DepthwisePlan, resident: usize, gpu: GpuScale) -> f64 {
    use fitted::*;
    let DepthwiseConfig { strips, columns, slots, .. } = plan.config;
    let (bytes, channels) = (plan.problem.precision.bytes(), plan.problem.channels());
    let (cell, pixel) = (strips * STRIP * bytes, channels * bytes);
    // In the mean of blocks: the last one may have fewer channels.
    let own = real(pixel) / real(plan.blocks[3]);
    let odd = if cell.is_multiple_of(32) { 0.0 } else { ODD_PIXEL };
    let [read, written] = match plan.in_runs() {
        true => [0.0; 2],
        false => [PIXEL_READ + FETCHED * real(fetched_beside(cell, pixel)), PIXEL_WRITTEN + odd],
    };
    let read = plan.lines() * real(plan.reach.min(plan.columns.read)) * (own + read) * READ;
    let written = real(plan.config.rows * columns) * (own + written);
    let under_way = real(resident * (slots - 1) * plan.reach * cell);
    (read + written) / (BYTES * gpu.memory) * (UNDER_WAY / under_way).max(1.0)
}

/// Cycles that a block's warps take for instructions, the four schedulers at once, or for shared memory, or that each of them waits.
fn working(plan: &DepthwisePlan, resident: usize) -> f64 {
    use fitted::*;
    let DepthwiseConfig { strips, pixels, vector, .. } = plan.config;
    let [taps, along] = [plan.rows.taps, plan.columns.taps];
    let bytes = plan.problem.precision.bytes();
    let (own, down) = (plan.columns.across().reach(pixels, along), plan.rows.down);
    let products = real(pixels * along * vector * taps) / real(down);
    let converted = if plan.problem.precision == Precision::F32 { 0 } else { own * vector };
    let line = products * PRODUCT + real(converted) * CONVERTED + real(own) * ACCESS + STEP;
    let row = real(pixels * vector) / 2.0 + real(pixels) * ACCESS + ROW;
    let (lines, rows) = (plan.lines(), real(plan.config.rows));
    let busiest = real((plan.warps * resident).div_ceil(4)) / real(resident);
    let issued = busiest * (lines * line + rows * row);
    // Lanes of other pixels meet in a bank where a block has so few channels that a warp's turn has several of them.
    let beside = (SHARED_BYTES / (strips * STRIP * bytes)).max(1);
    let moved = real((vector * bytes / 4).max(1) * plan.warps);
    let turns = |pixels: usize, step: usize| moved * real(pixels * common(step, beside));
    let shared = lines * turns(own, pixels * plan.columns.across().down) + rows * turns(pixels, pixels);
    let waits = lines * (STEP_LATENCY + ALONE * line) + rows * (ROW_LATENCY + ALONE * row);
    issued.max(shared).max(waits / real(resident))
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
