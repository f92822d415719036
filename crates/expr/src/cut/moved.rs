//! Some nodes of an expression in one of its own, with only the operands that they read.

use super::Uncut;
use super::offset::{arguments, with_arguments};
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use std::collections::{BTreeMap, BTreeSet};

/// An expression under construction, of nodes of another one.
pub(super) struct Moved {
    pub(super) graph: Graph,
    /// Where nodes are.
    pub(super) nodes: BTreeMap<NodeId, NodeId>,
    /// Which operands it has, by their numbers.
    pub(super) kept: Vec<u16>,
    /// Dimensions and lengths that others of its operands have, by their numbers here.
    pub(super) lent: Vec<(DimId, i64, u16)>,
}

impl Moved {
    /// The operands of a graph that are kept, and nothing yet.
    pub(super) fn new(graph: &Graph, kept: BTreeSet<u16>) -> Moved {
        let (mut made, kept): (_, Vec<u16>) = (Graph::default(), kept.into_iter().collect());
        graph.names().iter().for_each(|(dim, name)| made.name_dim(*dim, name));
        kept.iter().for_each(|operand| _ = made.operand(graph.operands[usize::from(*operand)].clone()));
        Moved { graph: made, nodes: BTreeMap::new(), kept, lent: Vec::new() }
    }

    /// A node of the graph, whose arguments are there. Lengths of operands that are not kept are numbers.
    pub(super) fn node(
        &mut self,
        graph: &Graph,
        node: NodeId,
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<NodeId, Uncut> {
        let place = |operand: u16| self.kept.iter().position(|it| *it == operand).map(|at| at as u16);
        let size = |size: Size| match size {
            Size::Operand(operand, of) => match place(operand) {
                Some(operand) => Ok(Size::Operand(operand, of)),
                None => {
                    let extent = length(operand, of);
                    let lent = self.lent.iter().find(|(dim, lent, _)| (*dim, *lent) == (of, extent));
                    lent.map_or_else(
                        || counted(Size::Const(extent)),
                        |(dim, _, operand)| Ok(Size::Operand(*operand, *dim)),
                    )
                }
            },
            size => Ok(size),
        };
        let here = graph.node(node);
        let numbers: Vec<NodeId> = arguments(&here.op).map(|argument| self.nodes[&argument]).collect();
        let there = match with_operands(with_arguments(&here.op, &numbers), &place, &size)? {
            Op::Extent(Size::Const(n)) => self.graph.extent(Size::Const(n)),
            op => self.graph.push(op, here.dtype),
        };
        self.nodes.insert(node, there);
        Ok(there)
    }

    /// Has nodes that go on beyond a border do so here, where all that they are made of is.
    pub(super) fn pad(&mut self, graph: &Graph) {
        for (node, there) in &self.nodes {
            let Some(padded) = graph.padded.get(node) else { continue };
            let is_here = |node: &NodeId| self.nodes.contains_key(node);
            if is_here(&padded.source) && padded.coords.iter().all(|(_, coord)| is_here(coord)) {
                self.graph.padded.insert(*there, padded.moved(|node| self.nodes[&node]));
            }
        }
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
pub(super) fn with_operands<E>(
    mut op: Op,
    place: &impl Fn(u16) -> Option<u16>,
    size: &impl Fn(Size) -> Result<Size, E>,
) -> Result<Op, E> {
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
