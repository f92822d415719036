//! The logistic function and what networks make of it. Of `e^(-|x|)`, which never overflows.

use super::exponential::Power;
use super::math::{Math, Pair};
use crate::graph::NodeId;

impl Math<'_> {
    /// `e^(-|x|) = 2^n v`: `n` and `v`.
    fn decay(&mut self, x: Pair) -> (NodeId, Pair) {
        let negative = self.negative(x.h);
        let minus = self.opposite(x);
        let x = self.select_pair(negative, x, minus);
        let power = self.exponential(x);
        let Power { n, .. } = power;
        let v = self.significand(power);
        (n, self.normal(v))
    }

    /// `1 / (1 + e^-x) = 2^n v`: `n` and `v`. Of what is below the normal numbers, `v` still has all digits.
    fn logistic(&mut self, x: Pair) -> (NodeId, Pair) {
        let (n, e) = self.decay(x);
        let (one, zero) = (self.c(1.0), self.i(0));
        let scaled = Pair { h: self.scale(e.h, n), l: self.scale(e.l, n) };
        let under = self.fast_sum(one, scaled.h);
        let under = self.plus(under, scaled.l);
        let one = self.alone(one);
        let negative = self.negative(x.h);
        let over = self.select_pair(negative, e, one);
        (self.select(negative, n, zero), self.ratio(over, under))
    }

    pub(super) fn sigmoid(&mut self, x: NodeId) -> NodeId {
        let alone = self.alone(x);
        let (n, value) = self.logistic(alone);
        let value = self.sum(value);
        self.scale(value, n)
    }

    /// `x 2^n v`, with `x` limited so that the second part stays finite.
    fn weighted(&mut self, x: NodeId, limited: NodeId, (n, v): (NodeId, Pair)) -> NodeId {
        let low = self.mul(limited, v.l);
        let value = self.fma(x, v.h, low);
        self.scale(value, n)
    }

    pub(super) fn silu(&mut self, x: NodeId) -> NodeId {
        // Below, e^x is 0.
        let end = self.pick(120.0, 760.0);
        let (least, most) = (self.c(-end), self.c(end));
        let x = self.max(x, least);
        let limited = self.min(x, most);
        let alone = self.alone(limited);
        let weight = self.logistic(alone);
        self.weighted(x, limited, weight)
    }

    /// `x logistic(2 sqrt(2/pi) (x + 0.044715 x^3))`.
    pub(super) fn gelu_tanh(&mut self, x: NodeId) -> NodeId {
        // Beyond, 0 and `x`.
        let end = self.pick(15.0, 30.0);
        let (least, most) = (self.c(-end), self.c(end));
        let x = self.max(x, least);
        let limited = self.min(x, most);
        let square = self.product(limited, limited);
        let linear = self.pair(1.595_769_121_605_730_8, -9.969_308_809_110_92e-17);
        let cubic = self.pair(0.071_354_816_272_600_25, -6.175_149_918_155_315e-19);
        let p = self.pair_product(square, cubic);
        let sum = self.two_sum(linear.h, p.h);
        let low = self.add(linear.l, p.l);
        let sum = self.plus(sum, low);
        let alone = self.alone(limited);
        let w = self.pair_product(sum, alone);
        let w = self.normal(w);
        let weight = self.logistic(w);
        self.weighted(x, limited, weight)
    }

    /// `max(x, 0) + ln(1 + e^(-|x|))`.
    pub(super) fn softplus(&mut self, x: NodeId) -> NodeId {
        let zero = self.c(0.0);
        let alone = self.alone(x);
        let (n, v) = self.decay(alone);
        let e = Pair { h: self.scale(v.h, n), l: self.scale(v.l, n) };
        let log = self.log_above_one(e);
        let part = self.max(x, zero);
        let sum = self.two_sum(part, log.h);
        let value = self.plus(sum, log.l);
        let value = self.sum(value);
        // Two terms of the series, where e^x is far below 1.
        let half = self.times(e.h, -0.5);
        let second = self.fma(half, e.h, e.l);
        let series = self.add(e.h, second);
        let least = self.pick(-12.0, -25.0);
        let least = self.c(least);
        let far = self.lt(x, least);
        let value = self.select(far, series, value);
        let below = self.below_infinity(x);
        self.select(below, value, x)
    }
}
