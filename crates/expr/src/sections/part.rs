//! The part of a graph that some of its outputs need.

use crate::graph::{DimId, Graph, NodeId, Op, Size};
use std::collections::{BTreeMap, BTreeSet};

/// A graph of these outputs alone, and which operand of `graph` each of its operands is. What was checked when operands were
/// bound is not checked again: sizes that must agree beyond its own nodes, boxes, literal indices.
pub(super) fn part(graph: &Graph, outputs: &[usize]) -> (Graph, Vec<usize>) {
    let nodes = needed(graph, outputs);
    let mut used: BTreeSet<u16> = BTreeSet::new();
    for node in &nodes {
        for_each_operand(&graph.node(*node).op, |operand| {
            used.insert(operand);
        });
    }
    let mut part = Graph::default();
    graph.names().iter().for_each(|(dim, name)| part.name_dim(*dim, name));
    let mut moved = Moved::default();
    for operand in &used {
        let number = part.operand(graph.operands[usize::from(*operand)].clone());
        moved.operands.insert(*operand, number);
    }
    for node in &nodes {
        let here = graph.node(*node);
        let there = part.push(moved.op(&here.op), here.dtype);
        moved.nodes.insert(*node, there);
    }
    for (node, padded) in graph.padded.iter().filter(|(node, _)| nodes.contains(node)) {
        part.padded.insert(moved.node(*node), padded.moved(|n| moved.node(n)));
    }
    outputs.iter().for_each(|output| part.store_moved(graph, *output, |n| moved.node(n)));
    (part, used.into_iter().map(usize::from).collect())
}

impl Graph {
    /// Whether operands are read at the coordinates of the loops alone.
    pub fn reads_in_place(&self) -> bool {
        !self.nodes().any(|n| matches!(n.op, Op::At { .. } | Op::Reduce { .. } | Op::Scan { .. }))
    }

    /// The same results without operands that none of them reads, and which of the operands are left. For expressions that
    /// [read in place](Graph::reads_in_place): what is checked of other reads when operands are bound is not kept.
    pub fn of_used_operands(&self) -> (Graph, Vec<usize>) {
        let outputs: Vec<usize> = (0..self.outputs.len()).collect();
        let (mut used, operands) = part(self, &outputs);
        used.joins = self.joins.clone();
        (used, operands)
    }
}

/// The nodes that outputs are computed from, in the order in which they were made.
fn needed(graph: &Graph, outputs: &[usize]) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::new();
    let mut stack: Vec<NodeId> = outputs.iter().flat_map(|o| graph.roots(*o)).collect();
    while let Some(node) = stack.pop() {
        if nodes.insert(node) {
            graph.node(node).op.for_each_arg(|a| stack.push(a));
        }
    }
    nodes
}

/// Calls `f` with every operand that an operation reads, or takes a size from.
fn for_each_operand(op: &Op, mut f: impl FnMut(u16)) {
    let mut size = |size: &Size| {
        if let Size::Operand(operand, _) = size {
            f(*operand);
        }
    };
    match op {
        Op::Extent(s) | Op::Reduce { size: s, .. } => size(s),
        Op::At { sizes, .. } => sizes.iter().for_each(|(_, s)| size(s)),
        Op::Input { operand, .. } | Op::Guard { operand: Some(operand), .. } => f(*operand),
        _ => {}
    }
}

/// Where nodes and operands are in the part.
#[derive(Default)]
struct Moved {
    nodes: BTreeMap<NodeId, NodeId>,
    operands: BTreeMap<u16, u16>,
}

impl Moved {
    fn node(&self, node: NodeId) -> NodeId {
        self.nodes[&node]
    }

    fn size(&self, size: Size) -> Size {
        match size {
            Size::Any | Size::Const(_) => size,
            Size::Operand(operand, dim) => Size::Operand(self.operands[&operand], dim),
            Size::Node(node) => Size::Node(self.node(node)),
        }
    }

    fn op(&self, op: &Op) -> Op {
        let node = |n: &NodeId| self.node(*n);
        match op {
            Op::Const(_) | Op::Index(_) => op.clone(),
            Op::Input { operand, component } => Op::Input { operand: self.operands[operand], component: *component },
            Op::Extent(size) => Op::Extent(self.size(*size)),
            Op::Unary(op, a) => Op::Unary(*op, node(a)),
            Op::Binary(op, a, b) => Op::Binary(*op, node(a), node(b)),
            Op::Fma(a, b, c) => Op::Fma(node(a), node(b), node(c)),
            Op::Select(c, a, b) => Op::Select(node(c), node(a), node(b)),
            Op::Cast(a) => Op::Cast(node(a)),
            Op::Bits(a) => Op::Bits(node(a)),
            Op::Call(function, args) => Op::Call(*function, args.iter().map(node).collect()),
            Op::Guard { value, low, high, operand } => Op::Guard {
                value: node(value),
                low: node(low),
                high: node(high),
                operand: operand.map(|o| self.operands[&o]),
            },
            Op::At { source, coords, sizes } => Op::At {
                source: node(source),
                coords: coords.iter().map(|(d, c)| (*d, node(c))).collect(),
                sizes: sizes.iter().map(|(d, s)| (*d, self.size(*s))).collect::<Box<[(DimId, Size)]>>(),
            },
            Op::Carry { start, number, times } => Op::Carry { start: node(start), number: *number, times: *times },
            Op::Iterate { carry, next } => Op::Iterate { carry: node(carry), next: node(next) },
            Op::Reduce { reduction, source, dim, size } => {
                Op::Reduce { reduction: *reduction, source: node(source), dim: *dim, size: self.size(*size) }
            }
            Op::Scan { reduction, source, dim } => Op::Scan { reduction: *reduction, source: node(source), dim: *dim },
        }
    }
}
