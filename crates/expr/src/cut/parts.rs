//! What bands are reduced to.

use super::moved::Moved;
use super::offset::{arguments, with_first_index};
use super::scanned::Passes;
use super::{Cut, Share, Uncut, walk};
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, OperandSpec, Output, Size, Unary};
use crate::reduce::Reduction;
use crate::stage::Margin;
use std::collections::BTreeSet;

/// How something is reduced, to which dimensions, in which type.
type Reduced = (Reduction, Vec<DimId>, DType);

impl Graph {
    /// All that some nodes are made from, and they, but nothing that these others are made from.
    pub(super) fn needed_by(&self, nodes: impl Iterator<Item = NodeId>, others: &[NodeId]) -> BTreeSet<NodeId> {
        let (mut needed, mut open) = (BTreeSet::new(), nodes.collect::<Vec<_>>());
        while let Some(node) = open.pop() {
            if needed.insert(node) && !others.contains(&node) {
                open.extend(arguments(&self.node(node).op));
            }
        }
        needed
    }

    pub(super) fn reduced(&self, node: NodeId) -> Option<(Reduction, NodeId, Size)> {
        match self.node(node).op {
            Op::Reduce { reduction, source, size, .. } => Some((reduction, source, size)),
            Op::Scan { reduction, source, dim } => Some((reduction, source, self.size_of(source, dim))),
            _ => None,
        }
    }

    /// The dimensions of a node but one.
    pub(super) fn dims_without(&self, dim: DimId, node: NodeId) -> Vec<DimId> {
        self.node(node).shape.iter().map(|(of, _)| *of).filter(|of| *of != dim).collect()
    }

