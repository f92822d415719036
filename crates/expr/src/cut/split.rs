//! An expression in two: one of its nodes as a result that is stored, and the rest of the expression over that. Where a scan of a slice cannot be cut, the
//! slice can, and a scan of what that is.

use super::Uncut;
use super::moved::Moved;
use super::reach::Reaches;
use crate::graph::{DimId, Graph, NodeId, Op, OperandSpec, Output};
use std::collections::BTreeSet;

/// An expression in two.
#[derive(Clone, Debug)]
pub struct Split {
    /// The node, as the only result.
    pub first: Graph,
    /// Which operands of the expression that has, by their numbers.
    pub of: Vec<u16>,
    /// The rest of the expression: its last operand is what the first part makes, over the same dimensions.
    pub rest: Graph,
    /// Which operands that has before the last one, by their numbers.
    pub kept: Vec<u16>,
}

impl Graph {
    /// Nodes at which an expression could be split: scans, what is scanned, and what is read beyond a border; those first that others are made of.
    pub fn splits(&self) -> Vec<NodeId> {
        let roots = self.all_roots();
        let needed = self.needed_by(roots.iter().copied(), &[]);
        let (mut found, mut products) = (BTreeSet::new(), BTreeSet::new());
        for node in &needed {
            if let Some((reduction, source, _)) = self.reduced(*node) {
                let (value, times) = self.terms(reduction, source);
                if matches!(self.node(*node).op, Op::Scan { .. }) {
                    found.extend([Some(value), times, Some(*node)].into_iter().flatten());
                }
                products.extend(times.map(|_| source));
            }
            found.extend(self.padded.get(node).map(|padded| padded.source));
        }
        // A product that is summed is not rounded, as what is stored would be.
        let is_one = |node: &NodeId| {
            let here = self.node(*node);
            let is_stored = !products.contains(node) && !here.shape.is_empty();
            is_stored && !roots.contains(node) && !matches!(here.op, Op::Input { .. })
        };
        found.into_iter().filter(is_one).collect()
    }

    /// An expression in two, split at a node, of operands whose lengths are known.
    pub fn split(&self, node: NodeId, length: impl Fn(u16, DimId) -> i64) -> Result<Split, Uncut> {
        let dims = self.stored_dims(node);
        let Moved { graph: mut first, kept: of, nodes, .. } = self.alone([node].into_iter(), &length)?;
        first.outputs.push(Output { node: nodes[&node], dims: dims.clone() });

        let behind = self.needed_by(self.all_roots().into_iter(), &[node]);
        let others: BTreeSet<NodeId> = behind.iter().copied().filter(|other| *other != node).collect();
        let mut moved = Moved::new(self, self.operands_of(&others));
        let extents = dims.iter().map(|dim| {
            let extent = Reaches::new(self, 0, &length).size(self.size_of(node, *dim)).ok_or(Uncut::Length)?;
            Ok((*dim, extent))
        });
        let extents: Vec<(DimId, i64)> = extents.collect::<Result<_, Uncut>>()?;
        let stored = moved.graph.operand(OperandSpec { dtype: self.node(node).dtype, components: 1, dims });
        let input = moved.graph.input(stored, 0);
        moved.lent = extents.into_iter().map(|(dim, extent)| (dim, extent, stored)).collect();
        moved.nodes.insert(node, input);
        others.into_iter().try_for_each(|node| moved.node(self, node, &length).map(drop))?;
        moved.pad(self);
        let Moved { graph: mut rest, kept, nodes, .. } = moved;
        rest.padded.remove(&input);
        (0..self.outputs.len()).for_each(|output| rest.store_moved(self, output, |node| nodes[&node]));
        rest.joins = self.joins.clone();
        Ok(Split { first, of, rest, kept })
    }

    /// The dimensions of a node in the order of the first result's, and then of operands.
    fn stored_dims(&self, node: NodeId) -> Box<[DimId]> {
        let own: Vec<DimId> = self.node(node).shape.iter().map(|(dim, _)| *dim).collect();
        let of_results = self.results().first().map_or(Vec::new(), |result| result.dims.to_vec());
        let of_operands = self.operands.iter().flat_map(|operand| operand.dims.iter().copied());
        let mut dims: Vec<DimId> = Vec::new();
        for dim in of_results.into_iter().chain(of_operands).chain(own.iter().copied()) {
            if own.contains(&dim) && !dims.contains(&dim) {
                dims.push(dim);
            }
        }
        dims.into()
    }
}
