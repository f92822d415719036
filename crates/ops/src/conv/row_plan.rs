//! How the row kernel divides its work: what may be chosen, and what is legal.

use super::bringing::{bringing, check_turns};
use super::config_error::{ConfigError, at_most, field};
use super::ends::{Ends, Reading};
use super::kernel_text::{access_bytes, span};
use super::meeting::Meeting;
use super::multiprocessor::Multiprocessor;
use super::problem::{LARGEST, Pass, Problem};
use super::registers::{GROUP, cells_of_tap, even_share, least_registers, lent, registers, resting};

/// Channels of a strip.
pub(crate) const STRIP: usize = 8;
/// Pixels of a tile: the rows of a tensor core's left operand.
pub(crate) const TILE: usize = 16;
/// The longest side of a box that the copy engine takes.
pub(crate) const LONGEST_SIDE: usize = 256;
pub(crate) const MOST_THREADS: usize = 1024;
/// Warps whose steps are put one behind the other, where windows have so many rows and a warp so many products in each.
const PACED_WARPS: usize = 7;
const PACED_TAPS: usize = 7;
const PACED_PRODUCTS: usize = 100;
pub(crate) const MOST_BLOCKS: usize = (1 << 31) - 1;

/// How a convolution by rows is divided into blocks, and a block into warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowConfig {
    /// Strips of 8 channels of a block.
    pub strips: usize,
    /// Strips of a warp; divides `strips`.
    pub warp_strips: usize,
    /// Images of a block; more than one only where `columns` is the whole width.
    pub images: usize,
    /// Written columns of a block.
    pub columns: usize,
    /// Written rows of a block. More than there are: those of images one after another, as if they stood upon each other, so that blocks
    /// that begin and end anywhere are alike; with one of `items`, and where no stride is undone.
    pub rows: usize,
    /// Tiles of 16 pixels of a warp.
    pub tiles: usize,
    /// Read rows between two barriers: 1 or 2.
    pub step: usize,
    /// How many times a block takes so many images, one time after another.
    pub items: usize,
    /// Steps that the ring in shared memory holds: 2 to 16, from 4 on where the copy engine does not bring rows.
    pub slots: usize,
    /// Whether a block's rows are stored whole, by the copy engine, and not by each warp: where there is one, and channels are a multiple
    /// of 16 bytes.
    pub whole_rows: bool,
}

impl RowConfig {
    /// What candidates that a model is wrong about alike have in common.
    pub(super) fn tiling(&self) -> [usize; 5] {
        [self.strips, self.warp_strips, self.images, self.columns, self.tiles]
    }
}

/// A configuration of a problem, and what follows from both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlan {
    pub(crate) problem: Problem,
    pub(crate) pass: Pass,
    pub(crate) config: RowConfig,
    pub(crate) rows: Meeting,
    pub(crate) columns: Meeting,
    /// Read columns of a block, and of each image of one that has several.
    pub(crate) reach: usize,
    /// Rows that wait to be stored whole, besides those that have to be able to.
    pub(crate) waiting: usize,
    /// Warps that multiply, those that bring rows, and all warps of a block: one sends rows where they are stored whole.
    pub(crate) warps: usize,
    pub(crate) bringing: usize,
    pub(crate) block_warps: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) registers: usize,
    /// Registers of a thread that multiplies where those that bring and send lend it theirs; 0 where all have the same.
    pub(crate) lent: usize,
    /// Rows of the window whose weights rest in shared memory, since threads have registers for no more; 0 for nearly all problems.
    pub(crate) resting: usize,
    /// Blocks along images, rows, columns and channels.
    pub(crate) blocks: [usize; 4],
    /// Cells of 16 bytes in which copies are swizzled; 1 for none.
    pub(crate) span: usize,
    /// Whether rows are brought by the copy engine, and whether results may leave by it.
    pub(crate) bulk: bool,
    pub(crate) engine: bool,
    pub(crate) ends: Ends,
    /// [`Multiprocessor::room`].
    pub(crate) room: usize,
}

impl RowPlan {
    pub(crate) fn new(
        problem: Problem,
        pass: Pass,
        config: RowConfig,
        sm: Multiprocessor,
    ) -> Result<RowPlan, ConfigError> {
        RowPlan::between(problem, pass, config, sm, Ends::stored(problem.precision))
    }

