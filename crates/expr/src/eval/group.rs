//! Rows whose reductions threads share on a GPU: the same accumulators, the same tree.

use super::lanes::{Arg, fill};
use super::schedule::Schedule;
use super::worker::Worker;
use super::{BLOCK, raw};
use crate::collective::{Group, PARTIALS};
use crate::dtype::{DType, Scalar};
use crate::fold;
use crate::plan::Plan;
use crate::program::{SharedReduction, Val};
use crate::reduce::Reduction;
use rayon::prelude::*;

/// Computes every row: the levels of reductions, then what is stored.
pub(super) fn run<'a>(plan: &Plan, group: &Group, turns: &[Schedule], place: &(dyn Fn(usize) -> Worker<'a> + Sync)) {
    let (outer, _) = group.split(&plan.world);
    let rows: i64 = outer.iter().map(|w| w.extent).product();
    let each = |workers: &mut Vec<Worker<'a>>, row: i64| {
        let mut reduced = vec![0u64; turns[0].program.shared.len()];
        for (level, worker) in workers[..turns.len() - 1].iter_mut().enumerate() {
            worker.reduced.clone_from(&reduced);
            let spans: Vec<i64> = (0..group.segments()).collect();
            let parts: Vec<Vec<u64>> = if group.segments() > 1 {
                let part = |worker: &mut Worker<'a>, s: &i64| {
                    worker.reduced.clone_from(&reduced);
                    worker.segment(group, row, *s, level as u16)
                };
                spans.par_iter().map_init(|| place(level), part).collect()
            } else {
                vec![worker.segment(group, row, 0, level as u16)]
            };
            for (number, shared) in turns[level].program.taken() {
                let values: Vec<u64> = parts.iter().map(|p| p[number]).collect();
                let kind = (shared.reduction, shared.dtype);
                reduced[number] = if values.len() == 1 { values[0] } else { partials(kind, &values) };
            }
        }
        let last = turns.len() - 1;
        if group.in_turns() {
            let finish = |worker: &mut Worker<'a>, s: i64| {
                worker.reduced.clone_from(&reduced);
                let begin = s * group.tree.segment;
                worker.finish(group, row, begin..(begin + group.tree.segment).min(group.n));
            };
            (0..group.segments()).into_par_iter().for_each_init(|| place(last), finish);
        } else {
            workers[last].reduced.clone_from(&reduced);
            workers[last].finish(group, row, 0..group.n);
        }
    };
    let workers = || (0..turns.len()).map(place).collect::<Vec<_>>();
    if group.segments() > rows && !group.scans {
        let mut workers = workers();
        (0..rows).for_each(|row| each(&mut workers, row));
    } else {
        (0..rows).into_par_iter().for_each_init(workers, each);
    }
}

fn scalar(shared: &SharedReduction, bits: u64) -> Scalar {
    Scalar { dtype: shared.dtype, bits }
}

/// What two values of a type become.
fn both((reduction, dtype): (Reduction, DType), a: u64, b: u64) -> u64 {
    fold::binary(reduction.operation(), Scalar { dtype, bits: a }, Scalar { dtype, bits: b }).bits
}

/// Neighbours become one, pairs of pairs, until one is left.
fn tree(kind: (Reduction, DType), mut values: Vec<u64>) -> u64 {
    let mut count = values.len();
    while count > 1 {
        count /= 2;
        (0..count).for_each(|i| values[i] = both(kind, values[2 * i], values[2 * i + 1]));
    }
    values[0]
}

/// Segments' results, side by side.
pub(super) fn partials(kind: (Reduction, DType), values: &[u64]) -> u64 {
    let mut sums = vec![kind.0.identity(kind.1).bits; PARTIALS as usize];
    for (i, v) in values.iter().enumerate() {
        let sum = &mut sums[i % PARTIALS as usize];
        *sum = both(kind, *sum, *v);
    }
    tree(kind, sums)
}

