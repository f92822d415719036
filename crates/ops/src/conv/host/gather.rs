//! The forward pass and the input's gradient: each place of a result gathers from those of its source.

use super::blocks::{Block, blocks};
use super::lanes::{Row, lanes};
use super::pack::{Sums, packed};
use super::rows::Rows;
use super::taps::{Direction, Run};
use crate::conv::element::Convolved;
use crate::conv::problem::Problem;
use crate::raw::wide;
use rayon::prelude::*;

/// Most rows of a result in a task: neighbours share rows of their source.
const ROWS: usize = 16;
/// Tasks for each thread, so that none waits long for the last.
const TASKS: usize = 4;

/// What all tasks of a pass know.
pub(super) struct Gather<'a, T> {
    problem: &'a Problem,
    rows: Direction,
    columns: Direction,
    runs: Vec<Run>,
    source: &'a [T],
    bias: Option<&'a [f32]>,
    /// Each block with its weights.
    blocks: Vec<(Block, Vec<f32>)>,
}

impl<'a, T: Convolved> Gather<'a, T> {
    /// The forward pass (`Sums::Result`) or the input's gradient from `source` and weights.
    pub(super) fn new(problem: &'a Problem, sums: Sums, [source, w]: [&'a [T]; 2], bias: Option<&'a [f32]>) -> Self {
        let [rows, columns] = [0, 1].map(|direction| match sums {
            Sums::Result => Direction::forward(problem, direction),
            Sums::Input => Direction::forward(problem, direction).transposed(),
        });
        let with_weights = |block| (block, packed(w, problem, block, lanes(problem), sums));
        let blocks = blocks(problem).into_par_iter().map(with_weights).collect();
        Gather { problem, rows, columns, runs: columns.runs(), source, bias, blocks }
    }

    /// Writes all rows of `result`. No value depends on how many threads there are, nor on the cut into tasks.
    pub(super) fn run<U: Convolved>(&self, result: &mut [U]) {
        let row = self.columns.places() * self.problem.channels();
        let all = self.problem.images * self.rows.places();
        let together = (all / (TASKS * rayon::current_num_threads())).clamp(1, ROWS);
        result.par_chunks_mut((together * row).max(1)).enumerate().for_each(|(task, rows)| {
            let mut parts: Vec<Vec<&mut [U]>> = self.blocks.iter().map(|_| Vec::new()).collect();
            for mut pixel in rows.chunks_mut(self.problem.channels()) {
                for (part, (block, _)) in parts.iter_mut().zip(&self.blocks) {
                    let (own, others) = std::mem::take(&mut pixel).split_at_mut(block.width);
                    part.push(own);
                    pixel = others;
                }
            }
            let pairs = parts.into_par_iter().zip(&self.blocks);
            pairs.for_each(|(part, (block, weights))| self.task(task * together, *block, weights, part));
        });
    }

    /// Rows from number `first` on, of one block: `pixels` are all of them.
    fn task<U: Convolved>(&self, first: usize, block: Block, weights: &[f32], mut pixels: Vec<&mut [U]>) {
        let columns = self.columns.places();
        let mut rows =
            Rows::new(self.source, [self.columns.sources(), self.problem.channels()], block, self.rows.window());
        let mut sums = vec![0.0; columns * block.pitch];
        for (number, pixels) in pixels.chunks_mut(columns).enumerate() {
            let (image, place) = ((first + number) / self.rows.places(), (first + number) % self.rows.places());
            let met = self.rows.met(place);
            let place_of = |source: usize| image * self.rows.sources() + source;
            met.iter().for_each(|(_, source)| rows.load(place_of(*source)));
            let taps: Vec<_> = met.iter().map(|(tap, source)| (*tap, rows.row(place_of(*source)))).collect();
            let (kernel, runs) = (self.problem.kernel, self.runs.as_slice());
            let group = self.problem.group_width;
            wide(Row { group, kernel, taps: &taps, runs, weights, pitch: block.pitch, sums: &mut sums });
            for (pixel, sums) in pixels.iter_mut().zip(sums.chunks_exact_mut(block.pitch)) {
                if let Some(bias) = self.bias {
                    sums.iter_mut().zip(&bias[block.first..]).for_each(|(sum, bias)| *sum += bias);
                }
                U::narrow(&sums[..block.width], pixel);
            }
        }
    }
}
