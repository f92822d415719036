//! Powers and roots: `x^y = e^(y ln x)` with the logarithm as a sum of two floats, the cube root, the hypotenuse.

use super::coefficients::CBRT;
use super::math::{Math, Pair};
use crate::graph::NodeId;

impl Math<'_> {
    /// Whether `y` is an integer, and an odd one. Infinities count as even.
    fn parity(&mut self, y: NodeId) -> (NodeId, NodeId) {
        let cut = self.trunc(y);
        let whole = self.eq(cut, y);
        let half = self.times(y, 0.5);
        let cut = self.trunc(half);
        let broken = self.ne(cut, half);
        (whole, self.and(whole, broken))
    }

    pub(super) fn pow(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let size = self.abs(x);
        let [zero, one] = [0.0, 1.0].map(|v| self.c(v));
        let log = self.long_log_pair(size);
        let (positive, below) = (self.gt(size, zero), self.below_infinity(size));
        let ordinary = self.and(positive, below);
        let nothing = self.eq(size, zero);
        let infinity = self.infinity();
        let minus = self.neg(infinity);
        let limit = self.select(nothing, minus, size);
        let log = Pair { h: self.select(ordinary, log.h, limit), l: self.select(ordinary, log.l, zero) };
        let p = self.product(y, log.h);
        let l = self.fma(y, log.l, p.l);
        let value = self.exp_of_pair(Pair { h: p.h, l });

        let [known_x, known_y] = [x, y].map(|v| self.eq(v, v));
        let (unit, none) = (self.eq(size, one), self.eq(y, zero));
        let unit = self.and(unit, known_y);
        let value = self.select(unit, one, value);
        let (whole, odd) = self.parity(y);
        let negative = self.negative(x);
        let flips = self.and(negative, odd);
        let opposite = self.neg(value);
        let value = self.select(flips, opposite, value);
        // A negative number has no real power with a fraction.
        let (below_zero, broken) = (self.lt(x, zero), self.not(whole));
        let unreal = self.and(below_zero, broken);
        let unreal = self.and(unreal, below);
        let known = self.and(known_x, known_y);
        let unknown = self.not(known);
        let unreal = self.or(unreal, unknown);
        let nan = self.nan();
        let value = self.select(unreal, nan, value);
        let base = self.eq(x, one);
        let always = self.or(base, none);
        self.select(always, one, value)
    }

    /// `x = 2^(3 q) m`, `1 <= m < 8`: a polynomial for `m^(-1/3)`, one step of fourth order, and a correction of the root by
    /// its exact cube.
    pub(super) fn cbrt(&mut self, x: NodeId) -> NodeId {
        let size = self.abs(x);
        let (least, lift) = self.pick((f64::from(f32::MIN_POSITIVE), 24), (f64::MIN_POSITIVE, 54));
        let least = self.c(least);
        let small = self.lt(size, least);
        let lifted = self.times(size, 2f64.powi(lift));
        let normal = self.select(small, lifted, size);
        let bits = self.bits(normal);
        let (shift, three) = (self.i(self.format.mantissa), self.i(3));
        let exponent = self.shr(bits, shift);
        // Biased to a multiple of 3, so that the division is of a number that is not negative.
        let extra = self.i((3 - self.format.bias % 3) % 3);
        let bias = (self.format.bias + 2) / 3;
        let raised = self.add(exponent, extra);
        let third = self.div(raised, three);
        let bias = self.i(bias);
        let q = self.sub(third, bias);
        let whole = self.mul(q, three);
        let whole = self.shl(whole, shift);
        let m = self.sub(bits, whole);
        let m = self.of_bits(m);

        let y = self.polynomial(m, &CBRT, &CBRT);
        let [one, a, b, c] = [1.0, 1.0 / 3.0, 2.0 / 9.0, 14.0 / 81.0].map(|v| self.c(v));
        let square = self.mul(y, y);
        let product = self.mul(square, m);
        let e = self.without(product, y, one);
        let step = self.fma(e, c, b);
        let step = self.fma(e, step, a);
        let step = self.mul(step, e);
        let y = self.fma(y, step, y);

        let square = self.mul(y, y);
        let root = self.mul(m, square);
        let s = self.product(root, root);
        let cube = self.product(s.h, root);
        let rest = self.sub(m, cube.h);
        let low = self.fma(s.l, root, cube.l);
        let rest = self.sub(rest, low);
        let slope = self.mul(square, a);
        let root = self.fma(rest, slope, root);

        let (lift, zero) = (self.i(i64::from(lift / 3)), self.i(0));
        let lift = self.select(small, lift, zero);
        let q = self.sub(q, lift);
        let factor = self.power_of_two(q);
        let root = self.mul(root, factor);
        let root = self.signed(x, root);
        // 0, infinity and NaN are their own roots.
        let (none, below) = (self.c(0.0), self.below_infinity(size));
        let some = self.gt(size, none);
        let ordinary = self.and(some, below);
        self.select(ordinary, root, x)
    }

    pub(super) fn hypot(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let (x, y) = (self.abs(x), self.abs(y));
        let (a, b) = (self.max(x, y), self.min(x, y));
        let (high, low, by) = self.pick((60, -40, 90), (500, -450, 600));
        let [high, low, down, raise, one] =
            [2f64.powi(high), 2f64.powi(low), 2f64.powi(-by), 2f64.powi(by), 1.0].map(|v| self.c(v));
        let (long, short) = (self.gt(a, high), self.lt(a, low));
        let choose = |m: &mut Self, far: NodeId, near: NodeId| {
            let factor = m.select(short, near, one);
            m.select(long, far, factor)
        };
        let (factor, back) = (choose(self, down, raise), choose(self, raise, down));
        let (a, b) = (self.mul(a, factor), self.mul(b, factor));
        let (a, b) = (self.product(a, a), self.product(b, b));
        let sum = self.fast_sum(a.h, b.h);
        let low = self.add(a.l, b.l);
        let sum = self.plus(sum, low);
        let sum = self.normal(sum);
        let root = self.root(sum);
        let root = self.sum(root);
        let root = self.mul(root, back);
        let infinity = self.infinity();
        let [x, y] = [x, y].map(|v| self.eq(v, infinity));
        let endless = self.or(x, y);
        self.select(endless, infinity, root)
    }
}
