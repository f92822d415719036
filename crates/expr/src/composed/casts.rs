//! Casts that are not the saturating one.

use super::integer;
use crate::dtype::DType;
use crate::graph::{Binary, Graph, NodeId, Unary};

impl Graph {
    /// As promotion casts: of integers the low bits, everything else as [`Graph::cast`].
    pub(crate) fn promoted_cast(&mut self, a: NodeId, to: DType) -> NodeId {
        let (from, to_integer) = (self.node(a).dtype, !to.is_float());
        if to_integer && !from.is_float() { self.wrapping_cast(a, to) } else { self.cast(a, to) }
    }

    /// To an integer, toward zero; clamped to its range, NaN gives 0.
    pub fn trunc_cast(&mut self, a: NodeId, to: DType) -> NodeId {
        let whole = if self.node(a).dtype.is_float() { self.unary(Unary::Trunc, a) } else { a };
        self.cast(whole, to)
    }

    /// To an integer: of an integer the low bits, of a float as [`Graph::trunc_cast`].
    pub fn wrapping_cast(&mut self, a: NodeId, to: DType) -> NodeId {
        let from = self.node(a).dtype;
        if from.is_float() {
            return self.trunc_cast(a, to);
        }
        if from == DType::Bool || to == DType::Bool {
            return self.cast(a, to);
        }
        if to.size() >= from.size() {
            let wide = self.cast(a, integer(to.size(), from.is_signed()));
            return self.bits(wide, to);
        }
        // What is left after the mask is in the range of the unsigned type, so that the cast changes nothing.
        let plain = self.bits(a, integer(from.size(), false));
        let mask = self.with_literal(Binary::And, plain, (1u64 << (8 * to.size())) as f64 - 1.0);
        let low = self.cast(mask, integer(to.size(), false));
        self.bits(low, to)
    }
}
