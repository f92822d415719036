//! Functions built from the graph's own operations, so that host and device compute the same bits.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Graph, NodeId, Op, Unary};

impl Graph {
    /// `e^x`: `x = n ln 2 + r`, a polynomial in `r`, and `2^n` in two exact steps, so that results below the normal range
    /// are right too. Overflows to infinity, underflows to 0; NaN gives NaN.
    pub fn exp(&mut self, x: NodeId) -> NodeId {
        if self.node(x).dtype == DType::F64 { self.exp_f64(x) } else { self.exp_f32(x) }
    }

    fn exp_f32(&mut self, x: NodeId) -> NodeId {
        let f = |g: &mut Self, v: f32| g.constant(Scalar::of(v));
        // ln 2 split so that n * LN2_HIGH is exact for |n| < 2^9.
        let (log2e, ln2_high, ln2_low) = (std::f32::consts::LOG2_E, 0.693_359_4_f32, -2.121_944_4e-4_f32);
        // Taylor coefficients up to r^7: |r| <= ln 2 / 2 leaves 3e-9 relative.
        let terms = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
        let (low, high) = (f(self, -104.0), f(self, 89.0));
        let clamped = self.binary(Binary::Max, x, low);
        let clamped = self.binary(Binary::Min, clamped, high);
        let scale = f(self, log2e);
        let n = self.binary(Binary::Mul, clamped, scale);
        let n = self.unary(Unary::Round, n);
        let (h, l) = (f(self, -ln2_high), f(self, -ln2_low));
        let r = self.fma(n, h, clamped);
        let r = self.fma(n, l, r);
        let mut p = f(self, terms[0]);
        for t in &terms[1..] {
            let t = f(self, *t);
            p = self.fma(p, r, t);
        }
        let n = self.cast(n, DType::I32);
        let one = self.constant(Scalar::of(1i32));
        let (half, bias, mantissa) = (self.binary(Binary::Shr, n, one), 127i32, 23i32);
        let rest = self.binary(Binary::Sub, n, half);
        let power = |g: &mut Self, e: NodeId| {
            let (bias, shift) = (g.constant(Scalar::of(bias)), g.constant(Scalar::of(mantissa)));
            let e = g.binary(Binary::Add, e, bias);
            let e = g.binary(Binary::Shl, e, shift);
            g.push(Op::Bits(e), DType::F32)
        };
        let (a, b) = (power(self, half), power(self, rest));
        let p = self.binary(Binary::Mul, p, a);
        self.binary(Binary::Mul, p, b)
    }

    fn exp_f64(&mut self, x: NodeId) -> NodeId {
        let f = |g: &mut Self, v: f64| g.constant(Scalar::of(v));
        let (log2e, ln2_high, ln2_low) =
            (std::f64::consts::LOG2_E, 0.693_147_180_369_123_8_f64, 1.908_214_929_270_587_7e-10_f64);
        let mut terms = vec![1.0f64];
        for k in 1..=13 {
            terms.push(terms[k - 1] / k as f64);
        }
        let (low, high) = (f(self, -746.0), f(self, 710.0));
        let clamped = self.binary(Binary::Max, x, low);
        let clamped = self.binary(Binary::Min, clamped, high);
        let scale = f(self, log2e);
        let n = self.binary(Binary::Mul, clamped, scale);
        let n = self.unary(Unary::Round, n);
        let (h, l) = (f(self, -ln2_high), f(self, -ln2_low));
        let r = self.fma(n, h, clamped);
        let r = self.fma(n, l, r);
        let mut p = f(self, terms[13]);
        for t in terms[..13].iter().rev() {
            let t = f(self, *t);
            p = self.fma(p, r, t);
        }
        let n = self.cast(n, DType::I64);
        let one = self.constant(Scalar::of(1i64));
        let half = self.binary(Binary::Shr, n, one);
        let rest = self.binary(Binary::Sub, n, half);
        let power = |g: &mut Self, e: NodeId| {
            let (bias, shift) = (g.constant(Scalar::of(1023i64)), g.constant(Scalar::of(52i64)));
            let e = g.binary(Binary::Add, e, bias);
            let e = g.binary(Binary::Shl, e, shift);
            g.push(Op::Bits(e), DType::F64)
        };
        let (a, b) = (power(self, half), power(self, rest));
        let p = self.binary(Binary::Mul, p, a);
        self.binary(Binary::Mul, p, b)
    }
}