    /// What a band comes to, for each of some reductions or scans along `dim`, so far before the band: a result, which lacks the dimension. At most so many
    /// scans may stand inside.
    pub(super) fn parts(
        &self,
        dim: DimId,
        (found, most): (&[(NodeId, i64)], usize),
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<Passes, Uncut> {
        let (mut sources, reductions) = self.sources(dim, found, length)?;
        let mut kept = std::mem::take(&mut sources.kept);
        let (sources, length) = (sources.graph, |operand: u16, dim| length(kept[usize::from(operand)], dim));
        let mut walked = walk::shares(&sources, dim, |output| found[output].1)?;
        let totals = sources.totals((dim, most), &mut walked, &length)?;
        let margin = walked.margin();
        let numbers = walked.numbers(margin != Margin::NONE);
        let is_told = walked.counted || !totals.is_empty() || !walked.twice.is_empty();
        let (mut graph, mut band) = match is_told {
            true => with_first_index(&sources, dim, &walked),
            false => (sources.clone(), None),
        };
        if margin != Margin::NONE {
            band = Some(band.unwrap_or_else(|| graph.told()));
        }
        let outputs = std::mem::take(&mut graph.outputs);
        for ((output, (reduction, dims, dtype)), (_, from)) in outputs.into_iter().zip(reductions).zip(found) {
            let size = graph.size_of(output.node, dim);
            let within = band.map(|band| graph.is_within(dim, band, *from));
            let source = within.map_or(output.node, |within| graph.only(within, reduction, output.node));
            let node = graph.push(Op::Reduce { reduction, source, dim, size }, dtype);
            graph.outputs.push(Output { node, dims: dims.into() });
        }
        // What only lends its length has not to be there at once.
        let read = sources.operands_of(&sources.needed_by(sources.outputs.iter().map(|output| output.node), &[]));
        let shares = &mut walked.shares;
        let banded = shares.iter().position(|share| matches!(share, Share::Band(_)));
        let extent = banded.map(|number| length(number as u16, dim));
        for (number, (share, operand)) in (0u16..).zip(shares.iter_mut().zip(&sources.operands)) {
            let has_it = operand.dims.contains(&dim);
            if has_it && !read.contains(&number) && Some(length(number, dim)) == extent {
                *share = Share::Band(Margin::NONE);
            }
        }
        let walk::Found { shares, wraps, twice, .. } = walked;
        kept.extend(twice.iter().map(|operand| kept[usize::from(*operand)]).collect::<Vec<_>>());
        let (length, scattered, graph) = (None, false, Some(graph));
        Ok(Passes { cut: Cut { dim, length, shares, margin, wraps, scattered, graph, numbers }, kept, totals })
    }

    /// What some nodes reduce along `dim`, as results of operands that are read for that; and how each is reduced, to which dimensions and type.
    fn sources(
        &self,
        dim: DimId,
        found: &[(NodeId, i64)],
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<(Moved, Vec<Reduced>), Uncut> {
        let reduced = |(node, _): &(NodeId, i64)| self.reduced(*node).ok_or(Uncut::Length);
        let of = found.iter().map(reduced).collect::<Result<Vec<_>, _>>()?;
        let needed = self.needed_by(of.iter().map(|(_, source, _)| *source), &[]);
        let kept = self.operands_of(&needed).into_iter().chain(self.lengths_of(&needed)).collect();
        let mut moved = Moved::new(self, kept);
        needed.into_iter().try_for_each(|node| moved.node(self, node, length).map(drop))?;
        moved.pad(self);
        let mut reductions = Vec::new();
        for ((node, _), (reduction, source, size)) in found.iter().zip(of) {
            let along = self.size_of(source, dim);
            // It is as long as an operand, all of which is reduced.
            if !matches!(along, Size::Operand(_, of) if of == dim) || size != along {
                return Err(Uncut::Length);
            }
            let left = self.dims_without(dim, *node);
            let dims = [dim].into_iter().chain(left.iter().copied()).collect();
            moved.graph.outputs.push(Output { node: moved.nodes[&source], dims });
            reductions.push((reduction, left, self.node(*node).dtype));
        }
        Ok((moved, reductions))
    }

    /// The operands whose lengths some nodes have.
    pub(super) fn lengths_of(&self, nodes: &BTreeSet<NodeId>) -> BTreeSet<u16> {
        let mut found = BTreeSet::new();
        let mut add = |size: &Size| {
            if let Size::Operand(operand, _) = size {
                found.insert(*operand);
            }
        };
        for node in nodes {
            match &self.node(*node).op {
                Op::Extent(size) | Op::Reduce { size, .. } => add(size),
                Op::At { sizes, .. } => sizes.iter().for_each(|(_, size)| add(size)),
                _ => {}
            }
        }
        found
    }

    /// Two numbers more that an expression is told.
    pub(super) fn told(&mut self) -> [NodeId; 2] {
        [(); 2].map(|()| {
            let number = self.operand(OperandSpec { dtype: DType::I32, components: 1, dims: [].into() });
            self.input(number, 0)
        })
    }

    /// Whether an index of a window is this one, so many away from it, or behind that.
    pub(super) fn is_from(&mut self, dim: DimId, first: NodeId, away: i64) -> NodeId {
        let (index, away) = (self.index(dim), self.int(away as i32));
        let first = self.binary(Binary::Add, first, away);
        self.binary(Binary::Ge, index, first)
    }

    /// Whether an index of a window is one of the band, or so many away from one.
    pub(super) fn is_within(&mut self, dim: DimId, [begin, end]: [NodeId; 2], away: i64) -> NodeId {
        let (behind, before) = (self.is_from(dim, begin, away), self.is_from(dim, end, away));
        let before = self.unary(Unary::Not, before);
        self.binary(Binary::And, behind, before)
    }

    /// What is reduced where it counts, elsewhere what changes nothing. A product that is summed is one of factors still.
    fn only(&mut self, within: NodeId, reduction: Reduction, source: NodeId) -> NodeId {
        let (value, times) = self.terms(reduction, source);
        let none = self.constant(reduction.identity(self.node(source).dtype));
        let value = self.select(within, value, none);
        let Some(times) = times else { return value };
        let times = self.select(within, times, none);
        self.rounded(Binary::Mul, value, times)
    }

    /// The operands whose elements some nodes read.
    pub(super) fn operands_of(&self, nodes: &BTreeSet<NodeId>) -> BTreeSet<u16> {
        let operand = |node: &NodeId| match self.node(*node).op {
            Op::Input { operand, .. } | Op::Guard { operand: Some(operand), .. } => Some(operand),
            _ => None,
        };
        nodes.iter().filter_map(operand).collect()
    }
}
