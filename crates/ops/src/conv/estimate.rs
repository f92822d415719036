//! What the row kernel's time is expected to be, by a few sums.

use super::bringing::AT_ONCE;
use super::ends::Reading;
use super::kernel_text::access_bytes;
use super::multiprocessor::{GpuScale, SYSTEM_BYTES, fetched_beside};
use super::problem::{Precision, Problem};
use super::registers::{blocks_by_registers, cells_of_tap, weights_held};
use super::row_plan::{RowConfig, RowPlan, STRIP, TILE};

/// Multiprocessors of an H200.
const MULTIPROCESSORS: usize = 132;
/// Registers above what is likely that threads are given, so that hardly any has to be spilled.
const SPARE_REGISTERS: usize = 8;

/// What the estimate was fitted to: 17,459 configurations of 993 shapes and passes, timed on an H200 and an H100; in cycles of a multiprocessor and
/// bytes. docs/notes/conv.md has the fit.
pub(super) mod fitted {
    /// Bytes of an H200's DRAM in a cycle, where so many are under way, and how much a byte that is read weighs beside one that is written.
    pub(in super::super) const BYTES: f64 = 15.75;
    pub(in super::super) const UNDER_WAY: f64 = 12_100.0;
    pub(in super::super) const READ: f64 = 0.606;
    /// Bytes that a pixel of a block costs besides its own: to read, of what memory fetches with it for other blocks, to write, and to write where it
    /// does not fill sectors of 32 bytes.
    pub(in super::super) const PIXEL_READ: f64 = 1.9;
    pub(in super::super) const FETCHED: f64 = 0.744;
    pub(in super::super) const PIXEL_WRITTEN: f64 = 2.24;
    pub(in super::super) const ODD_PIXEL: f64 = 23.0;
    /// A product of two cells, or of one that has no other beside it; how many times as long one of f32 takes.
    pub(in super::super) const PRODUCT: f64 = 5.98;
    pub(in super::super) const F32: f64 = 1.885;
    /// A warp's load of two cells, a step, a row that is complete.
    pub(in super::super) const LOAD: f64 = 2.82;
    pub(in super::super) const STEP: f64 = 14.5;
    pub(in super::super) const ROW: f64 = 42.7;
    /// Latencies: a block's begin, a step's, a product's.
    pub(in super::super) const BEGIN: f64 = 891.0;
    pub(in super::super) const STEP_LATENCY: f64 = 229.0;
    pub(in super::super) const PRODUCT_LATENCY: f64 = 11.5;
    /// 32 loads by a warp that are stored then.
    pub(in super::super) const LOADS: f64 = 270.0;
    /// How much of the shorter one of memory and computation does not hide behind the longer one.
    pub(in super::super) const OVERLAPPING: f64 = 0.28;
    pub(in super::super) const US_OF_CYCLE: f64 = 1.0 / 1750.0;
    pub(in super::super) const LAUNCH_US: f64 = 2.83;
}

/// Blocks of a multiprocessor that the compiler shares registers out for: no more than the grid has for each of an H200's. Where it is not told
/// it is sparing with them, and may read a matrix when it is wanted, not before (docs/notes/conv.md).
pub(super) fn promised(resident: usize, blocks: [usize; 4]) -> usize {
    resident.min(blocks.iter().product::<usize>().div_ceil(MULTIPROCESSORS)).max(1)
}

/// Microseconds, roughly, on a GPU with multiprocessors like Hopper's.
pub(super) fn estimate(plan: &RowPlan, gpu: GpuScale) -> f64 {
    let resident = plan.resident();
    let turn = Turn::of(plan, resident, gpu).cycles(&Lines::of(plan, plan.config.rows));
    of_blocks(real(plan.blocks.iter().product()), plan.config.items, [gpu.multiprocessors, resident], turn)
}

/// Microseconds of so many blocks of so many items, given the multiprocessors, the blocks of each, and the cycles of a block's turn.
#[inline(always)]
pub(super) fn of_blocks(blocks: f64, items: usize, [multiprocessors, resident]: [usize; 2], turn: f64) -> f64 {
    let waves = waves(blocks, multiprocessors * resident);
    waves * (real(items * resident) * turn + fitted::BEGIN) * fitted::US_OF_CYCLE + fitted::LAUNCH_US
}

/// How often so many blocks fill all places: whole times, or, where these are many, half a time more than their share.
#[inline(always)]
pub(super) fn waves(blocks: f64, places: usize) -> f64 {
    let waves = blocks / real(places);
    if waves < 6.0 { ceil(waves) } else { waves + 0.5 }
}

