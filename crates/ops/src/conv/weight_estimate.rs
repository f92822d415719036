//! What the kernels of the weights' gradient are expected to take, by a few sums.

use super::estimate::{loading, promised, waves};
use super::kernel_text::access_bytes;
use super::multiprocessor::{GpuScale, SYSTEM_BYTES};
use super::registers::blocks_by_registers;
use super::row_plan::STRIP;
use super::weight_plan::{WeightConfig, WeightPlan};

/// Registers above what is likely that threads are given, so that hardly any has to be spilled.
const SPARE_REGISTERS: usize = 4;

/// What the estimate was fitted to: 7,689 configurations of 438 shapes, timed on an H200 and an H100; in cycles of a multiprocessor and bytes.
/// docs/notes/conv.md has the fit.
mod fitted {
    /// Bytes of an H200's DRAM and level 2 in a cycle, where so many are under way.
    pub(super) const BYTES: f64 = 26.3;
    pub(super) const UNDER_WAY: f64 = 13_100.0;
    /// Bytes that a pixel of a block costs besides its own.
    pub(super) const PIXEL: f64 = 16.4;
    /// A product, a warp's load of a matrix, one of elements that are not turned over on the way, a row.
    pub(super) const PRODUCT: f64 = 5.9;
    pub(super) const LOAD: f64 = 2.72;
    pub(super) const ELEMENTS: f64 = 12.1;
    pub(super) const ROW: f64 = 31.7;
    /// Latencies: a block's begin and end, a warp's turn in adding up, a row's, a product's.
    pub(super) const BLOCK: f64 = 2800.0;
    pub(super) const TURN: f64 = 2880.0;
    pub(super) const ROW_LATENCY: f64 = 97.0;
    pub(super) const PRODUCT_LATENCY: f64 = 10.4;
    /// How much of the shorter one of memory and computation does not hide behind the longer one.
    pub(super) const OVERLAPPING: f64 = 0.313;
    /// Bytes of parts in a microsecond, written and read again.
    pub(super) const PARTS: f64 = 1.48e6;
    pub(super) const US_OF_CYCLE: f64 = 1.0 / 1750.0;
    pub(super) const LAUNCH_US: f64 = 2.0;
    pub(super) const ADDING_US: f64 = 1.5;
}

/// Microseconds, roughly, on a GPU with multiprocessors like Hopper's.
pub(super) fn estimate(plan: &WeightPlan, gpu: GpuScale) -> f64 {
    let resident = plan.resident();
    let image = Image::of(plan, resident, gpu).cycles(&Lines::of(plan, plan.config.rows));
    let divided =
        Divided { blocks: plan.blocks.iter().product(), items: plan.config.items, workspace: plan.workspace() };
    of_blocks(&divided, [gpu.multiprocessors, resident], image, ends(plan))
}

/// What depends on the items: how many there are, and with them how many blocks, and bytes of the parts of the sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divided {
    pub(super) blocks: usize,
    pub(super) items: usize,
    pub(super) workspace: usize,
}

/// Microseconds of blocks, given the multiprocessors, the blocks of each, cycles of a block's images and of its [`ends`]. Neither depends
/// on items.
pub(super) fn of_blocks(divided: &Divided, [multiprocessors, resident]: [usize; 2], image: f64, ends: f64) -> f64 {
    use fitted::*;
    let waves = waves(divided.blocks as f64, multiprocessors * resident);
    let parts = if divided.workspace > 0 { divided.workspace as f64 / PARTS + ADDING_US } else { 0.0 };
    waves * ((divided.items * resident) as f64 * image + ends) * US_OF_CYCLE + parts + LAUNCH_US
}

