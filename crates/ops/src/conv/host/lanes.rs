//! A row of a result: sums of a bundle of channels in registers, several pixels at once.
#![allow(
    clippy::needless_range_loop,
    reason = "loops of known length over arrays become straight code, with sums in registers"
)]

use super::taps::Run;
use crate::conv::problem::Problem;
use crate::raw::Work;

/// Channels of a bundle: a group, or as many depthwise ones as keep the processor busy.
pub(super) fn lanes(problem: &Problem) -> usize {
    if problem.group_width == 1 { 16 } else { problem.group_width }
}

/// A row of sums of one block. Each is `fma(x, w, sum)` from 0 on, over taps' rows, then taps' columns, then channels, in rising
/// order; where padding stands nothing is added.
pub(super) struct Row<'a> {
    pub(super) group: usize,
    pub(super) kernel: [usize; 2],
    /// Each row of taps that meets one of the source, and that row.
    pub(super) taps: &'a [(usize, &'a [f32])],
    pub(super) runs: &'a [Run],
    /// Of the block, packed.
    pub(super) weights: &'a [f32],
    /// Values from one pixel to the next, of the source as of the sums.
    pub(super) pitch: usize,
    pub(super) sums: &'a mut [f32],
}

impl Work for Row<'_> {
    /// Two vectors of 8 lanes a bundle want half as many bundles at once as one: 8 sums are in the making, and the registers hold them.
    #[inline(always)]
    fn run(mut self) {
        match self.group {
            1 => self.bundles::<16, 1, 1, 1, 1>(),
            4 => self.bundles::<4, 4, 2, 4, 4>(),
            8 => self.bundles::<8, 8, 2, 4, 4>(),
            _ => self.bundles::<16, 16, 1, 2, 4>(),
        }
    }
}

impl Row<'_> {
    /// Bundles of `L` lanes that sum over `C` channels: `FOUR` of them for four pixels at a time, `TWO` for two, `ONE` for one.
    #[inline(always)]
    fn bundles<const L: usize, const C: usize, const FOUR: usize, const TWO: usize, const ONE: usize>(&mut self) {
        let runs = self.runs;
        for run in runs {
            let (fours, twos) = (run.count / 4 * 4, run.count / 2 * 2);
            for at in (0..fours).step_by(4) {
                self.pixels::<L, C, 4, FOUR>(run, at);
            }
            for at in (fours..twos).step_by(2) {
                self.pixels::<L, C, 2, TWO>(run, at);
            }
            for at in twos..run.count {
                self.pixels::<L, C, 1, ONE>(run, at);
            }
        }
    }

    /// All bundles of `T` pixels, `B` at a time while there are as many.
    #[inline(always)]
    fn pixels<const L: usize, const C: usize, const T: usize, const B: usize>(&mut self, run: &Run, at: usize) {
        let bundles = self.pitch / L;
        let together = bundles / B * B;
        for bundle in (0..together).step_by(B) {
            self.tile::<L, C, T, B>(run, at, bundle);
        }
        for bundle in together..bundles {
            self.tile::<L, C, T, 1>(run, at, bundle);
        }
    }

    /// `T` pixels of a run from `at` on, `B` bundles from `bundle` on.
    #[inline(always)]
    fn tile<const L: usize, const C: usize, const T: usize, const B: usize>(
        &mut self,
        run: &Run,
        at: usize,
        bundle: usize,
    ) {
        let mut sums = [[[0.0f32; L]; T]; B];
        let taps = self.kernel[0] * self.kernel[1];
        for (r, row) in self.taps {
            for (s, first) in &run.taps {
                let tap = r * self.kernel[1] + s;
                let mut weights: [&[[f32; L]]; B] = [&[]; B];
                let mut pixels = [[&[0.0; L]; T]; B];
                for b in 0..B {
                    let of_tap = &self.weights[((bundle + b) * taps + tap) * C * L..][..C * L];
                    weights[b] = &of_tap.as_chunks::<L>().0[..C];
                    for t in 0..T {
                        let pixel = first + (at + t) * run.source_step;
                        pixels[b][t] = &row[pixel * self.pitch + (bundle + b) * L..].as_chunks::<L>().0[0];
                    }
                }
                for c in 0..C {
                    for b in 0..B {
                        let weights = weights[b][c];
                        for t in 0..T {
                            for l in 0..L {
                                let x = if C == 1 { pixels[b][t][l] } else { pixels[b][t][c] };
                                sums[b][t][l] = x.mul_add(weights[l], sums[b][t][l]);
                            }
                        }
                    }
                }
            }
        }
        // Loops of known length, which become none: so the sums stay in registers.
        for b in 0..B {
            for t in 0..T {
                let pixel = run.first + (at + t) * run.step;
                self.sums[pixel * self.pitch + (bundle + b) * L..].as_chunks_mut::<L>().0[0] = sums[b][t];
            }
        }
    }
}