/// A count as a number: one instruction, where that of what may exceed an `i64` is several.
#[inline(always)]
pub(super) fn real(count: usize) -> f64 {
    count as i64 as f64
}

/// The larger one of two that are numbers: one instruction, where what minds others is several.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The least integer not below what is not negative; in place, where the library's function is a call.
#[inline(always)]
pub(super) fn ceil(value: f64) -> f64 {
    let whole = value as i64 as f64;
    // From 2^52 on every number is whole.
    if value < 4e15 { whole + f64::from(u8::from(whole < value)) } else { value }
}

/// A time that no items and rows of the plan fall below, given [`turns`] and [`Lines::least`]. It grows with neither a deeper ring nor more resident blocks.
///
/// Blocks together read and write at least what one would that had all rows, and cycles are a sum of rows and lines, or the larger
/// one of two; multiprocessors are at best all busy.
pub(super) fn least(plan: &RowPlan, turns: f64, turn: &Turn, least: &Lines) -> f64 {
    bound(turns, turn.cycles(least) * plan.rows.phases as f64)
}

/// A time that no items of a plan fall below, given [`turns`], so many blocks one above the other, and the cycles of their turns: a multiprocessor has whole ones, or, in
/// many waves, half a wave more than its share.
#[inline(always)]
pub(super) fn least_of_turns(turns: f64, blocks: f64, turn: f64) -> f64 {
    let turns = turns * blocks;
    // A little less: rounding may have made the share of whole turns a little more.
    let (whole, more) = (ceil(turns * (1.0 - 1e-9)), turns + 0.5);
    bound(if whole < more { whole } else { more }, turn)
}

/// A multiprocessor's share of the turns of a plan's tiling: one for each of a block's images, columns and channels, if all are busy.
pub(super) fn turns(plan: &RowPlan, multiprocessors: usize) -> f64 {
    let [_, _, columns, channels] = plan.blocks;
    (plan.problem.images.div_ceil(plan.config.images) * columns * channels) as f64 / multiprocessors as f64
}

/// The time of so many turns of so many cycles.
#[inline(always)]
fn bound(turns: f64, cycles: f64) -> f64 {
    // A little less, for what rounding makes of the same sums in another order.
    let cycles = (turns * cycles + fitted::BEGIN) * (1.0 - 1e-9);
    cycles * fitted::US_OF_CYCLE + fitted::LAUNCH_US
}

/// Rows that a block reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    read: f64,
    steps: f64,
    written: f64,
}

impl Lines {
    /// Of a block of so many written rows. They depend on the ring's step, and on nothing else of the configuration.
    pub(super) fn of(plan: &RowPlan, rows: usize) -> Lines {
        let read = plan.lines_for(rows) as f64;
        Lines { read, steps: ceil(read / plan.config.step as f64), written: rows as f64 }
    }

    /// No more than blocks of any height read and write together, in such steps.
    pub(super) fn least(plan: &RowPlan, step: usize) -> Lines {
        let read = plan.least_lines() as f64;
        Lines { read, steps: read / step as f64, written: plan.rows.phase_len() as f64 }
    }
}

/// What a block's turn costs, one item: cycles of a line, of a step and of a written row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    memory_of_line: f64,
    memory_of_row: f64,
    computing_of_line: f64,
    computing_of_step: f64,
    computing_of_row: f64,
    serial_of_line: f64,
    serial_of_step: f64,
    loading_of_line: f64,
}

impl Turn {
    /// Where so many blocks share a multiprocessor, for each of them.
    pub(super) fn of(plan: &RowPlan, resident: usize, gpu: GpuScale) -> Turn {
        Turn::alone(plan, gpu).shared(plan, resident)
    }

    /// Of a plan's tiling and way of storing rows, whatever the ring: with all of the bandwidth and where a block is alone on its multiprocessor.
    pub(super) fn alone(plan: &RowPlan, gpu: GpuScale) -> Turn {
        use fitted::*;
        let (quarter, parts) = (real(plan.warps) / 4.0, real(plan.parts()));
        Turn {
            computing_of_step: quarter * STEP,
            computing_of_row: quarter * ROW,
            serial_of_line: plan.products_of_line() * parts * PRODUCT_LATENCY,
            serial_of_step: STEP_LATENCY,
            loading_of_line: match plan.bulk || plan.ends.reading == Reading::Computed {
                true => 0.0,
                false => loading(&plan.problem, plan.row_bytes()) / real(plan.bringing),
            },
            ..Turn::busy(plan, gpu, quarter * parts)
        }
    }

