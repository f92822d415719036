//! What a graph computes for a point, counted on the graph: no kernel is written for it.

use tilewright_expr::DType;
use tilewright_expr::extend::{Source, Text};
use tilewright_expr::graph::{Binary, DimId, Graph, NodeId, Op, Unary};

/// Operations for one point of the loops, all register values together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arithmetic {
    /// Those of a few cycles; a multiply-add is one.
    pub(super) light: usize,
    /// Divisions, roots, remainders, and what called functions are expected to take, in units of such an operation.
    pub(super) heavy: usize,
    /// How many of all have operands of 64 bits.
    pub(super) wide: usize,
}

/// What a composition of elementary operations takes, in units of a division.
const ELEMENTARY: usize = 4;
/// Characters of a function's text that take about as long as a division.
const CHARACTERS: usize = 96;

/// Counts the nodes that results are made from; those that vary along register dimensions as often as there are values.
pub(super) fn arithmetic(graph: &Graph, registers: &[(DimId, i64)]) -> Arithmetic {
    let mut sum = Arithmetic::default();
    for id in reachable(graph, graph.outputs.iter().map(|o| o.node)) {
        let node = graph.node(id);
        let varies = |(dim, n): &(DimId, i64)| if node.shape.iter().any(|(d, _)| d == dim) { *n as usize } else { 1 };
        let times: usize = registers.iter().map(varies).product();
        let (light, heavy) = cost(graph, &node.op);
        (sum.light, sum.heavy) = (sum.light + times * light, sum.heavy + times * heavy);
        if matches!(node.dtype, DType::F64 | DType::I64 | DType::U64) {
            sum.wide += times * (light + heavy);
        }
        if let Op::Iterate { carry, next } = node.op {
            sum.repeat(graph, (carry, next), times);
        }
    }
    sum
}

impl Arithmetic {
    /// Adds the steps of an iteration behind the first one.
    fn repeat(&mut self, graph: &Graph, (carry, next): (NodeId, NodeId), times: usize) {
        let Op::Carry { times: steps, .. } = graph.node(carry).op else { return };
        let again = times.saturating_mul((steps as usize).saturating_sub(1));
        for id in walk(graph, std::iter::once(next), |op| !matches!(op, Op::Carry { .. } | Op::At { .. })) {
            let (light, heavy) = cost(graph, &graph.node(id).op);
            self.light = self.light.saturating_add(again.saturating_mul(light));
            self.heavy = self.heavy.saturating_add(again.saturating_mul(heavy));
        }
    }
}

/// Light and heavy operations of a node.
fn cost(graph: &Graph, op: &Op) -> (usize, usize) {
    match op {
        Op::Const(_) | Op::Input { .. } | Op::Index(_) | Op::Extent(_) | Op::Bits(_) => (0, 0),
        Op::Carry { .. } | Op::Iterate { .. } => (0, 0),
        Op::Unary(Unary::Sqrt, _) | Op::Binary(Binary::Div | Binary::Rem, ..) => (0, 1),
        Op::Guard { .. } => (2, 0),
        Op::At { coords, .. } => (coords.iter().filter(|(_, c)| !matches!(graph.node(*c).op, Op::Index(_))).count(), 0),
        Op::Call(function, _) => (0, weight(function.text())),
        _ => (1, 0),
    }
}

/// What a function is expected to take, in units of a division.
fn weight(text: &Text) -> usize {
    let own = match text.source {
        Source::Written(text) | Source::Cuda(text) => text.len().div_ceil(CHARACTERS),
        Source::Elementary(_) => ELEMENTARY,
    };
    own + text.callees.iter().map(|callee| weight(callee)).sum::<usize>()
}

/// All nodes that these are made from, each once.
pub(super) fn reachable(graph: &Graph, from: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    walk(graph, from, |_| true)
}

/// The nodes that these are made from, each once. Of a node that is not to be followed, what it reads is left out; of a read at other
/// coordinates these are gone into all the same.
pub(super) fn walk(graph: &Graph, from: impl Iterator<Item = NodeId>, follow: impl Fn(&Op) -> bool) -> Vec<NodeId> {
    let (mut open, mut seen) = (from.collect::<Vec<_>>(), std::collections::BTreeSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let op = &graph.node(id).op;
        if follow(op) {
            op.for_each_arg(|a| open.push(a));
        } else if let Op::At { source, .. } = op {
            op.for_each_arg(|a| open.extend((a != *source).then_some(a)));
        }
    }
    seen.into_iter().collect()
}
