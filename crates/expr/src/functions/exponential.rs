//! Powers of e, 2 and 10: `x = n ln 2 + r`, a polynomial in `r`, and `2^n` in two steps of which only the second may round.

use super::coefficients::{EXP_DOUBLE, EXP_SINGLE};
use super::math::{Math, Nearest, Pair};
use crate::graph::NodeId;
use std::f64::consts::{LN_2, LOG2_10, LOG2_E};

/// `e^x = 2^n (1 + r + t)`, `|r| <= ln 2 / 2`, `t` of the order of `r^2`.
#[derive(Clone, Copy)]
pub(super) struct Power {
    /// An integer.
    pub(super) n: NodeId,
    pub(super) r: NodeId,
    pub(super) t: NodeId,
}

/// `x = n ln 2 + r.h + r.l`.
pub(super) struct Reduced {
    pub(super) n: NodeId,
    /// An integer whose lowest bits are those of `n`.
    ends: NodeId,
    pub(super) r: Pair,
}

impl Math<'_> {
    /// `x` in units of ln 2. It has to be within the format's range.
    pub(super) fn reduce_by_ln2(&mut self, x: NodeId) -> Reduced {
        let Nearest { n, whole, ends } = self.nearest(x, LOG2_E);
        let (high, low) = self.format.ln2;
        let (high, low) = (self.c(-high), self.c(-low));
        let first = self.fma(n, high, x);
        let h = self.fma(n, low, first);
        let rest = self.sub(first, h);
        let l = self.fma(n, low, rest);
        Reduced { n: whole, ends, r: Pair { h, l } }
    }

    fn power(&mut self, n: NodeId, r: Pair) -> Power {
        let q = self.polynomial(r.h, &EXP_SINGLE, &EXP_DOUBLE);
        let square = self.mul(r.h, r.h);
        let low = self.fma(r.l, r.h, r.l);
        Power { n, r: r.h, t: self.fma(square, q, low) }
    }

    /// `e^(x.h + x.l)`; beyond the format's range, as at its ends.
    pub(super) fn exponential(&mut self, x: Pair) -> Power {
        let (low, high) = self.format.range;
        let h = self.clamp(x.h, low, high);
        let inside = self.eq(h, x.h);
        let zero = self.c(0.0);
        let l = self.select(inside, x.l, zero);
        let Reduced { n, r, .. } = self.reduce_by_ln2(h);
        let r = self.plus(r, l);
        let r = self.normal(r);
        self.power(n, r)
    }

    /// `1 + r + t`.
    pub(super) fn significand(&mut self, p: Power) -> Pair {
        let one = self.c(1.0);
        let sum = self.fast_sum(one, p.r);
        self.plus(sum, p.t)
    }

    fn scaled(&mut self, p: Power) -> NodeId {
        let sum = self.significand(p);
        let sum = self.sum(sum);
        self.scale(sum, p.n)
    }

    pub(super) fn exp(&mut self, x: NodeId) -> NodeId {
        let (low, high) = self.format.range;
        let x = self.clamp(x, low, high);
        let reduced = self.reduce_by_ln2(x);
        if !self.is_double() {
            let sum = self.sum_in_single(reduced.r);
            // What stands above n in these bits is shifted out.
            return self.scale(sum, reduced.ends);
        }
        let p = self.power(reduced.n, reduced.r);
        self.scaled(p)
    }

    /// `1 + (r + r^2 q)` without what rounding took from `r`: still within a unit in the last place, in two thirds of the
    /// operations.
    fn sum_in_single(&mut self, r: Pair) -> NodeId {
        let q = self.polynomial(r.h, &EXP_SINGLE, &EXP_DOUBLE);
        let square = self.mul(r.h, r.h);
        let (one, rest) = (self.c(1.0), self.fma(square, q, r.h));
        self.add(one, rest)
    }

    /// `e^x` of what is not positive, with the power of two in one step: 0 below 0.7 of the smallest normal number.
    pub(super) fn exp_of_negative(&mut self, x: NodeId) -> NodeId {
        // There the power's exponent is the one of 0.
        let low = self.pick(-88.0, -709.1);
        let low = self.c(low);
        let x = self.max(x, low);
        let Reduced { n, ends, r } = self.reduce_by_ln2(x);
        let (sum, n) = if self.is_double() {
            let power = self.power(n, r);
            let sum = self.significand(power);
            (self.sum(sum), n)
        } else {
            (self.sum_in_single(r), ends)
        };
        let power = self.power_of_two(n);
        self.mul(sum, power)
    }

    /// `e^(x.h + x.l)`, rounded.
    pub(super) fn exp_of_pair(&mut self, x: Pair) -> NodeId {
        let p = self.exponential(x);
        self.scaled(p)
    }

    pub(super) fn exp2(&mut self, x: NodeId) -> NodeId {
        let (low, high) = self.format.range;
        let x = self.clamp(x, low * LOG2_E, high * LOG2_E);
        let Nearest { n, whole, .. } = self.nearest(x, 1.0);
        let r = self.sub(x, n);
        let ln2 = self.pair(LN_2, 2.319_046_813_846_299_6e-17);
        let p = self.product(r, ln2.h);
        let l = self.fma(r, ln2.l, p.l);
        let p = self.power(whole, Pair { h: p.h, l });
        self.scaled(p)
    }

    pub(super) fn exp10(&mut self, x: NodeId) -> NodeId {
        let (low, high) = self.format.range;
        let x = self.clamp(x, low / LOG2_10 * LOG2_E, high / LOG2_10 * LOG2_E);
        let Nearest { n, whole, .. } = self.nearest(x, LOG2_10);
        // log10 2 in two parts, of which multiples of the first are exact.
        let (high, low) = self.pick(
            (0.301_025_390_625, 4.605_038_981_195_214e-6),
            (0.301_029_995_549_470_2, 1.145_110_089_802_183_8e-10),
        );
        let (high, low) = (self.c(-high), self.c(-low));
        let first = self.fma(n, high, x);
        let h = self.fma(n, low, first);
        let rest = self.sub(first, h);
        let l = self.fma(n, low, rest);
        let ln10 = self.pair(std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
        let r = self.pair_product(Pair { h, l }, ln10);
        let p = self.power(whole, r);
        self.scaled(p)
    }

    /// `e^x - 1`: as `2^n ((1 - 2^-n) + r + t)`, which is `r + t` for small `x`.
    pub(super) fn exp_m1(&mut self, x: NodeId) -> NodeId {
        // Below -40, -1; and 2^-n has to be a normal number.
        let clamped = self.clamp(x, -40.0, self.format.range.1);
        let reduced = self.reduce_by_ln2(clamped);
        let Power { n, r, t } = self.power(reduced.n, reduced.r);
        // Beyond 100, 1 counts for nothing.
        let (zero, most) = (self.i(0), self.i(100));
        let limited = self.min(n, most);
        let minus = self.sub(zero, limited);
        let (one, unit) = (self.c(1.0), self.power_of_two(minus));
        let unit = self.neg(unit);
        let start = self.two_sum(one, unit);
        let sum = self.two_sum(start.h, r);
        let low = self.add(start.l, t);
        let sum = self.plus(sum, low);
        let sum = self.sum(sum);
        let result = self.scale(sum, n);
        // Keeps the sign of 0.
        let zero = self.c(0.0);
        let nothing = self.eq(x, zero);
        self.select(nothing, x, result)
    }
}