    /// Of the same with the plan's ring, where so many blocks share a multiprocessor.
    pub(super) fn shared(self, plan: &RowPlan, resident: usize) -> Turn {
        let (blocks, under_way) = (1.0 / real(resident), real(resident * plan.bytes_under_way()));
        let slower = larger(fitted::UNDER_WAY / under_way, 1.0);
        Turn {
            memory_of_line: self.memory_of_line * slower,
            memory_of_row: self.memory_of_row * slower,
            serial_of_line: self.serial_of_line * blocks,
            serial_of_step: self.serial_of_step * blocks,
            loading_of_line: self.loading_of_line * blocks,
            ..self
        }
    }

    /// What no tiles, strips a warp and ring of a plan fall below where rows are stored whole: all of the bandwidth, no tile that is not full, and nothing that is
    /// waited for.
    pub(super) fn least(plan: &RowPlan, gpu: GpuScale) -> Turn {
        let RowConfig { strips, images, columns, .. } = plan.config;
        Turn::busy(plan, gpu, real(strips * (images * columns).div_ceil(TILE)) / 4.0)
    }

    /// Memory and products alone, with all of the bandwidth, of so many tiles of strips for each scheduler.
    fn busy(plan: &RowPlan, gpu: GpuScale, tiles: f64) -> Turn {
        use fitted::*;
        let RowConfig { images, columns, .. } = plan.config;
        // Of the last images there may be fewer.
        let filled = plan.problem.images as f64 / plan.problem.images.next_multiple_of(images) as f64;
        let bytes = BYTES * gpu.memory / filled;
        let product = if plan.problem.precision == Precision::F32 { F32 * PRODUCT } else { PRODUCT };
        // Weights that rest are loaded for every product, half as many bytes as pixels.
        let resting = (plan.resting * plan.cells()) as f64 / 4.0;
        let loads = (plan.cells() / 2 + 1) as f64 * plan.conflicts() as f64 + resting;
        Turn {
            memory_of_line: (images * plan.reach.min(plan.columns.read)) as f64 * read_pixel(plan) * READ / bytes,
            memory_of_row: (images * columns) as f64 * written_pixel(plan) / bytes,
            computing_of_line: tiles * (plan.products_of_line() * product + loads * LOAD),
            ..Turn::default()
        }
    }

    #[inline(always)]
    pub(super) fn cycles(&self, lines: &Lines) -> f64 {
        let Lines { read, steps, written } = *lines;
        let memory = read * self.memory_of_line + written * self.memory_of_row;
        let computing =
            read * self.computing_of_line + steps * self.computing_of_step + written * self.computing_of_row;
        let serial = read * self.serial_of_line + steps * self.serial_of_step;
        let working = larger(larger(computing, serial), read * self.loading_of_line);
        let (more, less) = if memory > working { (memory, working) } else { (working, memory) };
        more + fitted::OVERLAPPING * less
    }
}

/// Cycles in which one warp brings so many bytes, where that is what a block waits for: not where it copies asynchronously, from 4 bytes on.
pub(super) fn loading(problem: &Problem, bytes: usize) -> f64 {
    match access_bytes(problem) {
        access @ 0..4 => bytes.div_ceil(32 * access.max(1)) as f64 * fitted::LOADS,
        _ => 0.0,
    }
}

/// What a pixel of a block's input costs, in bytes, in the mean of blocks: the last channels may be fewer.
fn read_pixel(plan: &RowPlan) -> f64 {
    plan.mean_cell_bytes() + fitted::PIXEL_READ + fitted::FETCHED * plan.fetched_beside() as f64
}

/// What a pixel that is stored costs.
fn written_pixel(plan: &RowPlan) -> f64 {
    let RowConfig { strips, warp_strips, whole_rows, .. } = plan.config;
    let times = if whole_rows { 1 } else { strips / warp_strips };
    let odd = if (plan.cell_bytes() / times).is_multiple_of(32) { 0.0 } else { fitted::ODD_PIXEL };
    plan.mean_cell_bytes() + times as f64 * (fitted::PIXEL_WRITTEN + odd)
}

impl RowPlan {
    /// Rows that a block reads, in the mean, up to whole steps: those outside the image are left out.
    pub(super) fn lines(&self) -> usize {
        self.lines_for(self.config.rows)
    }

