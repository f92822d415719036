//! How the depthwise kernel divides its work: what may be chosen, and what is legal.

use super::super::config_error::{ConfigError, at_most, field};
use super::super::ends::{Ends, Reading};
use super::super::kernel_text::access_bytes;
use super::super::meeting::Meeting;
use super::super::multiprocessor::{Multiprocessor, SYSTEM_BYTES};
use super::super::problem::{Pass, Problem};
use super::super::registers::{blocks_by_registers, even_share};
use super::super::row_plan::{LONGEST_SIDE, MOST_BLOCKS, MOST_THREADS, STRIP, stackable};

/// The longest side of a window whose weights lanes have registers for.
const LARGEST_WINDOW: usize = 5;
/// Rows that wait to be sent: one that the copy engine reads, one that is complete, and one that is written.
pub(super) const SENT: usize = 3;
/// Registers of a lane beside sums, weights and what it reads, as the compiler showed in 70 kernels: with two channels a lane it wants two more than with
/// as many as four.
const OTHER_REGISTERS: usize = 32;

/// How a depthwise convolution is divided into blocks, and a block's rows among lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthwiseConfig {
    /// Strips of 8 channels of a block.
    pub strips: usize,
    /// Written columns of a block.
    pub columns: usize,
    /// Written rows of a block, of all images' one after another, as if they stood upon each other: blocks that begin and end anywhere are alike. With
    /// a dilation of rows that no stride has, rows of one image.
    pub rows: usize,
    /// Written columns of a lane, side by side: 1 to 8.
    pub pixels: usize,
    /// Channels of a lane: 2, 4 or 8, no more than 16 bytes.
    pub vector: usize,
    /// Rows that the ring in shared memory holds: 2 to 16.
    pub slots: usize,
}

/// A configuration of a problem, and what follows from both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DepthwisePlan {
    pub(crate) problem: Problem,
    pub(crate) pass: Pass,
    pub(crate) config: DepthwiseConfig,
    pub(crate) rows: Meeting,
    pub(crate) columns: Meeting,
    /// Read columns of a block, those that fill up its last lane included.
    pub(crate) reach: usize,
    pub(crate) warps: usize,
    pub(crate) registers: usize,
    pub(crate) shared_bytes: usize,
    /// Blocks along images, rows, columns and channels.
    pub(crate) blocks: [usize; 4],
    room: usize,
}

/// Refuses problems, passes and ends that the kernel is not made for.
pub(crate) fn check_problem(problem: &Problem, pass: Pass, sm: Multiprocessor, ends: Ends) -> Result<(), ConfigError> {
    let refuse = |why: String| Err(ConfigError::Depthwise(why));
    if problem.group_width != 1 {
        return refuse(format!("is for groups of 1 channel, these have {}", problem.group_width));
    }
    if let Some(taps) = problem.kernel.into_iter().find(|taps| *taps > LARGEST_WINDOW) {
        let most = LARGEST_WINDOW;
        return refuse(format!("is for windows of up to {most}x{most} taps, this one is {taps} long"));
    }
    if pass == Pass::GradInput && problem.stride != [1; 2] {
        return refuse(format!("undoes no stride, this one is {:?}", problem.stride));
    }
    if !sm.bulk_copies {
        return refuse("needs compute capability 9.0".into());
    }
    if access_bytes(problem) != 16 {
        let bytes = problem.channels() * problem.precision.bytes();
        return refuse(format!("needs channels that are a multiple of 16 bytes, these have {bytes}"));
    }
    if ends.reading == Reading::Computed || ends.behind {
        return refuse("takes no expression before or behind it".into());
    }
    if ends.written != problem.precision {
        return refuse(format!(
            "stores results of {:?}, as the operands are, not of {:?}",
            problem.precision, ends.written
        ));
    }
    Ok(())
}

impl DepthwisePlan {
    pub(crate) fn between(
        problem: Problem,
        pass: Pass,
        config: DepthwiseConfig,
        sm: Multiprocessor,
        ends: Ends,
    ) -> Result<DepthwisePlan, ConfigError> {
        check_problem(&problem, pass, sm, ends)?;
        let (rows, columns) = (Meeting::of(&problem, 0, pass), Meeting::of(&problem, 1, pass));
        check_ranges(&problem, &config, [&rows, &columns])?;
        let plan = DepthwisePlan::unchecked(problem, pass, config, sm, [rows, columns]);
        plan.check_limits(sm)?;
        Ok(plan)
    }

    /// Of numbers in their ranges, be it too much for a block or not.
    pub(super) fn unchecked(
        problem: Problem,
        pass: Pass,
        config: DepthwiseConfig,
        sm: Multiprocessor,
        [rows, columns]: [Meeting; 2],
    ) -> DepthwisePlan {
        let DepthwiseConfig { strips, columns: own, pixels, vector, slots, .. } = config;
        let (bytes, channels) = (problem.precision.bytes(), strips * STRIP);
        let filled = own.next_multiple_of(pixels);
        let reach = columns.across().reach(filled, columns.taps);
        let row = |columns: usize| (columns * channels * bytes).next_multiple_of(128);
        let blocks = [
            if stacked(&rows, config.rows) { 1 } else { problem.images },
            blocks_above(&problem, &rows, config.rows),
            columns.written.div_ceil(own),
            problem.channels().div_ceil(channels),
        ];
        DepthwisePlan {
            problem,
            pass,
            config,
            rows,
            columns,
            reach,
            warps: (filled / pixels * (channels / vector)).div_ceil(32),
            registers: registers(&problem, &config, [&rows, &columns]),
            shared_bytes: slots * row(reach) + SENT * row(filled) + 16 * (slots + SENT) + 16,
            blocks,
            room: sm.room(),
        }
    }

