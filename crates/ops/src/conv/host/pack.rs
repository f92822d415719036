//! Weights in the order in which they are used.

use super::blocks::Block;
use crate::conv::element::Convolved;
use crate::conv::problem::Problem;

/// Which side of a group the sums stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    /// Channels of the result: the forward pass.
    Result,
    /// Channels of the input: its gradient.
    Input,
}

/// The weights of a block as f32: bundles of `lanes` channels, in each taps (rows, columns), in each the channels that are summed
/// over, in each a value for each lane. Lanes behind the last channel are 0.
pub(super) fn packed<T: Convolved>(w: &[T], problem: &Problem, block: Block, lanes: usize, sums: Sums) -> Vec<f32> {
    let (taps, group) = (problem.kernel[0] * problem.kernel[1], problem.group_width);
    let each = taps * group;
    let mut from = vec![0.0; block.width * each];
    T::widen(&w[block.first * each..][..block.width * each], &mut from);
    let mut to = vec![0.0; block.pitch * each];
    for (place, channel) in (0..block.width).flat_map(|c| (0..each).map(move |i| (i, c))) {
        let (tap, c) = (place / group, place % group);
        // The weight of channel `c` of the group for `channel` of the result.
        let weight = from[channel * each + place];
        let (bundle, k) = (channel / lanes, channel % lanes);
        let (inner, lane) = match sums {
            Sums::Input if group > 1 => (k, c),
            _ => (c, k),
        };
        to[((bundle * taps + tap) * group + inner) * lanes + lane] = weight;
    }
    to
}

/// The way back: a block's sums of weights, packed as [`packed`] does for [`Sums::Result`], into `to`, the block's part of the weights.
pub(super) fn unpacked(from: &[f32], problem: &Problem, lanes: usize, to: &mut [f32]) {
    let (taps, group) = (problem.kernel[0] * problem.kernel[1], problem.group_width);
    for (channel, weights) in to.chunks_exact_mut(taps * group).enumerate() {
        let (bundle, lane) = (channel / lanes, channel % lanes);
        for (place, weight) in weights.iter_mut().enumerate() {
            *weight = from[(bundle * taps * group + place) * lanes + lane];
        }
    }
}