    /// The same of a block of so many written rows.
    fn lines_for(&self, rows: usize) -> usize {
        let len = self.rows.phase_len();
        if rows > len {
            // Of a stack: what images read, and again what two blocks need of the same image.
            let blocks = self.stack().div_ceil(rows);
            let lines = self.stack() / len * self.least_lines() + (blocks - 1) * (self.rows.taps - 1);
            return lines.div_ceil(blocks).next_multiple_of(self.config.step);
        }
        let blocks = len.div_ceil(rows);
        let all = self.lines_of(len);
        let lines = blocks * self.lines_of(rows) - (all - self.least_lines());
        lines.div_ceil(blocks).next_multiple_of(self.config.step)
    }

    /// Rows that a block of all written ones reads.
    fn least_lines(&self) -> usize {
        self.lines_of(self.rows.phase_len()).min(self.rows.read.div_ceil(self.rows.pitch))
    }

    /// Rows that so many written ones meet, outside the image too.
    fn lines_of(&self, rows: usize) -> usize {
        (self.rows.down * rows + self.rows.taps - 1).div_ceil(self.rows.up)
    }

    /// Bytes of a pixel of a block, and of its row in the ring.
    fn cell_bytes(&self) -> usize {
        self.config.strips * STRIP * self.problem.precision.bytes()
    }

    /// Bytes of a pixel of a block in the mean of blocks, of which the last may have fewer channels.
    fn mean_cell_bytes(&self) -> f64 {
        self.pixel_bytes() as f64 / self.blocks[3] as f64
    }

    /// Bytes of a pixel of all channels.
    fn pixel_bytes(&self) -> usize {
        self.problem.channels() * self.problem.precision.bytes()
    }

    /// Bytes that memory fetches beside those of a block's pixel.
    pub(super) fn fetched_beside(&self) -> usize {
        fetched_beside(self.cell_bytes(), self.pixel_bytes())
    }

    /// Cells of 16 bytes of a block's pixel.
    pub(super) fn pixel_cells(&self) -> usize {
        self.cell_bytes() / 16
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.config.images * self.reach * self.cell_bytes()
    }

    /// Bytes that a block waits for at most: rows of the ring, or what threads that evaluate an expression have begun with.
    fn bytes_under_way(&self) -> usize {
        let RowConfig { step, slots, .. } = self.config;
        let ring = (slots - 1) * step * self.row_bytes();
        match self.ends.reading {
            Reading::Stored => ring,
            Reading::Computed => {
                let vectors = 32 * AT_ONCE * access_bytes(&self.problem);
                let turns = super::bringing::turns(self.bringing, slots);
                ring.min(turns * (self.bringing / turns * vectors).min(step * self.row_bytes()))
            }
        }
    }

    /// Tiles of strips of a warp.
    fn parts(&self) -> usize {
        self.config.tiles * self.config.warp_strips
    }

    /// Lanes that meet in a bank when a warp loads cells of neighbouring pixels, where copies are not swizzled.
    pub(super) fn conflicts(&self) -> usize {
        if self.span > 1 { 1 } else { 1 << self.pixel_cells().trailing_zeros().min(3) }
    }

    /// Cells of 16 bytes that a tap has, and that those of a row have.
    fn cells(&self) -> usize {
        self.columns.taps * cells_of_tap(&self.problem)
    }

    /// Products of a read row for a tile and a strip.
    fn products_of_line(&self) -> f64 {
        self.rows.taps as f64 / self.rows.down as f64 * self.cells().div_ceil(2) as f64
    }

    /// Registers of a thread, as a fit to what the compiler made of 827 kernels says.
    pub(super) fn likely_registers(&self) -> usize {
        let RowConfig { warp_strips, step, .. } = self.config;
        let kept = (self.rows.taps - 1 + self.rows.up * (step - 1)) / self.rows.down + 1;
        let weights = warp_strips * weights_held(&self.problem, self.resting);
        let addresses = self.parts() * (self.cells() / 2 + 1);
        let of = 15.0 + 1.26 * weights as f64 + 3.12 * (kept * self.parts()) as f64 + 3.35 * addresses as f64;
        (of as usize + if step == 2 { 7 } else { 0 }).min(255)
    }

    /// Blocks of a multiprocessor at once.
    pub(super) fn resident(&self) -> usize {
        if self.lent > 0 {
            return 1;
        }
        let by_registers = blocks_by_registers(self.likely_registers() + SPARE_REGISTERS, self.block_warps);
        (self.room / (self.shared_bytes + SYSTEM_BYTES)).min(64 / self.block_warps).min(by_registers).max(1)
    }

    /// [`promised`] of this plan.
    pub(super) fn promised(&self) -> usize {
        promised(self.resident(), self.blocks)
    }

    /// Products of a tile and a strip in one block's read rows.
    pub(super) fn products(&self) -> f32 {
        self.lines() as f32 * self.products_of_line() as f32
    }
}
