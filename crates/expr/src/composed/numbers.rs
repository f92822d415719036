//! Every number: differences, signs, powers, division that rounds down.

use super::integer;
use crate::graph::{Binary, Graph, NodeId, Unary};

impl Graph {
    /// `|a - b|`: of floats rounded once; of signed integers the largest one where it lies beyond.
    pub fn abs_diff(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        if dtype.is_float() {
            let difference = self.rounded(Binary::Sub, a, b);
            return self.unary(Unary::Abs, difference);
        }
        let (low, high) = (self.binary(Binary::Min, a, b), self.binary(Binary::Max, a, b));
        let difference = self.binary(Binary::Sub, high, low);
        if !dtype.is_signed() {
            return difference;
        }
        let wraps = self.with_literal(Binary::Lt, difference, 0.0);
        let most = self.literal_like(a, f64::INFINITY);
        self.select(wraps, most, difference)
    }

    /// Whether the value is negative: of floats by the sign's bit, so that -0 is, and NaN is not.
    pub fn sign_bit(&mut self, a: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        if !dtype.is_float() {
            return self.with_literal(Binary::Lt, a, 0.0);
        }
        let whole = self.bits(a, integer(dtype.size(), true));
        let (below, number) = (self.with_literal(Binary::Lt, whole, 0.0), self.rounded(Binary::Eq, a, a));
        self.binary(Binary::And, below, number)
    }

    /// -1, 0 or 1; of floats -1 or 1 by the sign's bit, and NaN of NaN.
    pub fn signum(&mut self, a: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        let one = self.literal(dtype, 1.0);
        if !dtype.is_float() && !dtype.is_signed() {
            return self.binary(Binary::Min, a, one);
        }
        let minus = self.literal(dtype, -1.0);
        if dtype.is_float() {
            let negative = self.sign_bit(a);
            let sign = self.select(negative, minus, one);
            let number = self.rounded(Binary::Eq, a, a);
            return self.select(number, sign, a);
        }
        let least = self.binary(Binary::Min, a, one);
        self.binary(Binary::Max, least, minus)
    }

    /// `a` to the power of `n`: products of `a`, `a^2`, `a^4`, .. as the bits of `n` say, the lowest first.
    pub fn power(&mut self, a: NodeId, n: u32) -> NodeId {
        let (mut square, mut rest) = (a, n);
        let mut power: Option<NodeId> = None;
        while rest > 0 {
            if rest & 1 == 1 {
                power = Some(match power {
                    Some(power) => self.binary(Binary::Mul, power, square),
                    None => square,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.binary(Binary::Mul, square, square);
            }
        }
        power.unwrap_or_else(|| {
            // Over the same dimensions, as long as they are.
            let (one, shape) = (self.literal_like(a, 1.0), self.node(a).shape.to_vec());
            self.at(one, &[], &shape)
        })
    }

    /// The quotient for which [`Graph::rem_euclid`] is what is left.
    pub fn div_euclid(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        let quotient = self.binary(Binary::Div, a, b);
        let quotient = if dtype.is_float() { self.unary(Unary::Trunc, quotient) } else { quotient };
        if !dtype.is_float() && !dtype.is_signed() {
            return quotient;
        }
        let rest = self.binary(Binary::Rem, a, b);
        let (below, above) =
            (self.with_literal(Binary::Sub, quotient, 1.0), self.with_literal(Binary::Add, quotient, 1.0));
        let (negative, up) = (self.with_literal(Binary::Lt, rest, 0.0), self.with_literal(Binary::Gt, b, 0.0));
        let other = self.select(up, below, above);
        self.select(negative, other, quotient)
    }

    /// `a % b`, and `|b|` more where that is negative.
    pub fn rem_euclid(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        let rest = self.binary(Binary::Rem, a, b);
        if !dtype.is_float() && !dtype.is_signed() {
            return rest;
        }
        let size = self.unary(Unary::Abs, b);
        let (more, negative) = (self.rounded(Binary::Add, rest, size), self.with_literal(Binary::Lt, rest, 0.0));
        self.select(negative, more, rest)
    }
}
