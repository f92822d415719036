//! Results that need all of an operand before any of them, in two steps: what a window is reduced to, and the expression of that.
//!
//! Reductions along a dimension are made of windows: each gives one value, and these are reduced likewise, in their order. Sums of `f32` are added in
//! `f64` there. A reduction of what needs another one, as a variance does, comes in a step of its own: the rest is folded again.

use super::Uncut;
use super::moved::Moved;
use super::offset::arguments;
use super::reach::Reaches;
use super::scanned::{Passes, wide};
use crate::graph::{DimId, Graph, NodeId, Op, OperandSpec, Size};
use crate::reduce::Reduction;
use std::collections::BTreeSet;

/// How results are computed from parts, each of a band of the operands.
#[derive(Clone, Debug)]
pub struct Folded {
    /// What is evaluated on windows: a result for each reduction of a band, which lacks the dimension. Its graph is always said.
    pub parts: Passes,
    /// The expression of all parts: an operand for each reduction stands behind those that are left, with [`bands`](Self::bands) before the dimensions of a
    /// part.
    pub rest: Graph,
    /// A dimension of its own, as long as there are bands.
    pub bands: DimId,
    /// Which operands are left, by their numbers.
    pub kept: Vec<u16>,
}

impl Graph {
    /// How results are computed from reductions along `dim`, of operands whose lengths are known: from at most so many at once. The others are left to
    /// the rest, which is folded again.
    pub fn fold(&self, dim: DimId, most: usize, length: impl Fn(u16, DimId) -> i64) -> Result<Folded, Uncut> {
        let found = self.to_fold(dim, most)?;
        let at_the_band: Vec<(NodeId, i64)> = found.iter().map(|node| (*node, 0)).collect();
        let parts = self.parts(dim, (&at_the_band, most), &length)?;
        self.folded((dim, &found), parts, &length)
    }

    /// The same of reductions whose operands bands read elsewhere than around the point ([`Graph::cut_images`]): those that are as long as the first one.
    pub fn fold_images(
        &self,
        dim: DimId,
        most: usize,
        length: impl Fn(u16, DimId) -> i64,
        goes_on: impl Fn(u16, DimId) -> bool,
    ) -> Result<Folded, Uncut> {
        let mut found = self.to_fold(dim, usize::MAX)?;
        let extents: Vec<Option<i64>> = found.iter().map(|node| self.reduced_length(*node, &length)).collect();
        let extent = extents[0].ok_or(Uncut::Length)?;
        let mut same = extents.into_iter().map(|it| it == Some(extent));
        found.retain(|_| same.next().unwrap_or(false));
        found.truncate(most);
        let reaches = Reaches { goes_on: &goes_on, ..Reaches::new(self, extent, &length) };
        let parts = self.parts_of_images(dim, &found, &reaches)?;
        self.folded((dim, &found), parts, &length)
    }

    /// The reductions along a dimension that come first, so many at most.
    fn to_fold(&self, dim: DimId, most: usize) -> Result<Vec<NodeId>, Uncut> {
        let mut found = self.innermost(dim);
        found.truncate(most);
        if found.is_empty() {
            return Err(Uncut::Lacking { result: 0 });
        }
        Ok(found)
    }

    fn folded(
        &self,
        (dim, found): (DimId, &[NodeId]),
        parts: Passes,
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<Folded, Uncut> {
        let bands = self.unused(!dim);
        let (rest, kept) = self.rest(bands, found, length)?;
        Ok(Folded { parts, rest, bands, kept })
    }

    /// A dimension that no operand has: this one, or one behind it.
    pub(super) fn unused(&self, mut dim: DimId) -> DimId {
        while self.operands.iter().any(|operand| operand.dims.contains(&dim)) {
            dim = dim.wrapping_add(1);
        }
        dim
    }

    /// The reductions along a dimension that results need and that need no other one.
    fn innermost(&self, dim: DimId) -> Vec<NodeId> {
        let needed = self.needed_by(self.all_roots().into_iter(), &[]);
        let (mut inside, mut found) = (BTreeSet::new(), Vec::new());
        // What a node is made from has a lower number.
        for node in needed {
            let op = &self.node(node).op;
            let has_inside = arguments(op).any(|argument| inside.contains(&argument));
            let is_one = matches!(op, Op::Reduce { dim: along, .. } if *along == dim);
            if is_one && !has_inside {
                found.push(node);
            }
            if is_one || has_inside {
                inside.insert(node);
            }
        }
        found
    }

    fn rest(
        &self,
        bands: DimId,
        found: &[NodeId],
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<(Graph, Vec<u16>), Uncut> {
        let needed = self.needed_by(self.all_roots().into_iter(), found);
        let mut others = needed.clone();
        found.iter().for_each(|node| _ = others.remove(node));
        let mut moved = Moved::new(self, self.operands_of(&others));
        moved.graph.name_dim(bands, "bands");
        for node in needed {
            let Some((reduction, ..)) = self.reduced(node).filter(|_| found.contains(&node)) else {
                moved.node(self, node, length)?;
                continue;
            };
            let dims = [bands].into_iter().chain(self.dims_without(bands, node)).collect();
            let operand = moved.graph.operand(OperandSpec { dtype: self.node(node).dtype, components: 1, dims });
            let joined = moved.graph.joined(reduction, operand, bands);
            moved.nodes.insert(node, joined);
        }
        moved.pad(self);
        let Moved { graph: mut made, nodes, kept, .. } = moved;
        (0..self.outputs.len()).for_each(|output| made.store_moved(self, output, |node| nodes[&node]));
        made.joins = self.joins.clone();
        Ok((made, kept))
    }

    /// Parts, made one.
    fn joined(&mut self, reduction: Reduction, operand: u16, bands: DimId) -> NodeId {
        let (part, size) = (self.input(operand, 0), Size::Operand(operand, bands));
        let dtype = self.node(part).dtype;
        let of = wide(reduction, dtype);
        let source = self.cast(part, of);
        let joined = self.push(Op::Reduce { reduction, source, dim: bands, size }, of);
        self.cast(joined, dtype)
    }
}
