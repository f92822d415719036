//! Integers: division that rounds down, arithmetic that saturates, bits that are counted.

use super::integer;
use crate::graph::{Binary, Graph, NodeId, Unary};

impl Graph {
    /// `a + b` at the end of the range where it lies beyond.
    pub fn saturating_add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let sum = self.binary(Binary::Add, a, b);
        if !self.node(a).dtype.is_signed() {
            let over = self.binary(Binary::Lt, sum, a);
            let most = self.literal_like(a, f64::INFINITY);
            return self.select(over, most, sum);
        }
        // Over, where both have another sign than the sum.
        let (from_a, from_b) = (self.binary(Binary::Xor, a, sum), self.binary(Binary::Xor, b, sum));
        self.saturated(from_a, from_b, a, sum)
    }

    /// `a - b` at the end of the range where it lies beyond.
    pub fn saturating_sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let difference = self.binary(Binary::Sub, a, b);
        if !self.node(a).dtype.is_signed() {
            let under = self.binary(Binary::Lt, a, b);
            let zero = self.literal_like(a, 0.0);
            return self.select(under, zero, difference);
        }
        // Over, where the signs differ and the difference has another one than `a`.
        let (from_b, from_result) = (self.binary(Binary::Xor, a, b), self.binary(Binary::Xor, a, difference));
        self.saturated(from_b, from_result, a, difference)
    }

    /// `value`, or where both `x` and `y` are negative the end of the range on the side of `a`.
    fn saturated(&mut self, x: NodeId, y: NodeId, a: NodeId, value: NodeId) -> NodeId {
        let both = self.binary(Binary::And, x, y);
        let over = self.with_literal(Binary::Lt, both, 0.0);
        let below = self.with_literal(Binary::Lt, a, 0.0);
        let end = self.end(a, below);
        self.select(over, end, value)
    }

    /// The smallest value of the type of `like` where `below` holds, else the largest.
    fn end(&mut self, like: NodeId, below: NodeId) -> NodeId {
        let (least, most) = (self.literal_like(like, f64::NEG_INFINITY), self.literal_like(like, f64::INFINITY));
        self.select(below, least, most)
    }

    /// `a * b` at the end of the range where it lies beyond. Up to 32 bits the product is exact in twice as many; of 64 bits it
    /// is right if it can be divided back.
    pub fn saturating_mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        if dtype.size() < 8 {
            let wide = integer(if dtype.size() == 4 { 8 } else { 4 }, dtype.is_signed());
            let (a, b) = (self.cast(a, wide), self.cast(b, wide));
            let product = self.binary(Binary::Mul, a, b);
            return self.cast(product, dtype);
        }
        let product = self.binary(Binary::Mul, a, b);
        let back = self.binary(Binary::Div, product, a);
        let (differs, some) = (self.binary(Binary::Ne, back, b), self.with_literal(Binary::Ne, a, 0.0));
        let mut over = self.binary(Binary::And, differs, some);
        if !dtype.is_signed() {
            let most = self.literal_like(a, f64::INFINITY);
            return self.select(over, most, product);
        }
        // The one product that divides back to what it is not: both wrap.
        let (minus, least) =
            (self.with_literal(Binary::Eq, a, -1.0), self.with_literal(Binary::Eq, b, f64::NEG_INFINITY));
        let wraps = self.binary(Binary::And, minus, least);
        over = self.binary(Binary::Or, over, wraps);
        let signs = self.binary(Binary::Xor, a, b);
        let below = self.with_literal(Binary::Lt, signs, 0.0);
        let end = self.end(a, below);
        self.select(over, end, product)
    }

    /// How many bits stand below the lowest 1; all of them, of 0.
    pub fn trailing_zeros(&mut self, a: NodeId) -> NodeId {
        let (others, below) = (self.unary(Unary::Not, a), self.with_literal(Binary::Sub, a, 1.0));
        let zeros = self.binary(Binary::And, others, below);
        self.unary(Unary::CountOnes, zeros)
    }
}
