//! The inverse functions of the circle, all of them the angle of a point: of the tangent's two sides, the shorter over the
//! longer, and above tan(pi/8) the same turned back by pi/4. One division.

use super::coefficients::{ATAN_DOUBLE, ATAN_SINGLE};
use super::math::{Math, Pair};
use crate::graph::NodeId;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// pi/2 less its nearest f64.
const BELOW: f64 = 6.123_233_995_736_766e-17;

impl Math<'_> {
    /// The angle of the point (`x`, `y`) of the first quadrant; neither is near the ends of the range of exponents, not both
    /// are 0.
    fn angle(&mut self, y: Pair, x: Pair) -> Pair {
        let steep = self.gt(y.h, x.h);
        let (a, b) = (self.select_pair(steep, x, y), self.select_pair(steep, y, x));
        let limit = self.times(b.h, std::f64::consts::SQRT_2 - 1.0);
        let wide = self.gt(a.h, limit);
        let minus = self.neg(b.h);
        let (less, more) = (self.two_sum(a.h, minus), self.fast_sum(b.h, a.h));
        let (l, m) = (self.sub(a.l, b.l), self.add(a.l, b.l));
        let (less, more) = (self.plus(less, l), self.plus(more, m));
        let (over, under) = (self.select_pair(wide, less, a), self.select_pair(wide, more, b));
        let t = self.ratio(over, under);

        let z = self.mul(t.h, t.h);
        let p = self.polynomial(z, &ATAN_SINGLE, &ATAN_DOUBLE);
        let low = self.without(t.l, z, t.l);
        let cube = self.mul(z, t.h);
        let low = self.fma(cube, p, low);
        let (eighth, zero) = (self.pair(FRAC_PI_4, BELOW / 2.0), self.c(0.0));
        let none = Pair { h: zero, l: zero };
        let base = self.select_pair(wide, eighth, none);
        let sum = self.fast_sum(base.h, t.h);
        let low = self.add(low, base.l);
        let arc = self.plus(sum, low);

        let quarter = self.pair(FRAC_PI_2, BELOW);
        let turned = self.turned(quarter, arc);
        self.select_pair(steep, turned, arc)
    }

    /// `from - arc`.
    fn turned(&mut self, from: Pair, arc: Pair) -> Pair {
        let arc = self.opposite(arc);
        let sum = self.fast_sum(from.h, arc.h);
        let low = self.add(from.l, arc.l);
        self.plus(sum, low)
    }

    /// `arc`, or the half turn less it where `x` is negative.
    fn mirrored(&mut self, x: NodeId, arc: Pair) -> NodeId {
        let half = self.pair(PI, 2.0 * BELOW);
        let other = self.turned(half, arc);
        let negative = self.negative(x);
        let arc = self.select_pair(negative, other, arc);
        self.sum(arc)
    }

    pub(super) fn atan(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        // Beyond, the quarter turn to the last bit; below, no power of two in the way.
        let most = self.c(2f64.powi(100));
        let size = self.min(size, most);
        let one = self.c(1.0);
        let (y, x_side) = (self.alone(size), self.alone(one));
        let arc = self.angle(y, x_side);
        let arc = self.sum(arc);
        self.signed(x, arc)
    }

    pub(super) fn atan2(&mut self, y: NodeId, x: NodeId) -> NodeId {
        let (up, right) = (self.abs(y), self.abs(x));
        let longer = self.max(up, right);
        // Far from the ends of the range of exponents, neither reciprocals nor remainders lose digits.
        let (high, down, raise) = self.pick((60, -40, 60), (900, -300, 100));
        let [high, down, raise, one, zero] =
            [2f64.powi(high), 2f64.powi(down), 2f64.powi(raise), 1.0, 0.0].map(|v| self.c(v));
        let long = self.gt(longer, high);
        let factor = self.select(long, down, raise);
        let infinity = self.infinity();
        let endless = self.eq(longer, infinity);
        let side = |m: &mut Self, v: NodeId| {
            let scaled = m.mul(v, factor);
            let there = m.eq(v, infinity);
            let limit = m.select(there, one, zero);
            m.select(endless, limit, scaled)
        };
        let (up, right) = (side(self, up), side(self, right));
        // The origin counts as a point of the axis, where the angle is 0.
        let nowhere = self.eq(longer, zero);
        let right = self.select(nowhere, one, right);
        let (up, right) = (self.alone(up), self.alone(right));
        let arc = self.angle(up, right);
        let arc = self.mirrored(x, arc);
        self.signed(y, arc)
    }

    /// The other side of a right triangle with hypotenuse 1.
    fn other_side(&mut self, x: NodeId) -> Pair {
        let one = self.c(1.0);
        let square = self.product(x, x);
        let minus = self.neg(square.h);
        let rest = self.fast_sum(one, minus);
        let low = self.neg(square.l);
        let rest = self.plus(rest, low);
        let rest = self.normal(rest);
        self.root(rest)
    }

    pub(super) fn asin(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let (y, other) = (self.alone(size), self.other_side(size));
        let arc = self.angle(y, other);
        let arc = self.sum(arc);
        self.signed(x, arc)
    }

    pub(super) fn acos(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let (right, other) = (self.alone(size), self.other_side(size));
        let arc = self.angle(other, right);
        self.mirrored(x, arc)
    }
}
