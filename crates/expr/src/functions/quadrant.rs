//! Arguments of the circle's functions in quarters of a turn: Cody and Waite's subtraction where multiples of pi/2 are few,
//! Payne and Hanek's product with the bits of 2/pi beyond. Of `|x|`: the functions are odd or even.

use super::coefficients::TWO_OVER_PI;
use super::math::{Math, Nearest, Pair};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, NodeId, Op};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// pi/2 in three parts, each as long as an f64 is: what remains is below 1e-49.
const DOUBLE: [f64; 3] = [FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];
/// The same with two parts as long as an f32 is.
const SINGLE: [f64; 3] = {
    let first = FRAC_PI_2 as f32 as f64;
    let second = (FRAC_PI_2 - first) as f32 as f64;
    [first, second, FRAC_PI_2 - first - second + DOUBLE[1]]
};
/// From here on the product with the bits of 2/pi is taken. Below, multiples of pi/2 are so few that what the three parts lack does not
/// count beside the closest that a number comes to one.
const FAR_SINGLE: f64 = 32_768.0;
const FAR_DOUBLE: f64 = 4_194_304.0;

/// `|x| = q pi/2 + r`, `|r| <= pi/4` (or a little more), `q` modulo 4.
pub(super) struct Quadrant {
    /// An integer of the float's size.
    pub(super) q: NodeId,
    pub(super) r: Pair,
}

