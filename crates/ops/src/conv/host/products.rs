//! A row of the weights' gradient: products of a row of the input and one of the result's gradient, summed along both.

use super::blocks::DEPTHWISE;
use crate::conv::problem::Problem;
use crate::raw::Work;

/// Channels of a bundle: a group, or as many depthwise ones as keep the processor busy.
pub(super) fn lanes(problem: &Problem) -> usize {
    if problem.group_width == 1 { DEPTHWISE } else { problem.group_width }
}

/// Places where a tap meets the input: from place `place` of the result and `source` of the input on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) tap: usize,
    pub(super) place: usize,
    pub(super) source: usize,
    pub(super) count: usize,
}

/// What one row of the result's gradient adds to the sums of a block. Of each weight, the row's part is `fma(x, dy, part)` from 0 on,
/// along the row; then it is added to the sum.
pub(super) struct Products<'a> {
    pub(super) group: usize,
    pub(super) kernel: [usize; 2],
    /// Columns of the input from one place of the result to the next.
    pub(super) stride: usize,
    /// Each row of taps that meets one of the input, and that row.
    pub(super) rows: &'a [(usize, &'a [f32])],
    pub(super) meetings: &'a [Meeting],
    /// The row of the result's gradient.
    pub(super) gradient: &'a [f32],
    /// Values from one pixel to the next, of both.
    pub(super) pitch: usize,
    /// Of the block, in the order of packed weights.
    pub(super) sums: &'a mut [f32],
}

impl Work for Products<'_> {
    #[inline(always)]
    fn run(mut self) {
        match self.group {
            1 => self.bundles::<DEPTHWISE, 1, 1, DEPTHWISE>(),
            4 => self.bundles::<4, 4, 4, 4>(),
            8 => self.bundles::<8, 8, 8, 8>(),
            _ => self.bundles::<16, 16, 4, 4>(),
        }
    }
}

impl Products<'_> {
    /// Bundles of `L` lanes with `C` channels of the input each, `T` of which are computed at a time, from `P` values of a pixel: of
    /// depthwise channels each lane has its own.
    #[inline(always)]
    fn bundles<const L: usize, const C: usize, const T: usize, const P: usize>(&mut self) {
        let (rows, meetings) = (self.rows, self.meetings);
        for bundle in 0..self.pitch / L {
            for (r, row) in rows {
                for meeting in meetings {
                    let tap = (bundle * self.kernel[0] + r) * self.kernel[1] + meeting.tap;
                    for c in (0..C).step_by(T) {
                        self.tile::<L, C, T, P>(row, meeting, [tap, bundle, c]);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn tile<const L: usize, const C: usize, const T: usize, const P: usize>(
        &mut self,
        row: &[f32],
        meeting: &Meeting,
        [tap, bundle, c]: [usize; 3],
    ) {
        let mut part = [[0.0f32; L]; T];
        for at in 0..meeting.count {
            let (place, source) = (meeting.place + at, meeting.source + at * self.stride);
            let gradient: &[f32; L] = &self.gradient[place * self.pitch + bundle * L..].as_chunks().0[0];
            let pixel: &[f32; P] = &row[source * self.pitch + bundle * L + c..].as_chunks().0[0];
            for t in 0..T {
                for l in 0..L {
                    let x = if P == L && T == 1 { pixel[l] } else { pixel[t] };
                    part[t][l] = x.mul_add(gradient[l], part[t][l]);
                }
            }
        }
        // Loops of known length, which become none: so the part stays in registers.
        let sums = &mut self.sums[(tap * C + c) * L..].as_chunks_mut::<L>().0[..T];
        for t in 0..T {
            for l in 0..L {
                sums[t][l] += part[t][l];
            }
        }
    }
}
