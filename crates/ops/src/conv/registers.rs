//! Registers of the threads of convolutions: what they want, what there is, and what has to rest in shared memory for want of them.

use super::ends::Reading;
use super::meeting::Meeting;
use super::multiprocessor::REGISTERS;
use super::problem::Problem;
use super::row_plan::{MOST_THREADS, RowConfig, STRIP};

/// The most 32-bit registers of a thread.
const MOST_REGISTERS: usize = 255;
/// Registers of a thread beside sums, weights and the operands under way.
const OTHER_REGISTERS: usize = 48;
/// Registers that an expression is given at least.
const EXPRESSION_REGISTERS: usize = 64;
/// Warps of a warpgroup, which lends and borrows registers together.
pub(crate) const GROUP: usize = 4;
/// Registers that the warpgroup which brings and sends keeps, and the most that another one can have.
pub(crate) const LEFT: usize = 24;
const MOST_LENT: usize = 240;
/// Registers that a thread may want where weights rest: with more of them the compiler spills.
const BESIDE_RESTING: usize = 220;
/// Registers of weights that rest and are on their way, in steps of one row and of two, as the compiler showed in 37 kernels.
const ON_THEIR_WAY: [usize; 2] = [20, 56];

/// Registers of a thread where all of a block's have the same.
pub(crate) fn even_share(block_warps: usize) -> usize {
    MOST_REGISTERS.min(REGISTERS / (32 * block_warps).next_multiple_of(128) / 8 * 8)
}

/// Blocks of so many warps, with so many registers a thread, that a multiprocessor has registers for: each of its four schedulers has a quarter of them,
/// and whole warps.
pub(crate) fn blocks_by_registers(registers: usize, warps: usize) -> usize {
    4 * (REGISTERS / 4 / (32 * registers.next_multiple_of(8))) / warps
}

/// Registers of each of so many warps that multiply where another warpgroup lends them its own; nothing where they are no warpgroups,
/// or would have no more.
pub(crate) fn lent(warps: usize) -> Option<usize> {
    let groups = warps / GROUP;
    let threads = 32 * GROUP * (groups + 1);
    let legal = groups > 1 && warps.is_multiple_of(GROUP) && threads <= MOST_THREADS;
    let share = legal.then(|| even_share(warps + GROUP))?;
    let lent = ((share * (groups + 1) - LEFT) / groups / 8 * 8).min(MOST_LENT);
    (lent > share).then_some(lent)
}

/// Registers of the threads that bring rows.
pub(crate) fn least_registers(reading: Reading) -> usize {
    match reading {
        Reading::Stored => 0,
        Reading::Computed => EXPRESSION_REGISTERS,
    }
}

/// Cells of 16 bytes that a tap has.
pub(crate) fn cells_of_tap(problem: &Problem) -> usize {
    problem.group_width.max(STRIP) * problem.precision.bytes() / 16
}

/// Weights of a strip that a thread holds in registers, where those of so many rows of the window rest.
pub(crate) fn weights_held(problem: &Problem, resting: usize) -> usize {
    let [r, s] = problem.kernel;
    (r - resting) * s * cells_of_tap(problem)
}

/// Rows of the window whose weights have to rest in shared memory, so that the others fit a thread beside the sums of one tile.
pub(crate) fn resting(problem: &Problem, rows: &Meeting) -> usize {
    let wanted = |resting| registers_of(problem, [1, 1, 1], rows, resting);
    if wanted(0) <= MOST_REGISTERS {
        return 0;
    }
    (1..problem.kernel[0]).find(|resting| wanted(*resting) <= BESIDE_RESTING).unwrap_or(0)
}

/// About as many registers as a thread needs: sums, weights, operands under way.
pub(crate) fn registers(problem: &Problem, config: &RowConfig, rows: &Meeting, resting: usize) -> usize {
    registers_of(problem, [config.warp_strips, config.tiles, config.step], rows, resting)
}

fn registers_of(problem: &Problem, [warp_strips, tiles, step]: [usize; 3], rows: &Meeting, resting: usize) -> usize {
    let kept = (rows.taps - 1 + rows.up * (step - 1)) / rows.down + 1;
    let sums = 4 * kept * tiles * warp_strips;
    let stores = 4 * (tiles * warp_strips).div_ceil(2);
    let on_their_way = if resting > 0 { ON_THEIR_WAY[(step - 1).min(1)] } else { 0 };
    warp_strips * weights_held(problem, resting) + sums + stores + on_their_way + OTHER_REGISTERS
}