    /// As [`RowPlan::new`], between other ends: a computed image, or results of another type than the operands'.
    pub(crate) fn between(
        problem: Problem,
        pass: Pass,
        config: RowConfig,
        sm: Multiprocessor,
        ends: Ends,
    ) -> Result<RowPlan, ConfigError> {
        let (rows, columns) = (Meeting::of(&problem, 0, pass), Meeting::of(&problem, 1, pass));
        check_ranges(&problem, &config, &rows, &columns)?;
        let plan = RowPlan::unchecked(problem, pass, config, sm, ends, [rows, columns]);
        plan.check_limits(sm)?;
        Ok(plan)
    }

    /// Refuses what does not fit the problem.
    pub(crate) fn check_ranges(&self) -> Result<(), ConfigError> {
        check_ranges(&self.problem, &self.config, &self.rows, &self.columns)
    }

    /// Refuses what does not fit a block.
    pub(crate) fn check_limits(&self, sm: Multiprocessor) -> Result<(), ConfigError> {
        let RowPlan { ref problem, ref config, reach, block_warps, engine, ends: Ends { written, .. }, .. } = *self;
        check_turns(config.slots, self.bringing)?;
        field("columns", config.columns, reach <= LONGEST_SIDE, || {
            format!("which reads {reach} columns, and a copy takes at most {LONGEST_SIDE}")
        })?;
        at_most(
            "threads",
            32 * block_warps,
            MOST_THREADS,
            "columns, images or strips, or more tiles or strips a warp",
        )?;
        field("whole_rows", config.whole_rows.into(), engine || !config.whole_rows, || {
            "which needs compute capability 9.0, and channels that are a multiple of 16 bytes".into()
        })?;
        let same = written.bytes() == problem.precision.bytes();
        field("whole_rows", config.whole_rows.into(), same || !config.whole_rows, || {
            format!(
                "which needs results of {} bytes, as the operands have; these have {}",
                problem.precision.bytes(),
                written.bytes()
            )
        })?;
        at_most("bytes of shared memory", self.shared_bytes, sm.shared_bytes, "slots, columns, images or strips")?;
        let limit = if self.lent > 0 { self.lent } else { even_share(block_warps) };
        at_most("registers a thread", self.registers, limit, "tiles or strips a warp, or warps")?;
        at_most("blocks in the grid", self.blocks.iter().product(), MOST_BLOCKS, "blocks: more rows or columns each")?;
        Ok(())
    }

    /// What follows from a configuration whose numbers are not 0, be it legal or not.
    pub(crate) fn unchecked(
        problem: Problem,
        pass: Pass,
        config: RowConfig,
        sm: Multiprocessor,
        ends: Ends,
        [rows, columns]: [Meeting; 2],
    ) -> RowPlan {
        let engine = sm.bulk_copies && access_bytes(&problem) == 16;
        let bulk = engine && ends.reading == Reading::Stored;
        let mut plan = RowPlan {
            problem,
            pass,
            config,
            rows,
            columns,
            reach: 0,
            waiting: 0,
            warps: 0,
            bringing: 0,
            block_warps: 0,
            shared_bytes: 0,
            registers: 0,
            lent: 0,
            resting: resting(&problem, &rows),
            blocks: [0; 4],
            span: 1,
            bulk,
            engine,
            ends,
            room: sm.room(),
        };
        plan.retake_all(config);
        plan
    }

    /// Takes another configuration whose numbers are not 0, be it legal or not.
    pub(crate) fn retake_all(&mut self, config: RowConfig) {
        let RowConfig { strips, warp_strips, images, columns, tiles, step, slots, whole_rows, .. } = config;
        self.config = config;
        self.reach = self.columns.across().reach(columns, self.columns.taps);
        self.warps = strips / warp_strips * (images * columns).div_ceil(TILE * tiles);
        self.blocks = blocks(&self.problem, &config, [&self.rows, &self.columns]);
        self.span = span(strips * STRIP * self.problem.precision.bytes());
        // Whatever the ring: bounds of the search are those of one number of warps.
        self.bringing = bringing(self.bulk, self.ends.reading, self.warps, self.registers_of(2));
        self.retake_ring([step, slots], whole_rows);
    }

    /// Registers of a thread that goes along so many rows a step.
    fn registers_of(&self, step: usize) -> usize {
        let config = RowConfig { step, ..self.config };
        registers(&self.problem, &config, &self.rows, self.resting).max(least_registers(self.ends.reading))
    }

    /// Takes another ring, and other ways of storing rows.
    pub(crate) fn retake_ring(&mut self, [step, slots]: [usize; 2], whole_rows: bool) {
        (self.config.step, self.config.slots, self.config.whole_rows) = (step, slots, whole_rows);
        self.block_warps = self.warps + self.bringing + usize::from(whole_rows);
        self.registers = self.registers_of(step);
        self.lent = 0;
        if self.bulk && self.registers > even_share(self.block_warps) {
            self.lent = lent(self.warps).unwrap_or(0);
            if self.lent > 0 {
                self.block_warps = self.warps + GROUP;
            }
        }
        self.shared_bytes = self.shared_bytes();
    }

