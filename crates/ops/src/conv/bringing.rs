//! Which warps of a block bring rows into the ring.

use super::config_error::{ConfigError, field};
use super::ends::Reading;
use super::registers::even_share;
use super::row_plan::MOST_THREADS;

/// Steps that are brought at once where the copy engine does not, by a warp each that copies, or several that evaluate; and vectors that each of
/// their threads has under way.
pub(crate) const TURNS: usize = 4;
const EVALUATING: usize = 8;
pub(crate) const AT_ONCE: usize = 4;

/// Warps that bring rows: one that speaks to the copy engine, some that copy, each its own steps, so that much is under way, or more that evaluate,
/// where so many beside those that multiply leave each thread the registers that it wants.
pub(crate) fn bringing(bulk: bool, reading: Reading, warps: usize, registers: usize) -> usize {
    let more = warps + EVALUATING + 1;
    match reading {
        _ if bulk => 1,
        Reading::Computed if 32 * more <= MOST_THREADS && registers <= even_share(more) => EVALUATING,
        _ => TURNS,
    }
}

/// Steps that so many warps bring at once, taking turns: one each where the ring has the places, else several of them a step.
pub(crate) fn turns(bringing: usize, slots: usize) -> usize {
    if slots >= bringing { bringing } else { bringing.min(TURNS) }
}

/// Refuses a ring with fewer places than steps are brought at once: a warp that came a round too early would take a place's last phase for its next.
pub(crate) fn check_turns(slots: usize, bringing: usize) -> Result<(), ConfigError> {
    let turns = bringing.min(TURNS);
    field("slots", slots, turns == 1 || slots >= turns, || {
        format!("allowed are {turns} to 16 where {bringing} warps bring rows, and not the copy engine")
    })
}
