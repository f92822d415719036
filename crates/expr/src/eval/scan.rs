//! Scans that threads share on a GPU: the same chunks, the same tree, the same strips.

use super::group::partials;
use super::lanes::{Arg, Lane, values, values_mut};
use super::worker::Worker;
use crate::arith::Arith;
use crate::fold::with_wide_type;
use crate::program::Val;
use crate::reduce::Reduction;
use crate::scan::{CHUNK, strip};

/// Values of a chunk.
const VALUES: usize = CHUNK as usize;
/// Most chunks of a strip.
const CHUNKS: usize = 32;

/// How far a scan of a row has come: bits.
pub(super) struct Carry {
    /// What stands before the next value.
    before: u64,
    /// What the segment's values come to so far.
    total: u64,
    /// What the segments before it came to.
    totals: Vec<u64>,
}

impl Worker<'_> {
    /// Nothing stands before a row's first value.
    pub(super) fn begin_scans(&mut self) {
        let scans = &self.schedule.program.scans;
        let start = scans.iter().map(|s| s.reduction.identity(s.dtype).bits);
        self.carries = start.map(|none| Carry { before: none, total: none, totals: Vec::new() }).collect();
    }

    /// The values `start..start + n` of a scan, which begin where a strip does.
    pub(super) fn scan(&mut self, number: usize, term: Val, out: &mut [u64], (start, n): (usize, usize)) {
        let (Some(group), scan) = (&self.plan.group, &self.schedule.program.scans[number]) else { return };
        let arg = match self.schedule.slot_of[term.0 as usize] {
            Some(slot) => Arg::Block(&self.blocks[slot]),
            None => Arg::Uniform(self.scalars[term.0 as usize]),
        };
        let carry = &mut self.carries[number];
        if start > 0 && start as i64 % group.tree.segment == 0 {
            let none = scan.reduction.identity(scan.dtype).bits;
            carry.totals.push(std::mem::replace(&mut carry.total, none));
            carry.before = partials((scan.reduction, scan.dtype), &carry.totals);
        }
        let strip = strip(group.tree.width) as usize;
        with_wide_type!(scan.dtype, T => typed::<T>(scan.reduction, arg, carry, out, (n, strip)), {});
    }
}

fn typed<T: Arith + Lane>(
    reduction: Reduction,
    arg: Arg<'_>,
    carry: &mut Carry,
    out: &mut [u64],
    (n, strip): (usize, usize),
) {
    let identity = reduction.identity(T::DTYPE).get::<T>();
    let sums = [carry.before, carry.total].map(T::from_bits64);
    let out = values_mut::<T>(out, n);
    let mut all = |op: fn(T, T) -> T| match arg {
        Arg::Block(block) => {
            let from = values::<T>(block, n);
            strips((sums, identity), op, |i| T::val(from[i]), out, strip)
        }
        Arg::Uniform(bits) => strips((sums, identity), op, |_| T::from_bits64(bits), out, strip),
    };
    let after = match reduction {
        Reduction::Sum => all(Arith::add),
        Reduction::Product => all(Arith::mul),
        Reduction::Min => all(Arith::minimum),
        Reduction::Max => all(Arith::maximum),
    };
    [carry.before, carry.total] = after.map(T::to_bits64);
}

/// Strip after strip; gives what stands before the next one, in the row and in the segment.
fn strips<T: Arith + Lane>(
    ([mut carry, mut whole], identity): ([T; 2], T),
    op: impl Fn(T, T) -> T,
    value: impl Fn(usize) -> T,
    out: &mut [T::Rep],
    strip: usize,
) -> [T; 2] {
    let chunks = strip / VALUES;
    for (number, out) in out.chunks_mut(strip).enumerate() {
        let at = |i: usize| if i < out.len() { value(number * strip + i) } else { identity };
        // Totals of chunks, then those of pairs behind them, then of pairs of pairs.
        let mut totals = [identity; 2 * CHUNKS];
        for (chunk, total) in totals[..chunks].iter_mut().enumerate() {
            let first = chunk * VALUES;
            *total = (1..VALUES).fold(at(first), |sum, i| op(sum, at(first + i)));
        }
        let (mut from, mut count) = (0, chunks);
        while count > 1 {
            for i in 0..count / 2 {
                totals[from + count + i] = op(totals[from + 2 * i], totals[from + 2 * i + 1]);
            }
            (from, count) = (from + count, count / 2);
        }
        let mut before = [carry; CHUNKS];
        (carry, whole) = (op(carry, totals[from]), op(whole, totals[from]));
        while count < chunks {
            (from, count) = (from - 2 * count, 2 * count);
            for i in (0..count).rev() {
                before[i] = if i % 2 == 0 { before[i / 2] } else { op(before[i / 2], totals[from + i - 1]) };
            }
        }
        let mut sum = carry;
        for i in 0..out.len() {
            sum = op(if i % VALUES == 0 { before[i / VALUES] } else { sum }, value(number * strip + i));
            out[i] = sum.rep();
        }
    }
    [carry, whole]
}
