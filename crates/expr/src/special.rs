//! Functions built from the graph's own operations, so that host and device compute the same bits.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Graph, NodeId, Op, Unary};

/// What `exp` needs to know of a floating-point format.
struct Format {
    float: DType,
    /// The integer of the same size.
    whole: DType,
    bias: i64,
    mantissa: i64,
    /// Arguments below and above give 0 and infinity.
    range: (f64, f64),
    /// ln 2 in two parts: multiples of the first are exact for every exponent.
    ln2: (f64, f64),
    /// Highest power of the Taylor polynomial. |r| <= ln 2 / 2 leaves 3e-9 relative of r^7, 2e-17 of r^13.
    degree: u32,
}

const SINGLE: Format = Format {
    float: DType::F32,
    whole: DType::I32,
    bias: 127,
    mantissa: 23,
    range: (-104.0, 89.0),
    ln2: (0.693_359_4, -2.121_944_4e-4),
    degree: 7,
};

const DOUBLE: Format = Format {
    float: DType::F64,
    whole: DType::I64,
    bias: 1023,
    mantissa: 52,
    range: (-746.0, 710.0),
    ln2: (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10),
    degree: 13,
};

impl Format {
    fn float(&self, graph: &mut Graph, value: f64) -> NodeId {
        graph.constant(if self.float == DType::F64 { Scalar::of(value) } else { Scalar::of(value as f32) })
    }

    fn whole(&self, graph: &mut Graph, value: i64) -> NodeId {
        graph.constant(if self.whole == DType::I64 { Scalar::of(value) } else { Scalar::of(value as i32) })
    }

    /// `2^e` for a whole `e`, by its bits.
    fn power_of_two(&self, graph: &mut Graph, e: NodeId) -> NodeId {
        let (bias, shift) = (self.whole(graph, self.bias), self.whole(graph, self.mantissa));
        let e = graph.binary(Binary::Add, e, bias);
        let e = graph.binary(Binary::Shl, e, shift);
        graph.push(Op::Bits(e), self.float)
    }
}

impl Graph {
    /// `e^x`: `x = n ln 2 + r`, a polynomial in `r`, and `2^n` in two exact steps, so that results below the normal range
    /// are right too. Overflows to infinity, underflows to 0; NaN gives NaN.
    pub fn exp(&mut self, x: NodeId) -> NodeId {
        let format = if self.node(x).dtype == DType::F64 { &DOUBLE } else { &SINGLE };
        let (low, high) = (format.float(self, format.range.0), format.float(self, format.range.1));
        let clamped = self.binary(Binary::Max, x, low);
        let clamped = self.binary(Binary::Min, clamped, high);
        let scale = format.float(self, std::f64::consts::LOG2_E);
        let n = self.binary(Binary::Mul, clamped, scale);
        let n = self.unary(Unary::Round, n);
        let (high, low) = (format.float(self, -format.ln2.0), format.float(self, -format.ln2.1));
        let r = self.fma(n, high, clamped);
        let r = self.fma(n, low, r);
        let mut factorials = vec![1.0f64];
        for k in 1..=format.degree {
            factorials.push(factorials[k as usize - 1] / f64::from(k));
        }
        let mut terms = factorials.iter().rev();
        let mut p = format.float(self, *terms.next().unwrap_or(&1.0));
        for term in terms {
            let term = format.float(self, *term);
            p = self.fma(p, r, term);
        }
        let n = self.cast(n, format.whole);
        let one = format.whole(self, 1);
        let half = self.binary(Binary::Shr, n, one);
        let rest = self.binary(Binary::Sub, n, half);
        for power in [half, rest] {
            let power = format.power_of_two(self, power);
            p = self.binary(Binary::Mul, p, power);
        }
        self.called("exp", &[x], p)
    }
}
