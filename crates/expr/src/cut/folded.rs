//! Results that need all of an operand before any of them, in two steps: what a window is reduced to, and the expression of that.
//!
//! Reductions along a dimension are made of windows: each gives one value, and these are reduced likewise, in their order. Sums of `f32` are added in
//! `f64` there. A reduction of what needs another one, as a variance does, comes in a step of its own: the rest is folded again.

use super::offset::{arguments, with_arguments, with_first_index};
use super::{Cut, Numbers, Share, Uncut, walk};
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, OperandSpec, Output, Size};
use crate::reduce::Reduction;
use crate::stage::Margin;
use std::collections::{BTreeMap, BTreeSet};

/// How results are computed from parts, each of a band of the operands.
#[derive(Clone, Debug)]
pub struct Folded {
    /// What is evaluated on windows: a result for each reduction of a band, which lacks the dimension. Its graph is always said.
    pub parts: Cut,
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
        let results = self.results();
        for (result, joined) in results.iter().enumerate() {
            if joined.outputs.clone().any(|output| self.partial(output).is_some()) {
                return Err(Uncut::Scattered { result });
            }
        }
        let mut found = self.innermost(dim);
        found.truncate(most);
        if found.is_empty() {
            return Err(Uncut::Lacking { result: 0 });
        }
        let bands = self.unused(!dim);
        let parts = self.parts(dim, &found, &length)?;
        let (rest, kept) = self.rest(bands, &found, &length)?;
        Ok(Folded { parts, rest, bands, kept })
    }

    /// A dimension that no operand has: this one, or one behind it.
    fn unused(&self, mut dim: DimId) -> DimId {
        while self.operands.iter().any(|operand| operand.dims.contains(&dim)) {
            dim = dim.wrapping_add(1);
        }
        dim
    }

    /// The reductions along a dimension that results need and that need no other one.
    fn innermost(&self, dim: DimId) -> Vec<NodeId> {
        let needed = self.needed_by(self.outputs.iter().map(|output| output.node), &[]);
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

    /// All that some nodes are made from, and they, but nothing that these others are made from.
    fn needed_by(&self, nodes: impl Iterator<Item = NodeId>, others: &[NodeId]) -> BTreeSet<NodeId> {
        let (mut needed, mut open) = (BTreeSet::new(), nodes.collect::<Vec<_>>());
        while let Some(node) = open.pop() {
            if needed.insert(node) && !others.contains(&node) {
                open.extend(arguments(&self.node(node).op));
            }
        }
        needed
    }

    fn reduced(&self, node: NodeId) -> Option<(Reduction, NodeId, Size)> {
        match self.node(node).op {
            Op::Reduce { reduction, source, size, .. } => Some((reduction, source, size)),
            _ => None,
        }
    }

    /// The dimensions of a reduction's result.
    fn dims_of(&self, node: NodeId) -> Vec<DimId> {
        self.node(node).shape.iter().map(|(dim, _)| *dim).collect()
    }

    fn parts(&self, dim: DimId, found: &[NodeId], length: &impl Fn(u16, DimId) -> i64) -> Result<Cut, Uncut> {
        let mut sources = self.clone();
        (sources.outputs, sources.joins) = (Vec::new(), Vec::new());
        // Of the whole these were asked before; a band is no whole.
        (sources.orders, sources.insides) = (Vec::new(), Vec::new());
        let read = self.operands_of(&self.needed_by(found.iter().copied(), &[]));
        let is_read = |size: Size| !matches!(size, Size::Operand(operand, _) if !read.contains(&operand));
        sources.equations.retain(|equation| is_read(equation.a) && is_read(equation.b));
        let mut reductions = Vec::new();
        for node in found {
            let (reduction, source, size) = self.reduced(*node).ok_or(Uncut::Length)?;
            let along = self.size_of(source, dim);
            // It is as long as an operand, all of which is reduced.
            if !matches!(along, Size::Operand(_, of) if of == dim) || size != along {
                return Err(Uncut::Length);
            }
            let dims: Vec<DimId> = [dim].into_iter().chain(self.dims_of(*node)).collect();
            sources.outputs.push(Output { node: source, dims: dims.into() });
            reductions.push((reduction, self.dims_of(*node), self.node(*node).dtype));
        }
        let mut walked = walk::shares(&sources, dim)?;
        let margin = walked.margin();
        let numbers = match (walked.counted, margin == Margin::NONE) {
            (_, false) => Numbers::Band,
            (true, true) => Numbers::Window,
            (false, true) => Numbers::None,
        };
        let mut graph = if numbers == Numbers::None { sources } else { with_first_index(&sources, dim, &walked) };
        let within = (numbers == Numbers::Band).then(|| graph.within_band(dim));
        let outputs = std::mem::take(&mut graph.outputs);
        for (output, (reduction, dims, dtype)) in outputs.into_iter().zip(reductions) {
            let size = graph.size_of(output.node, dim);
            let source = within.map_or(output.node, |within| graph.only(within, reduction, output.node));
            let node = graph.push(Op::Reduce { reduction, source, dim, size }, dtype);
            graph.outputs.push(Output { node, dims: dims.into() });
        }
        // What is not read here has not to be there at once.
        let shares = &mut walked.shares;
        let banded = shares.iter().position(|share| matches!(share, Share::Band(_)));
        let extent = banded.map(|number| length(number as u16, dim));
        for (number, share) in (0u16..).zip(shares) {
            let has_it = self.operands[usize::from(number)].dims.contains(&dim);
            if has_it && !read.contains(&number) && Some(length(number, dim)) == extent {
                *share = Share::Band(Margin::NONE);
            }
        }
        let walk::Found { shares, wraps, .. } = walked;
        Ok(Cut { dim, shares, margin, wraps, graph: Some(graph), numbers })
    }

    /// Whether an index of a window is one of its band: two operands more say where that begins and ends.
    fn within_band(&mut self, dim: DimId) -> NodeId {
        let [begin, end] = [(); 2].map(|()| {
            let number = self.operand(OperandSpec { dtype: DType::I32, components: 1, dims: [].into() });
            self.input(number, 0)
        });
        let index = self.index(dim);
        let (behind, before) = (self.binary(Binary::Ge, index, begin), self.binary(Binary::Lt, index, end));
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
    fn operands_of(&self, nodes: &BTreeSet<NodeId>) -> BTreeSet<u16> {
        let operand = |node: &NodeId| match self.node(*node).op {
            Op::Input { operand, .. } | Op::Guard { operand: Some(operand), .. } => Some(operand),
            _ => None,
        };
        nodes.iter().filter_map(operand).collect()
    }

    fn rest(
        &self,
        bands: DimId,
        found: &[NodeId],
        length: &impl Fn(u16, DimId) -> i64,
    ) -> Result<(Graph, Vec<u16>), Uncut> {
        let needed = self.needed_by(self.outputs.iter().map(|output| output.node), found);
        let mut others = needed.clone();
        found.iter().for_each(|node| _ = others.remove(node));
        let kept: Vec<u16> = self.operands_of(&others).into_iter().collect();
        let mut made = Graph::default();
        self.names().iter().for_each(|(dim, name)| made.name_dim(*dim, name));
        made.name_dim(bands, "bands");
        kept.iter().for_each(|operand| _ = made.operand(self.operands[usize::from(*operand)].clone()));
        let place = |operand: u16| kept.iter().position(|it| *it == operand).map(|at| at as u16);
        let size = |size: Size| match size {
            Size::Operand(operand, of) => match place(operand) {
                Some(operand) => Ok(Size::Operand(operand, of)),
                None => Ok(Size::Const(length(operand, of))).and_then(counted),
            },
            size => Ok(size),
        };
        let mut moved: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        for node in needed {
            let here = self.node(node);
            let there = match self.reduced(node).filter(|_| found.contains(&node)) {
                Some((reduction, ..)) => {
                    let dims = [bands].into_iter().chain(self.dims_of(node)).collect();
                    let operand = made.operand(OperandSpec { dtype: here.dtype, components: 1, dims });
                    made.joined(reduction, operand, bands)
                }
                None => {
                    let numbers: Vec<NodeId> = arguments(&here.op).map(|argument| moved[&argument]).collect();
                    let op = with_operands(with_arguments(&here.op, &numbers), &place, &size)?;
                    match op {
                        Op::Extent(Size::Const(n)) => made.extent(Size::Const(n)),
                        op => made.push(op, here.dtype),
                    }
                }
            };
            moved.insert(node, there);
        }
        made.outputs = self.outputs.iter().map(|it| Output { node: moved[&it.node], ..it.clone() }).collect();
        made.joins = self.joins.clone();
        Ok((made, kept))
    }

    /// Parts, made one.
    fn joined(&mut self, reduction: Reduction, operand: u16, bands: DimId) -> NodeId {
        let (part, size) = (self.input(operand, 0), Size::Operand(operand, bands));
        let dtype = self.node(part).dtype;
        let is_wide = reduction == Reduction::Sum && dtype == DType::F32;
        let source = if is_wide { self.cast(part, DType::F64) } else { part };
        let of = self.node(source).dtype;
        let joined = self.push(Op::Reduce { reduction, source, dim: bands, size }, of);
        self.cast(joined, dtype)
    }
}

/// A length that a kernel computes with.
fn counted(size: Size) -> Result<Size, Uncut> {
    match size {
        Size::Const(n) if n > i64::from(i32::MAX) => Err(Uncut::Length),
        size => Ok(size),
    }
}

/// An operation of other operands.
fn with_operands(
    mut op: Op,
    place: &impl Fn(u16) -> Option<u16>,
    size: &impl Fn(Size) -> Result<Size, Uncut>,
) -> Result<Op, Uncut> {
    match &mut op {
        Op::Input { operand, .. } => *operand = place(*operand).unwrap_or(*operand),
        Op::Guard { operand: Some(operand), .. } => *operand = place(*operand).unwrap_or(*operand),
        Op::Extent(of) | Op::Reduce { size: of, .. } => *of = size(*of)?,
        Op::At { sizes, .. } => {
            for (_, of) in sizes.iter_mut() {
                *of = size(*of)?;
            }
        }
        _ => {}
    }
    Ok(op)
}