/// A time that no items of the plan fall below, given the cycles of all images of the blocks one above the other: multiprocessors are at
/// best all busy.
pub(super) fn least_of_images(plan: &WeightPlan, multiprocessors: usize, images: f64, ends: f64) -> f64 {
    use fitted::*;
    let [_, _, columns, channels] = plan.blocks;
    let turns = plan.problem.images.max(1).div_ceil(plan.config.images) * columns * channels;
    // A little less, for what rounding makes of the same sums in another order.
    let cycles = (turns as f64 * images / multiprocessors as f64 + ends) * (1.0 - 1e-9);
    cycles * US_OF_CYCLE + LAUNCH_US
}

/// Cycles of a block's begin, and of its end. They grow with no deeper ring.
pub(super) fn ends(plan: &WeightPlan) -> f64 {
    fitted::BLOCK + plan.turns() as f64 * fitted::TURN
}

/// Rows of the input and of the result's gradient that a block reads, or that blocks one above the other read together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    pub(super) input: f64,
    pub(super) given: f64,
}

impl Lines {
    /// Of a block of so many rows. They depend on nothing else of the configuration.
    pub(super) fn of(plan: &WeightPlan, rows: usize) -> Lines {
        Lines { input: plan.lines_for(rows) as f64, given: rows as f64 }
    }
}

/// What a block's images cost, taken once: cycles of a line of the input, and of a row of the result's gradient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    memory: Lines,
    computing: Lines,
    serial_of_line: f64,
    loading: Lines,
}

impl Image {
    /// Where so many blocks share a multiprocessor, for each of them.
    pub(super) fn of(plan: &WeightPlan, resident: usize, gpu: GpuScale) -> Image {
        use fitted::*;
        let WeightConfig { strips, images, columns, tiles, slots, .. } = plan.config;
        let bytes = strips * STRIP * plan.problem.precision.bytes();
        let row = images * (plan.reach + columns) * bytes;
        let under_way = (resident * (slots - 1) * row) as f64;
        let pixel = images as f64 * (bytes as f64 + PIXEL) / (BYTES * gpu.memory * (under_way / UNDER_WAY).min(1.0));
        let memory = Lines { input: plan.reach.min(plan.columns.read) as f64 * pixel, given: columns as f64 * pixel };

        let [taps, pairs] = [plan.problem.kernel[0], plan.problem.kernel[1].div_ceil(2)].map(|it| it as f64);
        let (quarter, tiles) = (plan.warps as f64 / 4.0, tiles as f64);
        let load = if plan.problem.precision.bytes() == 2 { plan.conflicts() as f64 * LOAD } else { ELEMENTS };
        let products = taps / plan.rows.down as f64 * tiles * pairs;
        Image {
            memory,
            computing: Lines {
                input: quarter * (products * PRODUCT + tiles * pairs * load + ROW),
                given: quarter * tiles * load / 2.0,
            },
            serial_of_line: (ROW_LATENCY + products * PRODUCT_LATENCY) / resident as f64,
            loading: Lines {
                input: loading_of(plan, plan.bulk[0], images * plan.reach * bytes) / resident as f64,
                given: loading_of(plan, plan.bulk[1], images * columns * bytes) / resident as f64,
            },
        }
    }

    pub(super) fn cycles(&self, lines: &Lines) -> f64 {
        let of = |each: &Lines| lines.input * each.input + lines.given * each.given;
        let serial = (lines.input * self.serial_of_line).max(of(&self.loading));
        let (memory, working) = (of(&self.memory), of(&self.computing).max(serial));
        memory.max(working) + fitted::OVERLAPPING * memory.min(working)
    }
}

/// Cycles in which a warp evaluates an access for each lane: a normalisation and a ReLU before 128x56x56x128 took 123 us with four of them.
const EVALUATES: f64 = 480.0;

/// Cycles in which the warps that bring rows load so many bytes, or evaluate them; none where the copy engine brings them.
fn loading_of(plan: &WeightPlan, is_copied: bool, bytes: usize) -> f64 {
    let cycles = match (is_copied, plan.is_stored) {
        (true, _) => 0.0,
        (_, true) => loading(&plan.problem, bytes),
        (_, false) => bytes.div_ceil(32 * access_bytes(&plan.problem)) as f64 * EVALUATES,
    };
    cycles / plan.bringing as f64
}