impl Math<'_> {
    /// Of a finite `x` that is not negative.
    pub(super) fn quadrant(&mut self, x: NodeId) -> Quadrant {
        let limit = self.pick(FAR_SINGLE, FAR_DOUBLE);
        let limit = self.c(limit);
        let far = self.ge(x, limit);
        let near_by = self.few_quarters(x);
        let far_off = if self.is_double() { self.double_far(x) } else { self.single_far(x) };
        Quadrant { q: self.select(far, far_off.q, near_by.q), r: self.select_pair(far, far_off.r, near_by.r) }
    }

    fn few_quarters(&mut self, x: NodeId) -> Quadrant {
        let parts = self.pick(SINGLE, DOUBLE);
        let [first, second, third] = parts.map(|v| self.c(v));
        let Nearest { n, whole: q, .. } = self.nearest(x, FRAC_2_PI);
        // Exact: a multiple of the last place of pi/2, below 1.
        let rest = self.without(n, first, x);
        let p = self.product(n, second);
        let minus = self.neg(p.h);
        let r = self.two_sum(rest, minus);
        let low = self.fma(n, third, p.l);
        let l = self.sub(r.l, low);
        Quadrant { q, r: self.fast_sum(r.h, l) }
    }

    fn long(&mut self, value: u64) -> NodeId {
        self.graph.constant(Scalar::of(value))
    }

    fn short(&mut self, value: u32) -> NodeId {
        self.graph.constant(Scalar::of(value))
    }

    fn same_bits(&mut self, a: NodeId, dtype: DType) -> NodeId {
        self.graph.push(Op::Bits(a), dtype)
    }

    fn shifted(&mut self, op: Binary, a: NodeId, by: u64) -> NodeId {
        let by = self.long(by);
        self.graph.rounded(op, a, by)
    }

    /// `count` of `words` from `from` on: each bit of `from` selects between two runs.
    fn window(
        &mut self,
        words: &[NodeId],
        from: NodeId,
        count: usize,
        constant: &dyn Fn(u64) -> Scalar,
    ) -> Vec<NodeId> {
        let mut words = words.to_vec();
        let mut step = (words.len() - count + 1).next_power_of_two();
        let zero = self.graph.constant(constant(0));
        while step > 1 {
            step /= 2;
            let mask = self.graph.constant(constant(step as u64));
            let bit = self.and(from, mask);
            let set = self.ne(bit, zero);
            let kept = words.len().min(step + count - 1);
            let at = |i: usize| words.get(i).copied().unwrap_or(zero);
            words = (0..kept).map(|i| self.select(set, at(i + step), at(i))).collect();
        }
        words
    }

    /// An f64 that is not negative, far from 0. Its 53-bit significand times 192 bits of 2/pi, those of weight above 2
    /// quarters left out, which are whole turns.
    fn double_far(&mut self, x: NodeId) -> Quadrant {
        let bits = self.same_bits(x, DType::U64);
        let (mask, top) = (self.long((1 << 52) - 1), self.long(1 << 52));
        let m = self.and(bits, mask);
        let m = self.or(m, top);
        let exponent = self.shifted(Binary::Shr, bits, 52);
        // The significand counts in 2^(exponent - 1075); the bits of 2/pi start behind 64 zeros.
        let (start, sixty_three) = (self.long(1075 + 2 - 64), self.long(63));
        let start = self.sub(exponent, start);
        let word = self.shifted(Binary::Shr, start, 6);
        let by = self.and(start, sixty_three);
        let table = TWO_OVER_PI.map(|w| self.long(w));
        let words = self.window(&table, word, 4, &Scalar::of::<u64>);
        let rest = self.sub(sixty_three, by);
        let [v0, v1, v2] = [0, 1, 2].map(|i| {
            let high = self.shl(words[i], by);
            let low = self.shifted(Binary::Shr, words[i + 1], 1);
            let low = self.shr(low, rest);
            self.or(high, low)
        });

        let first = self.mul(m, v0);
        let (high, low) = (self.high_product(m, v1), self.mul(m, v1));
        let last = self.high_product(m, v2);
        let t1 = self.add(low, last);
        let carry = self.lt(t1, low);
        let carry = self.graph.cast(carry, DType::U64);
        let t0 = self.add(first, high);
        let t0 = self.add(t0, carry);

        let (q, rest) = self.quarters(t0);
        let mask = self.long(0xffff_ffff);
        let a1 = {
            let by = self.i(32);
            self.shr(rest, by)
        };
        let rest = self.same_bits(rest, DType::U64);
        let a2 = self.and(rest, mask);
        let b1 = self.shifted(Binary::Shr, t1, 32);
        let b2 = self.and(t1, mask);
        let mut part = |value: NodeId, weight: i32| {
            let value = self.float(value);
            self.times(value, 2f64.powi(weight))
        };
        let [a1, a2, b1, b2] = [part(a1, -30), part(a2, -62), part(b1, -94), part(b2, -126)];
        let low = self.add(b1, b2);
        let f = self.two_sum(a1, a2);
        let l = self.add(f.l, low);
        let f = self.fast_sum(f.h, l);
        Quadrant { q, r: self.of_quarters(f) }
    }

    /// A fraction of a quarter as an angle.
    fn of_quarters(&mut self, f: Pair) -> Pair {
        let half = self.pair(DOUBLE[0], DOUBLE[1]);
        let r = self.pair_product(f, half);
        self.normal(r)
    }

    /// As [`Math::double_far`], of an f32: 24 bits times 96.
    fn single_far(&mut self, x: NodeId) -> Quadrant {
        let bits = self.same_bits(x, DType::U32);
        let (mask, top, shift) = (self.short((1 << 23) - 1), self.short(1 << 23), self.short(23));
        let m = self.and(bits, mask);
        let m = self.or(m, top);
        let exponent = self.shr(bits, shift);
        let (start, five, thirty_one) = (self.short(150 + 2 - 32), self.short(5), self.short(31));
        let start = self.sub(exponent, start);
        let word = self.shr(start, five);
        let by = self.and(start, thirty_one);
        let table: Vec<NodeId> =
            TWO_OVER_PI.iter().flat_map(|w| [w >> 32, *w]).skip(1).take(9).map(|w| self.short(w as u32)).collect();
        let words = self.window(&table, word, 4, &|v| Scalar::of(v as u32));
        let (one, rest) = (self.short(1), self.sub(thirty_one, by));
        let m = self.graph.cast(m, DType::U64);
        let [p0, p1, p2] = [0, 1, 2].map(|i| {
            let high = self.shl(words[i], by);
            let low = self.shr(words[i + 1], one);
            let low = self.shr(low, rest);
            let v = self.or(high, low);
            let v = self.graph.cast(v, DType::U64);
            self.mul(m, v)
        });
        let p0 = self.shifted(Binary::Shl, p0, 32);
        let p2 = self.shifted(Binary::Shr, p2, 32);
        let t = self.add(p0, p1);
        let t = self.add(t, p2);
        let (q, rest) = self.quarters(t);
        // In parts of 24 bits, which are exact in f32; the first one has the sign.
        let mut part = |down: i64, mask: i64, weight: i32| {
            let [down, mask] = [down, mask].map(|v| self.graph.constant(Scalar::of(v)));
            let bits = self.shr(rest, down);
            let bits = self.and(bits, mask);
            let bits = self.graph.cast(bits, DType::I32);
            let value = self.float(bits);
            self.times(value, 2f64.powi(weight))
        };
        let [a, b, c] = [part(40, -1, -22), part(16, 0xff_ffff, -46), part(0, 0xffff, -62)];
        let f = self.two_sum(a, b);
        let l = self.add(f.l, c);
        let f = self.fast_sum(f.h, l);
        Quadrant { q, r: self.of_quarters(f) }
    }

    /// Of a fraction of a turn in 2^-64: the nearest quarter, and what remains, an `i64` in 2^-62 quarters.
    fn quarters(&mut self, t: NodeId) -> (NodeId, NodeId) {
        let half = self.long(1 << 61);
        let q = self.add(t, half);
        let q = self.shifted(Binary::Shr, q, 62);
        let whole = self.shifted(Binary::Shl, q, 62);
        let rest = self.sub(t, whole);
        let rest = self.same_bits(rest, DType::I64);
        (self.whole(q), rest)
    }

    /// The upper 64 bits of the product of a 53-bit and a 64-bit integer, from 32-bit halves.
    fn high_product(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let mask = self.long(0xffff_ffff);
        let (a1, a0) = (self.shifted(Binary::Shr, a, 32), self.and(a, mask));
        let (b1, b0) = (self.shifted(Binary::Shr, b, 32), self.and(b, mask));
        let (low, cross) = (self.mul(a0, b0), self.mul(a0, b1));
        let (other, high) = (self.mul(a1, b0), self.mul(a1, b1));
        let middle = self.shifted(Binary::Shr, low, 32);
        let part = self.and(cross, mask);
        let middle = self.add(middle, part);
        let middle = self.add(middle, other);
        let middle = self.shifted(Binary::Shr, middle, 32);
        let upper = self.shifted(Binary::Shr, cross, 32);
        let high = self.add(high, upper);
        self.add(high, middle)
    }
}