    /// Takes other items and rows, on which no limit depends but those of their own and the number of blocks. Whether that is legal; a plan
    /// for which it is not is good for other items and rows only.
    pub(crate) fn retake(&mut self, items: usize, rows: usize) -> bool {
        (self.config.items, self.config.rows) = (items, rows);
        if !fits_images(&self.problem, &self.config) || !fits_rows(&self.problem, &self.config, &self.rows) {
            return false;
        }
        [self.blocks[0], self.blocks[1]] = blocks_of_rows(&self.problem, &self.config, &self.rows);
        self.blocks.iter().product::<usize>() <= MOST_BLOCKS
    }

    /// Whether a block can have so many rows of one image.
    pub(crate) fn fits_rows(&self, rows: usize) -> bool {
        fits_rows_of_one(rows, &self.rows)
    }

    /// Whether warps of a scheduler go through steps one behind the other, as pays where a window has seven rows and a block seven warps, the most that can have
    /// all of its registers: three schedulers have two of them, and one has one. It was measured; with windows of five rows it does not (docs/notes/conv.md).
    pub(crate) fn paced(&self) -> bool {
        let of_seven = self.warps == PACED_WARPS && self.rows.taps == PACED_TAPS;
        of_seven && self.products_of_step() >= PACED_PRODUCTS && self.promised() == 1
    }

    /// Products of a warp between barriers: of two cells each, but for those that are left over.
    fn products_of_step(&self) -> usize {
        let RowConfig { warp_strips, tiles, step, .. } = self.config;
        let cells = self.columns.taps * cells_of_tap(&self.problem);
        warp_strips * tiles * step * self.rows.taps.div_ceil(self.rows.down) * cells.div_ceil(2)
    }

    /// Whether a block has rows of images that stand upon each other.
    pub(crate) fn stacked(&self) -> bool {
        self.config.rows > self.rows.phase_len()
    }

    /// How many times a block takes images, at most.
    pub(crate) fn turns(&self) -> usize {
        if self.stacked() { (self.config.rows - 1).div_ceil(self.rows.phase_len()) + 1 } else { self.config.items }
    }

    /// Rows of all images that stand upon each other.
    pub(crate) fn stack(&self) -> usize {
        stack(&self.problem, &self.config, &self.rows)
    }

    /// As many stacked rows as leave no more than so many blocks, if that is more than an image has.
    pub(crate) fn stacked_rows(&self, blocks: usize) -> Option<usize> {
        let above = blocks / (self.blocks[2] * self.blocks[3]);
        let rows = (above > 0).then(|| self.stack().div_ceil(above))?;
        (rows > self.rows.phase_len() && stackable(&self.rows)).then_some(rows)
    }

    /// Blocks one above the other, of so many rows.
    pub(crate) fn blocks_above(&self, rows: usize) -> usize {
        self.rows.phase_len().div_ceil(rows) * self.rows.phases
    }

    /// Rows that wait to be stored whole: those of a step, and two or three more.
    pub(crate) fn sent_rows(&self) -> usize {
        (self.config.step * self.rows.up).div_ceil(self.rows.down) + 2 + self.waiting
    }

    /// Bytes of the weights that rest: of each strip's two cells 64 registers.
    fn resting_bytes(&self) -> usize {
        let pairs = self.columns.taps * cells_of_tap(&self.problem) / 2;
        256 * self.config.strips * self.resting * pairs
    }

    /// What the kernel takes of shared memory, in the order in which it does.
    pub(super) fn shared_bytes(&self) -> usize {
        let RowConfig { strips, warp_strips, images, columns, tiles, step, slots, whole_rows, .. } = self.config;
        let (bytes, channels) = (self.problem.precision.bytes(), strips * STRIP);
        let row = (images * self.reach).next_multiple_of(8) * channels * bytes;
        let ring = slots * step * row;
        let handed = if whole_rows {
            let pixels = (images * columns).next_multiple_of(TILE * tiles);
            let sent = self.sent_rows() * pixels.next_multiple_of(8) * channels * bytes;
            ring.next_multiple_of(128 * self.span) + sent.next_multiple_of(128)
        } else {
            let staged = ((warp_strips - 1) * (TILE * tiles + 2) + TILE * tiles) * STRIP * self.ends.written.bytes();
            ring.next_multiple_of(128) + (self.warps * staged).next_multiple_of(128)
        };
        handed + 128 + self.resting_bytes() + 16 * (slots + if whole_rows { self.sent_rows() } else { 0 }) + 16
    }
}