impl WeightPlan {
    /// Rows that a block reads, in the mean: those outside the image are left out.
    pub(super) fn lines(&self) -> usize {
        self.lines_for(self.config.rows)
    }

    /// The same of a block of so many rows of the result's gradient.
    fn lines_for(&self, height: usize) -> usize {
        let rows = &self.rows;
        let of = |count: usize| rows.down * (count - 1) + rows.taps;
        let (all, inside) = (of(rows.phase_len()), rows.read.div_ceil(rows.pitch));
        let blocks = rows.phase_len().div_ceil(height);
        (blocks * of(height) - all.saturating_sub(inside)).div_ceil(blocks)
    }

    /// Lanes that meet in a bank when a warp loads cells of neighbouring pixels, where copies are not swizzled.
    fn conflicts(&self) -> usize {
        let cells = self.config.strips * STRIP * self.problem.precision.bytes() / 16;
        if self.span > 1 { 1 } else { 1 << cells.trailing_zeros().min(3) }
    }

    /// Registers of a thread, as a fit to what the compiler made of 384 kernels says (an error of 6, of f32 3).
    pub(super) fn likely_registers(&self) -> usize {
        let rows = &self.rows;
        let (pairs, tiles) = (self.problem.kernel[1].div_ceil(2), self.config.tiles);
        let of = [rows.taps * pairs, rows.taps.div_ceil(rows.down) * tiles, tiles * pairs, tiles].map(|it| it as f64);
        let (others, each) = match self.problem.precision.bytes() {
            2 => (13.5, [4.57, 2.39, 1.26, 1.33]),
            _ => (24.5, [4.23, 3.2, 0.95, -0.66]),
        };
        let registers: f64 = of.iter().zip(each).map(|(count, each)| count * each).sum();
        ((others + registers) as usize).min(255)
    }

    /// Blocks of a multiprocessor at once.
    pub(super) fn resident(&self) -> usize {
        let warps = self.warps + self.bringing;
        let by_registers = blocks_by_registers(self.likely_registers() + SPARE_REGISTERS, warps);
        (self.room / (self.shared_bytes + SYSTEM_BYTES)).min(64 / warps).min(by_registers).max(1)
    }

    /// [`promised`] of this plan.
    pub(super) fn promised(&self) -> usize {
        promised(self.resident(), self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ends::Reading;
    use super::super::multiprocessor::Multiprocessor;
    use super::super::params::Conv2d;
    use super::super::problem::{Pass, Precision, Problem};
    use super::super::row_plan::{RowConfig, RowPlan};
    use super::*;

    #[test]
    fn shared_memory_of_a_gpu_says_how_many_blocks_are_at_once() {
        let problem = [4, 32, 32, 64];
        let problem = Problem::of_forward(problem, [64, 3, 3, 8], Precision::F16, &Conv2d::new().padding(1)).unwrap();
        let (strips, images, items, columns, rows, tiles) = (4, 1, 1, 32, 8, 2);
        let weights = WeightConfig { strips, images, items, columns, rows, tiles, slots: 8 };
        let (warp_strips, whole_rows) = (1, false);
        let config =
            RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step: 2, slots: 8, whole_rows };
        let resident = [101_376, 166_912, 232_448].map(|shared_bytes| {
            let sm = Multiprocessor { shared_bytes, bulk_copies: false };
            let plan = WeightPlan::new(problem, weights, sm, [Reading::Stored; 2]).unwrap();
            let rows = RowPlan::new(problem, Pass::Forward, config, sm).unwrap();
            [plan.shared_bytes, plan.resident(), rows.shared_bytes, rows.resident()]
        });
        let [least, .., most] = resident;
        assert!(least[1] < most[1] && least[3] < most[3], "{resident:?}");
        assert!(least[1] * (least[0] + 1024) <= 102_400 && least[3] * (least[2] + 1024) <= 102_400, "{resident:?}");
    }
}
