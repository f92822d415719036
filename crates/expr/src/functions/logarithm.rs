//! Logarithms: `x = 2^e m` with `m` between the square roots of 1/2 and 2, `ln m = 2 artanh((m - 1) / (m + 1))`, all of it as
//! sums of two floats.

use super::coefficients::{LOG_DOUBLE, LOG_SINGLE};
use super::math::{Math, Pair};
use crate::graph::NodeId;
use std::f64::consts::FRAC_1_SQRT_2;

/// `ln x = e ln 2 + m`.
#[derive(Clone, Copy)]
struct Parts {
    e: NodeId,
    m: Pair,
}

/// `x = 2^e (1 + s) / (1 - s)`.
struct Split {
    e: NodeId,
    s: Pair,
}

impl Math<'_> {
    /// Of a positive `x`.
    fn split(&mut self, x: NodeId) -> Split {
        let bits = self.format.mantissa as i32 + 1;
        let (least, lift) = self.pick((f64::from(f32::MIN_POSITIVE), 24.0), (f64::MIN_POSITIVE, 53.0));
        let least = self.c(least);
        let small = self.lt(x, least);
        let lifted = self.times(x, 2f64.powi(bits));
        let x = self.select(small, lifted, x);
        let (lift, zero) = (self.c(-lift), self.c(0.0));
        let lift = self.select(small, lift, zero);

        let root = self.c(FRAC_1_SQRT_2);
        let (root, shift) = (self.bits(root), self.i(self.format.mantissa));
        let bits = self.bits(x);
        let above = self.sub(bits, root);
        let e = self.shr(above, shift);
        let exponent = self.shl(e, shift);
        let m = self.sub(bits, exponent);
        let m = self.of_bits(m);
        let e = self.float(e);
        let e = self.add(e, lift);

        let one = self.c(1.0);
        let f = self.sub(m, one);
        let d = self.add(m, one);
        let low = self.sub(d, one);
        let d = Pair { h: d, l: self.sub(m, low) };
        let f = self.alone(f);
        Split { e, s: self.ratio(f, d) }
    }

    /// To some 8 bits more than the format has.
    fn parts(&mut self, x: NodeId) -> Parts {
        let Split { e, s } = self.split(x);
        let z = self.mul(s.h, s.h);
        let p = self.polynomial(z, &LOG_SINGLE, &LOG_DOUBLE);
        let third = self.c(2.0 / 3.0);
        let p = self.fma(z, p, third);
        let cube = self.mul(s.h, z);
        let twice = self.add(s.l, s.l);
        let l = self.fma(cube, p, twice);
        let h = self.add(s.h, s.h);
        Parts { e, m: self.fast_sum(h, l) }
    }

    /// To some 11 bits more than the format has: the second term of the series is a pair too.
    fn long_parts(&mut self, x: NodeId) -> Parts {
        let Split { e, s } = self.split(x);
        let s = self.normal(s);
        let z = self.pair_product(s, s);
        let cube = self.pair_product(s, z);
        let third = self.pair(2.0 / 3.0, 3.700_743_415_417_188e-17);
        let second = self.pair_product(cube, third);
        let p = self.polynomial(z.h, &LOG_SINGLE, &LOG_DOUBLE);
        let rest = self.mul(cube.h, z.h);
        let rest = self.mul(rest, p);
        let (h, twice) = (self.add(s.h, s.h), self.add(s.l, s.l));
        let sum = self.fast_sum(h, second.h);
        let low = self.add(second.l, rest);
        let low = self.add(low, twice);
        let sum = self.plus(sum, low);
        Parts { e, m: self.normal(sum) }
    }

    fn joined(&mut self, Parts { e, m }: Parts) -> Pair {
        let (high, low) = self.format.ln2;
        let (high, low) = (self.c(high), self.c(low));
        let whole = self.mul(e, high);
        let sum = self.fast_sum(whole, m.h);
        let low = self.fma(e, low, m.l);
        let sum = self.plus(sum, low);
        self.normal(sum)
    }

    /// The logarithm of a positive, finite `x`.
    pub(super) fn log_pair(&mut self, x: NodeId) -> Pair {
        let parts = self.parts(x);
        self.joined(parts)
    }

    /// As [`Math::log_pair`], accurate enough to be multiplied by any exponent.
    pub(super) fn long_log_pair(&mut self, x: NodeId) -> Pair {
        let parts = self.long_parts(x);
        self.joined(parts)
    }

    /// `value` for positive finite `x`, else the logarithm's limit: infinities, or NaN.
    pub(super) fn log_limits(&mut self, x: NodeId, value: NodeId) -> NodeId {
        let (zero, infinity, nan) = (self.c(0.0), self.infinity(), self.nan());
        let positive = self.gt(x, zero);
        let ordinary = self.below_infinity(x);
        let ordinary = self.and(positive, ordinary);
        let none = self.eq(x, zero);
        let other = self.select(positive, infinity, nan);
        let minus = self.neg(infinity);
        let other = self.select(none, minus, other);
        self.select(ordinary, value, other)
    }

    pub(super) fn ln(&mut self, x: NodeId) -> NodeId {
        let log = self.log_pair(x);
        let value = self.sum(log);
        self.log_limits(x, value)
    }

    pub(super) fn log2(&mut self, x: NodeId) -> NodeId {
        let Parts { e, m } = self.parts(x);
        let unit = self.pair(std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);
        let m = self.pair_product(m, unit);
        let sum = self.fast_sum(e, m.h);
        let sum = self.plus(sum, m.l);
        let value = self.sum(sum);
        self.log_limits(x, value)
    }

    pub(super) fn log10(&mut self, x: NodeId) -> NodeId {
        let log = self.log_pair(x);
        let unit = self.pair(std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);
        let log = self.pair_product(log, unit);
        let value = self.sum(log);
        self.log_limits(x, value)
    }

    /// `ln(x.h + x.l)` of a positive, finite `x`: that of the first part, and the second's share.
    pub(super) fn log_of_pair(&mut self, x: Pair) -> Pair {
        let log = self.log_pair(x.h);
        let share = self.div(x.l, x.h);
        let sum = self.two_sum(log.h, share);
        self.plus(sum, log.l)
    }

    /// `ln(1 + x)` of `x.h > -1`, finite.
    pub(super) fn log_above_one(&mut self, x: Pair) -> Pair {
        let one = self.c(1.0);
        let u = self.two_sum(one, x.h);
        let u = self.plus(u, x.l);
        self.log_of_pair(u)
    }

    pub(super) fn ln_1p(&mut self, x: NodeId) -> NodeId {
        let one = self.c(1.0);
        let alone = self.alone(x);
        let log = self.log_above_one(alone);
        let value = self.sum(log);
        let u = self.add(one, x);
        let value = self.log_limits(u, value);
        // Keeps the sign of 0, and what is too small to matter to 1.
        let size = self.abs(x);
        let tiny = self.pick(2f64.powi(-30), 2f64.powi(-60));
        let tiny = self.c(tiny);
        let small = self.lt(size, tiny);
        self.select(small, x, value)
    }
}
