//! Operations composed of the graph's own, so that both machines compute them alike. Sums and differences in them are rounded as
//! they stand, whatever their operands are: none contracts with a product that the user wrote.

mod casts;
mod floats;
mod integers;
mod numbers;

use crate::dtype::{DType, Scalar};
use crate::fold;
use crate::graph::{Binary, Graph, NodeId, Op};

impl Graph {
    /// The value of `dtype` nearest to `value`: for integers the end of the range where that is beyond it.
    fn literal(&mut self, dtype: DType, value: f64) -> NodeId {
        self.constant(fold::cast(Scalar::of(value), dtype))
    }

    /// A literal of the type of `like`.
    fn literal_like(&mut self, like: NodeId, value: f64) -> NodeId {
        self.literal(self.node(like).dtype, value)
    }

    /// The same bits as another type of the same size.
    fn bits(&mut self, a: NodeId, to: DType) -> NodeId {
        if self.node(a).dtype == to { a } else { self.push(Op::Bits(a), to) }
    }

    /// `a op value`, never contracted.
    fn with_literal(&mut self, op: Binary, a: NodeId, value: f64) -> NodeId {
        let b = self.literal_like(a, value);
        self.rounded(op, a, b)
    }
}

/// The integer of as many bytes.
fn integer(bytes: usize, signed: bool) -> DType {
    match (bytes, signed) {
        (1, false) => DType::U8,
        (1, true) => DType::I8,
        (2, false) => DType::U16,
        (2, true) => DType::I16,
        (4, false) => DType::U32,
        (4, true) => DType::I32,
        (_, false) => DType::U64,
        (_, true) => DType::I64,
    }
}