impl Worker<'_> {
    /// The results of one segment for the reductions of a level; others are 0.
    fn segment(&mut self, group: &Group, row: i64, segment: i64, level: u16) -> Vec<u64> {
        let schedule = self.schedule;
        self.row = None;
        self.begin_scans();
        let width = group.tree.width as usize;
        let taken: Vec<(usize, &SharedReduction)> = schedule.program.taken().collect();
        // Room for the accumulators, and as much again for what they become.
        let mut room = std::mem::take(&mut self.sums);
        room.resize_with(taken.len() + 1, || vec![0; width.max(BLOCK)]);
        let (sums, next) = room.split_at_mut(taken.len());
        for (sum, (_, shared)) in sums.iter_mut().zip(&taken) {
            fill(sum, shared.reduction.identity(shared.dtype), width);
        }
        let begin = segment * group.tree.segment;
        let end = (begin + group.tree.segment).min(group.n);
        self.spans(group, row, begin..end, width, |worker, at, n| {
            let offset = ((at - begin) as usize) % width;
            for (sum, (_, shared)) in sums.iter_mut().zip(&taken) {
                worker.take(shared, level, sum, &mut next[0], (offset, width), n);
            }
        });
        let mut results = vec![0; schedule.program.shared.len()];
        for (sum, (number, shared)) in sums.iter().zip(&taken) {
            let values = (0..width).map(|i| element(sum, shared.dtype.size(), i)).collect();
            results[*number] = tree((shared.reduction, shared.dtype), values);
        }
        self.sums = room;
        results
    }

    /// Adds `n` values to accumulators from `offset` on, round and round.
    fn take(
        &self,
        shared: &SharedReduction,
        level: u16,
        sums: &mut [u64],
        next: &mut [u64],
        (offset, width): (usize, usize),
        n: usize,
    ) {
        debug_assert_eq!(shared.level, level);
        let (mut at, mut offset) = (0, offset);
        while at < n {
            let round = (width - offset).min(n - at);
            // Whole words of 8 bytes at aligned places go through the vector loops, the others one by one.
            let size = shared.dtype.size();
            match (at * size).is_multiple_of(8) && (offset * size).is_multiple_of(8) {
                true => self.take_words(shared, sums, next, (at, offset), round),
                false => (0..round).for_each(|i| self.take_one(shared, sums, at + i, offset + i)),
            }
            (at, offset) = (at + round, 0);
        }
    }

    /// Values from `at` on are added to accumulators from `offset` on: each one's own.
    fn take_words(
        &self,
        shared: &SharedReduction,
        sums: &mut [u64],
        next: &mut [u64],
        (at, offset): (usize, usize),
        n: usize,
    ) {
        let (value, times) = shared.terms[0];
        let (dtype, size) = (shared.dtype, shared.dtype.size());
        let arg = |v: Val| match self.schedule.slot_of[v.0 as usize] {
            Some(slot) => Arg::Block(&self.blocks[slot][at * size / 8..]),
            None => Arg::Uniform(self.scalars[v.0 as usize]),
        };
        let from = offset * size / 8;
        let old = Arg::Block(&sums[from..]);
        match times {
            Some(times) => raw::fma(dtype, next, &[arg(value), arg(times), old].map(Into::into), &n.into()),
            None => {
                raw::binary(shared.reduction.operation(), dtype, next, &[old, arg(value)].map(Into::into), &n.into())
            }
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut sums[from..]);
        bytes[..n * size].copy_from_slice(&bytemuck::cast_slice(next)[..n * size]);
    }

    /// Value `at` is added to accumulator `offset`.
    fn take_one(&self, shared: &SharedReduction, sums: &mut [u64], at: usize, offset: usize) {
        let (value, times) = shared.terms[0];
        let size = shared.dtype.size();
        let get = |v: Val| match self.schedule.slot_of[v.0 as usize] {
            Some(slot) => scalar(shared, element(&self.blocks[slot], size, at)),
            None => scalar(shared, self.scalars[v.0 as usize]),
        };
        let old = scalar(shared, element(sums, size, offset));
        let new = match times {
            Some(times) => fold::fma(get(value), get(times), old),
            None => fold::binary(shared.reduction.operation(), old, get(value)),
        };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(sums);
        bytes[offset * size..(offset + 1) * size].copy_from_slice(&new.bits.to_le_bytes()[..size]);
    }

    /// Stores what is computed from the reductions' results: for the values `range` of a row, or once for the row.
    fn finish(&mut self, group: &Group, row: i64, range: std::ops::Range<i64>) {
        self.row = None;
        self.begin_scans();
        let reduced = self.plan.world.len() - group.loops;
        let index = |s: &crate::program::Store| {
            match s.partial {
            Some(partial) => partial.along >> reduced != 0,
            None => s.index.iter().any(
                |v| matches!(self.schedule.program.inst(*v), crate::program::Inst::Coord(d) if usize::from(*d) >= reduced),
            ),
        }
        };
        let whole = self.schedule.program.stored().iter().any(index);
        let range = if whole { range } else { 0..i64::from(range.start == 0) };
        self.spans(group, row, range, BLOCK, |worker, at, n| {
            let inner = worker.plan.inner().map_or(1, |w| w.extent);
            worker.store((at % inner) as usize, n);
        });
    }

    /// Computes the values `range` of a row in blocks that cross no end of the innermost loop, nor of the accumulators.
    fn spans(
        &mut self,
        group: &Group,
        row: i64,
        range: std::ops::Range<i64>,
        width: usize,
        mut each: impl FnMut(&mut Self, i64, usize),
    ) {
        let inner = self.plan.inner().map_or(1, |w| w.extent);
        let per_row = group.n / inner;
        let mut at = range.start;
        while at < range.end {
            let start = at % inner;
            // Blocks of whole rounds of narrow accumulators; of wide ones, up to where a round ends.
            let round = if width > BLOCK { width - ((at - range.start) as usize % width) } else { BLOCK };
            let n = (inner - start).min(range.end - at).min(BLOCK as i64).min(round as i64);
            self.compute((row * per_row + at / inner) as usize, start as usize, n as usize);
            each(self, at, n as usize);
            at += n;
        }
    }
}

/// The bits of element `i` of a block.
fn element(block: &[u64], size: usize, i: usize) -> u64 {
    let bytes: &[u8] = bytemuck::cast_slice(block);
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&bytes[i * size..(i + 1) * size]);
    u64::from_le_bytes(bits)
}