fn blocks(problem: &Problem, config: &RowConfig, [rows, columns]: [&Meeting; 2]) -> [usize; 4] {
    let [along_images, above] = blocks_of_rows(problem, config, rows);
    [along_images, above, columns.written.div_ceil(config.columns), problem.channels().div_ceil(config.strips * STRIP)]
}

/// Blocks along images, and one above the other.
fn blocks_of_rows(problem: &Problem, config: &RowConfig, rows: &Meeting) -> [usize; 2] {
    if config.rows > rows.phase_len() {
        return [1, stack(problem, config, rows).div_ceil(config.rows)];
    }
    [problem.images.div_ceil(config.images * config.items), rows.phase_len().div_ceil(config.rows) * rows.phases]
}

/// Rows of all images that stand upon each other, as many side by side as a block has.
fn stack(problem: &Problem, config: &RowConfig, rows: &Meeting) -> usize {
    problem.images.div_ceil(config.images) * rows.phase_len()
}

/// Whether rows can stand upon those of the next images: where all of them are of one kind.
pub(super) fn stackable(rows: &Meeting) -> bool {
    rows.phases == 1 && rows.up == 1
}

/// Whether the items are there.
fn fits_images(problem: &Problem, config: &RowConfig) -> bool {
    (1..=problem.images.div_ceil(config.images)).contains(&config.items)
}

/// Whether a block can have its rows.
fn fits_rows(problem: &Problem, config: &RowConfig, rows: &Meeting) -> bool {
    let stacked = stackable(rows) && config.items == 1 && config.rows <= stack(problem, config, rows);
    fits_rows_of_one(config.rows, rows) || (config.rows > rows.phase_len() && stacked)
}

/// Whether a block can have so many rows of one image.
fn fits_rows_of_one(count: usize, rows: &Meeting) -> bool {
    let len = rows.phase_len();
    (1..=len).contains(&count) && (rows.up == 1 || count.is_multiple_of(2) || count == len)
}

fn check_ranges(problem: &Problem, config: &RowConfig, rows: &Meeting, columns: &Meeting) -> Result<(), ConfigError> {
    let RowConfig { strips, warp_strips, images, items, step, slots, .. } = *config;
    let shared = problem.group_width.div_ceil(STRIP);
    let all = problem.channels().div_ceil(STRIP).next_multiple_of(shared);
    field("strips", strips, (1..=32).contains(&strips) && strips.is_multiple_of(shared) && strips <= all, || {
        format!("allowed are multiples of {shared} from {shared} to {}", all.min(32))
    })?;
    field("warp_strips", warp_strips, warp_strips > 0 && strips.is_multiple_of(warp_strips), || {
        format!("which does not divide the {strips} strips of a block")
    })?;
    let written = columns.written;
    let whole = columns.across().up == 1 || config.columns == written || config.columns.is_multiple_of(2);
    field("columns", config.columns, (1..=written).contains(&config.columns) && whole, || {
        format!("allowed are 1 to {written}, even ones or all where a stride is undone")
    })?;
    field(
        "images",
        images,
        (1..=problem.images).contains(&images) && (images == 1 || config.columns == written),
        || format!("allowed are 1, or up to {} where a block has all {written} columns", problem.images),
    )?;
    field("items", items, fits_images(problem, config), || {
        format!("allowed are 1 to {}, all images", problem.images.div_ceil(images))
    })?;
    let image = |rows: usize, columns: usize| images.saturating_mul(rows * columns * problem.channels());
    let elements = image(rows.read, columns.read).max(image(rows.written, columns.written));
    at_most("elements of a block's images", elements, LARGEST, "images")?;
    field("rows", config.rows, fits_rows(problem, config, rows), || match stackable(rows) {
        true if items == 1 => format!("allowed are 1 to {}, those of all images", stack(problem, config, rows)),
        true => format!("allowed are 1 to {}, or with one item those of more images", rows.phase_len()),
        false => format!("allowed are 1 to {}, even ones or all where a stride is undone", rows.phase_len()),
    })?;
    field("tiles", config.tiles, (1..=8).contains(&config.tiles), || "allowed are 1 to 8".into())?;
    field("step", step, step == 1 || step == 2, || "allowed are 1 and 2".into())?;
    field("slots", slots, (2..=16).contains(&slots), || "allowed are 2 to 16".into())
}
