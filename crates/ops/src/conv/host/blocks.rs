//! Blocks of channels: what one task computes.

use crate::conv::problem::Problem;

/// Channels of a block, if there are as many: a row of it as f32 fits the second-level cache.
const WIDTH: usize = 64;
/// Channels of a depthwise convolution that are computed together: blocks are filled up to a multiple of it.
pub(super) const DEPTHWISE: usize = 32;

/// Channels `first..first + width`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) first: usize,
    pub(super) width: usize,
    /// Values from one pixel to the next.
    pub(super) pitch: usize,
}

/// All channels, in blocks of whole groups.
pub(super) fn blocks(problem: &Problem) -> Vec<Block> {
    let channels = problem.channels();
    let block = |first: usize| {
        let width = WIDTH.min(channels - first);
        let pitch = if problem.group_width == 1 { width.next_multiple_of(DEPTHWISE) } else { width };
        Block { first, width, pitch }
    };
    (0..channels).step_by(WIDTH).map(block).collect()
}
