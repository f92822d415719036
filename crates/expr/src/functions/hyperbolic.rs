//! The functions of the hyperbola. With `x = n ln 2 + r`, `sinh x = 2^n (A cosh r + B sinh r)` and
//! `cosh x = 2^n (B cosh r + A sinh r)`, where `A, B = (1 -+ 2^(-2n)) / 2`: nothing cancels, and `n = 0` leaves `sinh r`.

use super::coefficients::{COSH_DOUBLE, COSH_SINGLE, SINH_DOUBLE, SINH_SINGLE};
use super::exponential::Reduced;
use super::math::{Math, Pair};
use crate::graph::NodeId;

/// `2^n` times these are the functions of `|x|`.
struct Branches {
    n: NodeId,
    sine: Pair,
    cosine: Pair,
}

impl Math<'_> {
    /// Of an `x` that is not negative and within the format's range.
    fn branches(&mut self, x: NodeId) -> Branches {
        let Reduced { n, r, .. } = self.reduce_by_ln2(x);
        let (most, one) = (self.pick(60, 500), self.i(1));
        let most = self.i(most);
        let limited = self.min(n, most);
        let twice = self.add(limited, limited);
        let minus = self.neg(twice);
        let minus = self.sub(minus, one);
        let (unit, half) = (self.power_of_two(minus), self.c(0.5));
        let opposite = self.neg(unit);
        let (a, b) = (self.fast_sum(half, opposite), self.fast_sum(half, unit));

        let z = self.mul(r.h, r.h);
        let p = self.polynomial(z, &SINH_SINGLE, &SINH_DOUBLE);
        let cube = self.mul(z, r.h);
        let s = self.fma(cube, p, r.l);
        let p = self.polynomial(z, &COSH_SINGLE, &COSH_DOUBLE);
        let c = self.fma(z, p, half);
        let c = self.mul(c, z);
        let c = self.fma(r.h, r.l, c);
        let combined = |m: &mut Self, even: Pair, odd: Pair| {
            let p = m.product(odd.h, r.h);
            let sum = m.two_sum(even.h, p.h);
            let low = m.add(even.l, p.l);
            let low = m.fma(odd.l, r.h, low);
            let low = m.fma(odd.h, s, low);
            let low = m.fma(even.h, c, low);
            let sum = m.plus(sum, low);
            m.normal(sum)
        };
        let (sine, cosine) = (combined(self, a, b), combined(self, b, a));
        Branches { n, sine, cosine }
    }

    fn within_range(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let most = self.c(self.format.range.1);
        self.min(size, most)
    }

    pub(super) fn sinh(&mut self, x: NodeId) -> NodeId {
        let size = self.within_range(x);
        let Branches { n, sine, .. } = self.branches(size);
        let value = self.sum(sine);
        let value = self.scale(value, n);
        self.signed(x, value)
    }

    pub(super) fn cosh(&mut self, x: NodeId) -> NodeId {
        let size = self.within_range(x);
        let Branches { n, cosine, .. } = self.branches(size);
        let value = self.sum(cosine);
        self.scale(value, n)
    }

    pub(super) fn tanh(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        // Beyond, 1 to the last bit.
        let most = self.c(22.0);
        let size = self.min(size, most);
        let Branches { sine, cosine, .. } = self.branches(size);
        let value = self.ratio(sine, cosine);
        let value = self.sum(value);
        self.signed(x, value)
    }

    /// `ln(1 + w)`, or where `x` is large, `ln x + ln 2`.
    fn log_or_far(&mut self, x: NodeId, w: Pair) -> NodeId {
        let far = self.c(2f64.powi(30));
        let far = self.gt(x, far);
        let one = self.c(1.0);
        let u = self.two_sum(one, w.h);
        let u = self.plus(u, w.l);
        let zero = self.c(0.0);
        let alone = Pair { h: x, l: zero };
        let u = self.select_pair(far, alone, u);
        let log = self.log_of_pair(u);
        let ln2 = self.pair(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
        let none = Pair { h: zero, l: zero };
        let extra = self.select_pair(far, ln2, none);
        let sum = self.two_sum(log.h, extra.h);
        let low = self.add(log.l, extra.l);
        let sum = self.plus(sum, low);
        self.sum(sum)
    }

    /// `ln(1 + x + x^2 / (1 + sqrt(1 + x^2)))`.
    pub(super) fn asinh(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let (near, one) = (self.c(2f64.powi(31)), self.c(1.0));
        let limited = self.min(size, near);
        let square = self.product(limited, limited);
        let under = self.two_sum(square.h, one);
        let under = self.plus(under, square.l);
        let under = self.normal(under);
        let root = self.root(under);
        let below = self.two_sum(root.h, one);
        let below = self.plus(below, root.l);
        let part = self.ratio(square, below);
        let w = self.two_sum(limited, part.h);
        let w = self.plus(w, part.l);
        let w = self.normal(w);
        let value = self.log_or_far(size, w);
        let tiny = self.pick(2f64.powi(-14), 2f64.powi(-28));
        let tiny = self.c(tiny);
        let small = self.lt(size, tiny);
        let value = self.select(small, size, value);
        let below = self.below_infinity(size);
        let value = self.select(below, value, size);
        self.signed(x, value)
    }

    /// `ln(1 + t + sqrt(t (t + 2)))`, `t = x - 1`.
    pub(super) fn acosh(&mut self, x: NodeId) -> NodeId {
        let (near, one, two) = (self.c(2f64.powi(31)), self.c(1.0), self.c(2.0));
        let limited = self.min(x, near);
        let t = self.sub(limited, one);
        let more = self.two_sum(t, two);
        let t_pair = self.alone(t);
        let under = self.pair_product(t_pair, more);
        let under = self.normal(under);
        let root = self.root(under);
        let w = self.two_sum(t, root.h);
        let w = self.plus(w, root.l);
        let w = self.normal(w);
        let value = self.log_or_far(x, w);
        let (below, legal) = (self.below_infinity(x), self.ge(x, one));
        let infinity = self.infinity();
        let value = self.select(below, value, infinity);
        let nan = self.nan();
        self.select(legal, value, nan)
    }

    /// `ln(1 + 2 x / (1 - x)) / 2`.
    pub(super) fn atanh(&mut self, x: NodeId) -> NodeId {
        let (size, one) = (self.abs(x), self.c(1.0));
        let minus = self.neg(size);
        let under = self.fast_sum(one, minus);
        let twice = self.add(size, size);
        let twice = self.alone(twice);
        let w = self.ratio(twice, under);
        let w = self.normal(w);
        let log = self.log_above_one(w);
        let value = self.sum(log);
        let value = self.times(value, 0.5);
        let tiny = self.pick(2f64.powi(-14), 2f64.powi(-28));
        let tiny = self.c(tiny);
        let small = self.lt(size, tiny);
        let value = self.select(small, size, value);
        let (inside, end) = (self.lt(size, one), self.eq(size, one));
        let (infinity, nan) = (self.infinity(), self.nan());
        let limit = self.select(end, infinity, nan);
        let value = self.select(inside, value, limit);
        self.signed(x, value)
    }
}
