//! The error function and what is made of it. Near 0, `erf x = x (1 + E(x^2))`; beyond 1/2,
//! `erfc x = e^(-x^2) P((x - k) / (x + k)) / (1 + 2 x)`, whose polynomial holds for all of the range (after Shepherd and
//! Laframboise, Math. Comp. 36, 1981).

use super::coefficients::{ERF_DOUBLE, ERF_SINGLE, TAIL_DOUBLE, TAIL_DOUBLE_LOW, TAIL_SINGLE};
use super::exponential::Power;
use super::math::{Math, Pair};
use crate::graph::NodeId;

/// `2^n v`.
struct Tail {
    n: NodeId,
    v: Pair,
}

impl Math<'_> {
    /// From here on erfc is 0; the square is within what the exponential is made for.
    fn last(&self) -> f64 {
        self.pick(11.0, 28.0)
    }

    /// `erfc u`, with `u^2` given. `1/2 <= u.h <= last`.
    fn tail(&mut self, u: Pair, square: Pair) -> Tail {
        let minus = self.opposite(square);
        let power = self.exponential(minus);
        let one = self.c(1.0);
        let k = self.pick(2.0, 3.0);
        let k = self.c(k);
        let twice = self.add(u.h, u.h);
        let under = self.two_sum(twice, one);
        let low = self.add(u.l, u.l);
        let under = self.plus(under, low);
        let (less, more) = (self.sub(u.h, k), self.add(u.h, k));
        // One division for both quotients.
        let both = self.mul(under.h, more);
        let inverse = self.div(one, both);
        let inverse_more = self.mul(inverse, under.h);
        let t = self.mul(less, inverse_more);
        let rest = self.without(t, more, less);
        let t = self.fma(rest, inverse_more, t);
        let inverse = self.mul(inverse, more);
        let rest = self.polynomial(t, &TAIL_SINGLE[1..], &TAIL_DOUBLE[1..]);
        let first = self.pick((TAIL_SINGLE[0], 0.0), (TAIL_DOUBLE[0], TAIL_DOUBLE_LOW));
        let first = self.pair(first.0, first.1);
        let p = self.product(rest, t);
        let sum = self.fast_sum(first.h, p.h);
        let low = self.add(first.l, p.l);
        let sum = self.plus(sum, low);
        let w = self.quotient(sum, under, inverse);
        let Power { n, .. } = power;
        let e = self.significand(power);
        let v = self.pair_product(e, w);
        Tail { n, v: self.normal(v) }
    }

    /// `x E(x^2)`.
    fn near(&mut self, x: NodeId) -> NodeId {
        let z = self.mul(x, x);
        let p = self.polynomial(z, &ERF_SINGLE, &ERF_DOUBLE);
        self.mul(x, p)
    }

    /// `2 - 2^n v` over 2, or what is on the other side: `2^n v` over 2.
    fn halves(&mut self, tail: &Tail) -> (Pair, NodeId) {
        let one = self.i(1);
        let n = self.sub(tail.n, one);
        let scaled = self.scale(tail.v.h, n);
        let one = self.c(1.0);
        let minus = self.neg(scaled);
        let sum = self.fast_sum(one, minus);
        let low = self.scale(tail.v.l, n);
        let low = self.neg(low);
        (self.plus(sum, low), n)
    }

    pub(super) fn erf(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let (last, half) = (self.c(self.last()), self.c(0.5));
        let u = self.min(size, last);
        let square = self.product(u, u);
        let alone = self.alone(u);
        let tail = self.tail(alone, square);
        let scaled = self.scale(tail.v.h, tail.n);
        let one = self.c(1.0);
        let minus = self.neg(scaled);
        let sum = self.fast_sum(one, minus);
        let low = self.scale(tail.v.l, tail.n);
        let low = self.sub(sum.l, low);
        let far = self.add(sum.h, low);
        let near = self.near(size);
        let near = self.add(size, near);
        let small = self.lt(size, half);
        let value = self.select(small, near, far);
        self.signed(x, value)
    }

    pub(super) fn erfc(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let (last, half, one) = (self.c(self.last()), self.c(0.5), self.c(1.0));
        let u = self.min(size, last);
        let square = self.product(u, u);
        let alone = self.alone(u);
        let tail = self.tail(alone, square);
        let sum = self.sum(tail.v);
        let right = self.scale(sum, tail.n);
        let (left, _) = self.halves(&tail);
        let left = self.sum(left);
        let left = self.add(left, left);
        let negative = self.negative(x);
        let far = self.select(negative, left, right);

        let minus = self.neg(x);
        let start = self.fast_sum(one, minus);
        let near = self.near(x);
        let low = self.sub(start.l, near);
        let near = self.add(start.h, low);
        let small = self.lt(size, half);
        self.select(small, near, far)
    }

    /// `x erfc(-x / sqrt 2) / 2`.
    pub(super) fn gelu(&mut self, x: NodeId) -> NodeId {
        // Below, 0; the square root of 2 times `last` would do.
        let least = self.pick(-15.0, -39.5);
        let low_end = self.c(least);
        let x = self.max(x, low_end);
        let size = self.abs(x);
        let most = self.c(-least);
        let limited = self.min(size, most);
        let root = self.pair(std::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);
        let u = self.product(limited, root.h);
        let l = self.fma(limited, root.l, u.l);
        let u = Pair { h: u.h, l };
        let half_size = self.times(limited, 0.5);
        let square = self.product(half_size, limited);
        let tail = self.tail(u, square);
        let (right, n) = self.halves(&tail);
        let p = self.mul(limited, right.l);
        let right = self.fma(x, right.h, p);
        let p = self.mul(x, tail.v.l);
        let left = self.fma(x, tail.v.h, p);
        let left = self.scale(left, n);
        let negative = self.negative(x);
        let far = self.select(negative, left, right);

        let low = self.near(u.h);
        let low = self.add(low, u.l);
        let [high, low] = [u.h, low].map(|v| self.signed(x, v));
        let one = self.c(1.0);
        let twice = self.fast_sum(one, high);
        let low = self.add(twice.l, low);
        let half_size = self.times(limited, 0.5);
        let low = self.mul(half_size, low);
        let near = self.fma(half_size, twice.h, low);
        let near = self.signed(x, near);
        let half = self.c(0.5);
        let small = self.lt(u.h, half);
        self.select(small, near, far)
    }
}
