//! Values that stay in registers: how many bytes they would be in memory.

use super::{elements, shape};
use crate::bind::{Binding, View};
use crate::dtype::{DType, Rect};
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use std::collections::BTreeSet;

/// The result of one operation that is not stored. Functions such as `exp`, a resize and a crop are one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intermediate {
    /// The operation.
    pub operation: String,
    /// Its type.
    pub dtype: DType,
    /// The dimensions that it varies along.
    pub dims: Vec<&'static str>,
    /// Its size over these dimensions; `None` where only the device knows.
    pub bytes: Option<u64>,
}

/// The sizes of a graph's values for bound operands.
pub(super) struct Sizes<'a> {
    graph: &'a Graph,
    binding: &'a Binding<'a>,
    views: &'a [View<'a>],
    outputs: &'a [View<'a>],
    /// What becomes results, rather than coordinates.
    data: BTreeSet<NodeId>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        binding: &'a Binding<'a>,
        views: &'a [View<'a>],
        outputs: &'a [View<'a>],
    ) -> Sizes<'a> {
        let mut data = BTreeSet::new();
        let mut stack: Vec<NodeId> = graph.all_roots();
        while let Some(node) = stack.pop() {
            if data.insert(node) {
                for_each_value(graph, node, |a| stack.push(a));
            }
        }
        Sizes { graph, binding, views, outputs, data }
    }

    /// Results of operations that nothing stores. Literals, operands, coordinates and what has no dimensions are not among them.
    pub(super) fn intermediates(&self) -> Vec<Intermediate> {
        let stored = |id: &NodeId| self.graph.outputs.iter().any(|o| o.node == *id);
        let trivial =
            |op: &Op| matches!(op, Op::Const(_) | Op::Input { .. } | Op::Index(_) | Op::Extent(_) | Op::Guard { .. });
        let computed = |id: &&NodeId| {
            let node = self.graph.node(**id);
            !stored(id) && !trivial(&node.op) && !node.shape.is_empty()
        };
        let intermediate = |id: &NodeId| {
            let node = self.graph.node(*id);
            Intermediate {
                operation: super::tree::operation(self.graph, *id),
                dtype: node.dtype,
                dims: shape(self.graph, *id),
                bytes: self.elements(*id).map(|n| n * node.dtype.size() as u64),
            }
        };
        self.data.iter().filter(computed).map(intermediate).collect()
    }

    /// Bytes of an operand that its readers cover at most.
    pub(super) fn covered(&self, operand: usize) -> u64 {
        let whole = self.views.get(operand).map_or(0, |v| elements(v.axes));
        let mine =
            |id: NodeId| matches!(self.graph.node(id).op, Op::Input { operand: o, .. } if usize::from(o) == operand);
        let mut components: Vec<(NodeId, u64)> = Vec::new();
        let mut add = |input: NodeId, n: u64| match components.iter_mut().find(|(i, _)| *i == input) {
            Some((_, sum)) => *sum = sum.saturating_add(n).min(whole),
            None => components.push((input, n.min(whole))),
        };
        for id in self.graph.ids() {
            let op = &self.graph.node(id).op;
            let moved = matches!(op, Op::At { source, .. } if mine(*source));
            op.for_each_arg(|a| {
                if mine(a) {
                    add(a, if moved { self.elements(id).unwrap_or(whole) } else { whole });
                }
            });
        }
        for id in self.graph.all_roots().into_iter().filter(|n| mine(*n)) {
            add(id, whole);
        }
        let bytes = self.graph.operands[operand].dtype.size() as u64;
        components.iter().map(|(_, n)| n.saturating_mul(bytes)).fold(0, u64::saturating_add)
    }

    /// Elements of a value over its own dimensions.
    fn elements(&self, node: NodeId) -> Option<u64> {
        let shape = &self.graph.node(node).shape;
        let mut count = 1u64;
        let mut boxed: Vec<(u16, u8)> = Vec::new();
        for (dim, size) in shape {
            match size {
                Size::Any => count = count.checked_mul(self.world(*dim)?)?,
                _ => match self.binding.size(*dim, *size) {
                    Ok(n) => count = count.checked_mul(n.max(0) as u64)?,
                    Err(_) => boxed.push(self.box_side(*size)?),
                },
            }
        }
        let Some((operand, _)) = boxed.first().copied() else { return Some(count) };
        if boxed.iter().any(|(o, _)| *o != operand) {
            return None;
        }
        let view = self.views.get(usize::from(operand))?;
        if !view.axes.iter().all(|a| shape.iter().any(|(d, _)| *d == a.dim)) {
            return None;
        }
        // The boxes' own dimensions are gone through here, one box after the other.
        let boxes = view.boxes?;
        let side = |r: &Rect, component: u8| (if component == 2 { r.width } else { r.height }).max(0) as u64;
        let area = |r: &Rect| boxed.iter().map(|(_, c)| side(r, *c)).product::<u64>();
        let all = boxes.iter().map(area).try_fold(0, u64::checked_add)?;
        count.checked_div(boxes.len() as u64).unwrap_or(0).checked_mul(all)
    }

    /// Which side of which operand's boxes a size is.
    fn box_side(&self, size: Size) -> Option<(u16, u8)> {
        let Size::Node(mut node) = size else { return None };
        loop {
            match &self.graph.node(node).op {
                Op::Input { operand, component } => return Some((*operand, *component)),
                Op::Guard { value, .. } => node = *value,
                _ => return None,
            }
        }
    }

    /// The length of a loop.
    fn world(&self, dim: DimId) -> Option<u64> {
        let axes = self.outputs.iter().chain(self.views).flat_map(|v| v.axes);
        axes.filter(|a| a.dim == dim).map(|a| a.extent.max(0) as u64).next()
    }
}

/// Calls `f` with what a value is made of: not with coordinates and sizes, nor with what stands inside a function.
pub(super) fn for_each_value(graph: &Graph, node: NodeId, mut f: impl FnMut(NodeId)) {
    if let Some((_, of)) = graph.made_by(node) {
        return of.iter().for_each(|a| f(*a));
    }
    match &graph.node(node).op {
        Op::At { source, .. } | Op::Reduce { source, .. } => f(*source),
        Op::Guard { value, .. } => f(*value),
        Op::Extent(_) => {}
        op => op.for_each_arg(f),
    }
}
