//! Sizes that an expression computes, as numbers on the host: the graph's operations on literals, extents and boxes.

use crate::bind::View;
use crate::dtype::{Rect, Scalar};
use crate::fold;
use crate::graph::{Graph, NodeId, Op, Size};

/// The operands that sizes are computed from.
pub(crate) struct Sizes<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) views: &'a [View<'a>],
}

impl Sizes<'_> {
    /// The operand whose boxes a size depends on, if it depends on any.
    pub(crate) fn operand_of(&self, node: NodeId) -> Option<u16> {
        match &self.graph.node(node).op {
            Op::Input { operand, .. } => Some(*operand),
            Op::Guard { value: a, .. } | Op::At { source: a, .. } | Op::Unary(_, a) | Op::Cast(a) | Op::Bits(a) => {
                self.operand_of(*a)
            }
            Op::Binary(_, a, b) => self.operand_of(*a).or_else(|| self.operand_of(*b)),
            Op::Fma(a, b, c) | Op::Select(a, b, c) => [*a, *b, *c].into_iter().find_map(|n| self.operand_of(n)),
            _ => None,
        }
    }

    /// A size where every box is `rect`; `None` where it depends on more than boxes.
    pub(crate) fn number(&self, node: NodeId, rect: Option<&Rect>) -> Option<i64> {
        self.value(node, rect)?.as_i64()
    }

    fn value(&self, node: NodeId, rect: Option<&Rect>) -> Option<Scalar> {
        let of = |n: &NodeId| self.value(*n, rect);
        Some(match &self.graph.node(node).op {
            Op::Const(s) => *s,
            Op::Input { component, .. } => {
                let rect = rect?;
                Scalar::of(*[rect.x, rect.y, rect.width, rect.height].get(usize::from(*component))?)
            }
            Op::Extent(Size::Operand(operand, dim)) => {
                Scalar::of(i32::try_from(self.views.get(usize::from(*operand))?.extent(*dim)?).ok()?)
            }
            Op::Guard { value: a, .. } | Op::At { source: a, .. } => of(a)?,
            Op::Unary(op, a) => fold::unary(*op, of(a)?),
            Op::Binary(op, a, b) => fold::binary(*op, of(a)?, of(b)?),
            Op::Fma(a, b, c) => fold::fma(of(a)?, of(b)?, of(c)?),
            Op::Select(c, a, b) => {
                if of(c)?.get::<bool>() {
                    of(a)?
                } else {
                    of(b)?
                }
            }
            Op::Cast(a) => fold::cast(of(a)?, self.graph.node(node).dtype),
            Op::Bits(a) => fold::bits(of(a)?, self.graph.node(node).dtype),
            Op::Index(_) | Op::Extent(_) => return None,
            Op::Call(..) | Op::Reduce { .. } | Op::Scan { .. } | Op::Carry { .. } | Op::Iterate { .. } => return None,
        })
    }
}
