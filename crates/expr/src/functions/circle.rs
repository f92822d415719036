//! Sine, cosine, tangent: of the rest in the nearest quadrant, as sums of two floats.

use super::coefficients::{COS_DOUBLE, COS_SINGLE, SIN_DOUBLE, SIN_SINGLE};
use super::math::{Math, Pair};
use super::quadrant::Quadrant;
use crate::graph::NodeId;

/// Sine and cosine of `|x|` up to the quadrant, and where it is.
struct Rest {
    sine: Pair,
    cosine: Pair,
    /// Whether the two change places.
    odd: NodeId,
    q: NodeId,
    finite: NodeId,
}

impl Math<'_> {
    fn rest(&mut self, x: NodeId) -> Rest {
        let x = self.abs(x);
        let finite = self.below_infinity(x);
        let Quadrant { q, r } = self.quadrant(x);
        let z = self.mul(r.h, r.h);
        let half = self.times(z, 0.5);
        let (zero, one) = (self.i(0), self.c(1.0));

        let w = self.sub(one, half);
        let p = self.polynomial(z, &SIN_SINGLE, &SIN_DOUBLE);
        let cube = self.mul(z, r.h);
        let low = self.mul(r.l, w);
        let sine = Pair { h: r.h, l: self.fma(cube, p, low) };

        let p = self.polynomial(z, &COS_SINGLE, &COS_DOUBLE);
        let lost = self.sub(one, w);
        let lost = self.sub(lost, half);
        let square = self.mul(z, z);
        let low = self.without(r.h, r.l, lost);
        let cosine = Pair { h: w, l: self.fma(square, p, low) };

        let bit = self.i(1);
        let bit = self.and(q, bit);
        Rest { sine, cosine, odd: self.ne(bit, zero), q, finite }
    }

    /// `value`, negative if the second bit of `q` is set; NaN for arguments that are not finite.
    fn placed(&mut self, value: Pair, q: NodeId, finite: NodeId) -> NodeId {
        let value = self.sum(value);
        let (two, zero, nan) = (self.i(2), self.i(0), self.nan());
        let bit = self.and(q, two);
        let minus = self.ne(bit, zero);
        let opposite = self.neg(value);
        let value = self.select(minus, opposite, value);
        self.select(finite, value, nan)
    }

    pub(super) fn sin(&mut self, x: NodeId) -> NodeId {
        let rest = self.rest(x);
        let value = self.select_pair(rest.odd, rest.cosine, rest.sine);
        let value = self.placed(value, rest.q, rest.finite);
        self.signed(x, value)
    }

    pub(super) fn cos(&mut self, x: NodeId) -> NodeId {
        let rest = self.rest(x);
        let value = self.select_pair(rest.odd, rest.sine, rest.cosine);
        // Negative in the second and the third quadrant.
        let one = self.i(1);
        let q = self.add(rest.q, one);
        self.placed(value, q, rest.finite)
    }

    pub(super) fn tan(&mut self, x: NodeId) -> NodeId {
        let rest = self.rest(x);
        let (sine, cosine) = (self.normal(rest.sine), self.normal(rest.cosine));
        let minus = self.opposite(cosine);
        let over = self.select_pair(rest.odd, minus, sine);
        let under = self.select_pair(rest.odd, sine, cosine);
        let value = self.ratio(over, under);
        let value = self.sum(value);
        let nan = self.nan();
        let value = self.select(rest.finite, value, nan);
        self.signed(x, value)
    }
}
