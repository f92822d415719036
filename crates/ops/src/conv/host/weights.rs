//! The weights' gradient: for each weight, the products of all pixels that it meets.

use super::blocks::{Block, blocks};
use super::pack::unpacked;
use super::products::{Meeting, Products, lanes};
use super::rows::Rows;
use super::taps::Direction;
use crate::conv::element::Convolved;
use crate::conv::problem::Problem;
use crate::raw::wide;
use rayon::prelude::*;

/// Parts into which the rows of all images are cut, as equal as may be: their sums are added in the end, one after the other.
const PARTS: usize = 16;

/// Writes `dw`. The order of additions follows from sizes alone.
pub(super) fn grad_weight<T: Convolved>(problem: &Problem, [x, dy]: [&[T]; 2], dw: &mut [f32]) {
    let (all, parts) = (rows(problem), parts(problem));
    let tasks: Vec<(usize, Block)> =
        blocks(problem).into_iter().flat_map(|block| (0..parts).map(move |part| (part, block))).collect();
    let pass = Pass::new(problem, x, dy);
    let sums: Vec<Vec<f32>> =
        tasks.par_iter().map(|(part, block)| pass.part(part * all / parts..(part + 1) * all / parts, *block)).collect();
    let each = problem.kernel[0] * problem.kernel[1] * problem.group_width;
    for (of_block, sums) in tasks.chunks(parts).zip(sums.chunks(parts)) {
        let Some(((_, block), (first, others))) = of_block.first().zip(sums.split_first()) else { continue };
        let mut total = first.clone();
        for part in others {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        }
        unpacked(&total, problem, lanes(problem), &mut dw[block.first * each..][..block.width * each]);
    }
}

/// Bytes of the parts' sums.
pub(super) fn workspace(problem: &Problem) -> usize {
    let each = problem.kernel[0] * problem.kernel[1] * problem.group_width * size_of::<f32>();
    parts(problem) * blocks(problem).iter().map(|block| block.pitch * each).sum::<usize>()
}

/// Rows of the result of all images.
fn rows(problem: &Problem) -> usize {
    problem.images * problem.output()[0]
}

fn parts(problem: &Problem) -> usize {
    rows(problem).clamp(1, PARTS)
}

/// What all parts know.
struct Pass<'a, T> {
    problem: &'a Problem,
    x: &'a [T],
    dy: &'a [T],
    rows: Direction,
    meetings: Vec<Meeting>,
}

impl<'a, T: Convolved> Pass<'a, T> {
    fn new(problem: &'a Problem, x: &'a [T], dy: &'a [T]) -> Self {
        let [rows, columns] = [0, 1].map(|direction| Direction::forward(problem, direction));
        let meeting = |tap: usize| {
            let place = (0..columns.places()).find(|place| columns.source(*place, tap).is_some())?;
            let source = columns.source(place, tap)?;
            let count = (place..columns.places()).take_while(|place| columns.source(*place, tap).is_some()).count();
            Some(Meeting { tap, place, source, count })
        };
        Pass { problem, x, dy, rows, meetings: (0..columns.taps).filter_map(meeting).collect() }
    }

    /// The sums of the result's rows `rows`, of one block.
    fn part(&self, rows: std::ops::Range<usize>, block: Block) -> Vec<f32> {
        let (problem, channels) = (self.problem, self.problem.channels());
        let [_, columns] = problem.output();
        let mut inputs = Rows::new(self.x, [problem.width, channels], block, self.rows.window());
        let mut gradients = Rows::new(self.dy, [columns, channels], block, 1);
        let mut sums = vec![0.0; block.pitch * problem.kernel[0] * problem.kernel[1] * problem.group_width];
        for number in rows {
            let (image, place) = (number / self.rows.places(), number % self.rows.places());
            let met = self.rows.met(place);
            let place_of = |source: usize| image * problem.height + source;
            met.iter().for_each(|(_, source)| inputs.load(place_of(*source)));
            gradients.load(number);
            let met: Vec<_> = met.iter().map(|(tap, source)| (*tap, inputs.row(place_of(*source)))).collect();
            wide(Products {
                group: problem.group_width,
                kernel: problem.kernel,
                stride: problem.stride[1],
                rows: &met,
                meetings: &self.meetings,
                gradient: gradients.row(number),
                pitch: block.pitch,
                sums: &mut sums,
            });
        }
        sums
    }
}