    fn check_limits(&self, sm: Multiprocessor) -> Result<(), ConfigError> {
        let DepthwisePlan { reach, warps, registers, shared_bytes, .. } = *self;
        field("columns", self.config.columns, reach <= LONGEST_SIDE, || {
            format!("which reads {reach} columns, and a copy takes at most {LONGEST_SIDE}")
        })?;
        at_most("threads", 32 * warps, MOST_THREADS, "columns or strips, or more pixels or channels a lane")?;
        at_most("bytes of shared memory", shared_bytes, sm.shared_bytes, "slots, columns or strips")?;
        at_most("registers a thread", registers, even_share(warps), "pixels or channels a lane, or warps")?;
        at_most("blocks in the grid", self.blocks.iter().product(), MOST_BLOCKS, "blocks: more rows or columns each")
    }

    /// Whether blocks begin and end anywhere, not where images do.
    pub(super) fn stacked(&self) -> bool {
        stacked(&self.rows, self.config.rows)
    }

    /// Whether blocks have all columns and channels of their rows, which are runs of bytes then.
    pub(super) fn in_runs(&self) -> bool {
        let [.., columns, channels] = self.blocks;
        columns == 1 && channels == 1 && self.problem.channels().is_multiple_of(self.config.strips * STRIP)
    }

    /// Rows of all images that stand upon each other.
    pub(super) fn stack(&self) -> usize {
        stack_of(&self.problem, &self.rows)
    }

    /// Images of which a block has rows, at most.
    pub(super) fn items(&self) -> usize {
        if self.stacked() { (self.config.rows - 1).div_ceil(self.rows.phase_len()) + 1 } else { 1 }
    }

    /// Blocks of a multiprocessor at once.
    pub(super) fn resident(&self) -> usize {
        let by_registers = blocks_by_registers(self.registers, self.warps);
        (self.room / (self.shared_bytes + SYSTEM_BYTES)).min(64 / self.warps).min(by_registers).max(1)
    }
}

/// About as many registers as a lane needs: sums, weights, what it reads of a row, and a bias.
fn registers(problem: &Problem, config: &DepthwiseConfig, [rows, columns]: [&Meeting; 2]) -> usize {
    let DepthwiseConfig { pixels, vector, .. } = *config;
    let kept = (rows.taps - 1) / rows.down + 1;
    let read = columns.across().reach(pixels, columns.taps) * vector * problem.precision.bytes() / 4;
    (kept * pixels + rows.taps * columns.taps + 1) * vector + read.min(24) + OTHER_REGISTERS - vector.min(4)
}

/// Rows of all images that stand upon each other.
fn stack_of(problem: &Problem, rows: &Meeting) -> usize {
    problem.images * rows.phase_len()
}

/// Whether blocks of so many rows begin and end anywhere.
fn stacked(rows: &Meeting, count: usize) -> bool {
    stackable(rows) && !rows.phase_len().is_multiple_of(count)
}

/// Blocks one above the other, of so many rows.
fn blocks_above(problem: &Problem, rows: &Meeting, count: usize) -> usize {
    if stacked(rows, count) {
        return stack_of(problem, rows).div_ceil(count);
    }
    rows.phase_len().div_ceil(count) * rows.phases
}

fn check_ranges(
    problem: &Problem,
    config: &DepthwiseConfig,
    [rows, columns]: [&Meeting; 2],
) -> Result<(), ConfigError> {
    let DepthwiseConfig { strips, pixels, vector, slots, .. } = *config;
    let all = problem.channels().div_ceil(STRIP).min(32);
    field("strips", strips, (1..=all).contains(&strips), || format!("allowed are 1 to {all}"))?;
    let written = columns.written;
    field("columns", config.columns, (1..=written).contains(&config.columns), || {
        format!("allowed are 1 to {written}")
    })?;
    let most = if stackable(rows) { stack_of(problem, rows) } else { rows.phase_len() };
    field("rows", config.rows, (1..=most).contains(&config.rows), || match stackable(rows) {
        true => format!("allowed are 1 to {most}, those of all images"),
        false => format!("allowed are 1 to {most}"),
    })?;
    field("pixels", pixels, (1..=8).contains(&pixels), || "allowed are 1 to 8".into())?;
    let widest = 16 / problem.precision.bytes();
    field("vector", vector, [2, 4, 8].contains(&vector) && vector <= widest, || {
        format!("allowed are 2, 4 and 8, up to {widest}, which have 16 bytes")
    })?;
    field("slots", slots, (2..=16).contains(&slots), || "allowed are 2 to 16".into())
}
