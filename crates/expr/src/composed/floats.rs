//! Floats: reciprocals, signs, classes, parts.

use crate::graph::{Binary, Graph, NodeId, Unary};

impl Graph {
    /// `1 / a`, rounded once.
    pub fn recip(&mut self, a: NodeId) -> NodeId {
        let one = self.literal_like(a, 1.0);
        self.rounded(Binary::Div, one, a)
    }

    /// `|a|` with the sign of `b`; that of a NaN is `+`.
    pub fn copysign(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let size = self.unary(Unary::Abs, a);
        let (negative, minus) = (self.sign_bit(b), self.unary(Unary::Neg, size));
        self.select(negative, minus, size)
    }

    /// How `|a|` compares with infinity.
    pub fn against_infinity(&mut self, op: Binary, a: NodeId) -> NodeId {
        let size = self.unary(Unary::Abs, a);
        self.with_literal(op, size, f64::INFINITY)
    }

    /// `a - trunc(a)`, exactly; of infinities NaN.
    pub fn fract(&mut self, a: NodeId) -> NodeId {
        let whole = self.unary(Unary::Trunc, a);
        self.rounded(Binary::Sub, a, whole)
    }

    /// The nearest integer, halves away from zero.
    pub fn round_half_away(&mut self, a: NodeId) -> NodeId {
        let whole = self.unary(Unary::Trunc, a);
        // Both exact: where a value has a fraction, the next integer is a value too.
        let rest = self.rounded(Binary::Sub, a, whole);
        let rest = self.unary(Unary::Abs, rest);
        let far = self.with_literal(Binary::Ge, rest, 0.5);
        let one = self.literal_like(a, 1.0);
        let step = self.copysign(one, a);
        let next = self.rounded(Binary::Add, whole, step);
        self.select(far, next, whole)
    }

    /// `a + t * (b - a)`: the difference is rounded, then the whole.
    pub fn between(&mut self, a: NodeId, b: NodeId, t: NodeId) -> NodeId {
        let step = self.rounded(Binary::Sub, b, a);
        self.fma(t, step, a)
    }
}
