//! An independent evaluator: the graph's meaning, point by point, by recursion, with operations of its own.

mod number;
mod scattered;

use crate::tensor::Tensor;
use Number::{F64, Int};
pub use number::{Number, binary, cast, fma, nearest, range, round_to_half, unary, wrap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tilewright_expr::collective::Tree;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Binary, Graph, NodeId, Op, Size};
use tilewright_expr::{DType, Reduction};

/// The coordinate along each dimension that a node sees.
type Place = SmallVec<[(u64, i64); 6]>;

pub struct Naive<'a> {
    graph: &'a Graph,
    inputs: &'a [Tensor],
    memo: FxHashMap<(NodeId, Place, bool), Number>,
    /// Nodes whose values are kept: others are asked for once at a point, or are there anyway.
    kept: FxHashSet<NodeId>,
    /// The dimensions that threads reduce together, with their sizes, and the order.
    shared: Option<(Vec<(u64, i64)>, Tree)>,
    /// Rows of scans that threads share.
    scans: FxHashMap<(NodeId, Reduction, Place), Vec<Number>>,
    /// Values of iterations under way.
    carried: FxHashMap<NodeId, Number>,
    /// Whether a box or a coordinate was clamped.
    pub failed: bool,
    /// The bits of every place of a result that keeps what it held.
    pub held: u64,
}

impl<'a> Naive<'a> {
    pub fn new(graph: &'a Graph, inputs: &'a [Tensor], shared: Option<(Vec<(u64, i64)>, Tree)>) -> Self {
        Naive {
            graph,
            inputs,
            memo: FxHashMap::default(),
            kept: kept(graph),
            shared,
            scans: FxHashMap::default(),
            carried: FxHashMap::default(),
            failed: false,
            held: 0,
        }
    }

    /// Every output, of these shapes.
    pub fn outputs(&mut self, shapes: &[Vec<i64>]) -> Vec<Tensor> {
        shapes.iter().enumerate().map(|(i, shape)| self.output(i, shape)).collect()
    }

    /// One output.
    pub fn output(&mut self, number: usize, shape: &[i64]) -> Tensor {
        let graph = self.graph;
        if let Some(partial) = graph.partial(number) {
            return self.scattered(number, partial, shape);
        }
        let out = &graph.outputs[number];
        let dtype = graph.node(out.node).dtype;
        let count: i64 = shape.iter().product();
        let mut bits = Vec::new();
        for i in 0..count {
            let mut rest = i;
            let mut point = Place::new();
            for (dim, n) in out.dims.iter().zip(shape).rev() {
                point.push((*dim, rest % n));
                rest /= n;
            }
            bits.push(self.value(out.node, &point, false).bits(dtype));
        }
        Tensor { dtype, components: 1, dims: out.dims.to_vec(), shape: shape.to_vec(), bits }
    }

    /// `moved`: whether the point is one that something else reads at, rather than a point of the result.
    fn value(&mut self, node: NodeId, point: &[(u64, i64)], moved: bool) -> Number {
        let known = &self.graph.node(node).shape;
        let mut seen: Place = point.iter().filter(|(d, _)| known.iter().any(|(s, _)| s == d)).copied().collect();
        if !self.kept.contains(&node) {
            return self.compute(node, &seen, moved);
        }
        seen.sort_unstable();
        let key = (node, seen, moved);
        if let Some(v) = self.memo.get(&key) {
            return *v;
        }
        let v = self.compute(node, &key.1, moved);
        self.memo.insert(key, v);
        v
    }

    fn compute(&mut self, node: NodeId, point: &[(u64, i64)], moved: bool) -> Number {
        let graph = self.graph;
        let dtype = graph.node(node).dtype;
        let coord = |dim: u64| point.iter().find(|(d, _)| *d == dim).map_or(0, |(_, c)| *c);
        match &graph.node(node).op {
            Op::Const(Scalar { bits, .. }) => Number::of(dtype, *bits),
            Op::Input { operand, component } => {
                let tensor = &self.inputs[*operand as usize];
                let coords: Vec<i64> = tensor.dims.iter().map(|d| coord(*d)).collect();
                Number::of(dtype, tensor.at(&coords, *component as usize))
            }
            Op::Index(dim) => Int(i128::from(coord(*dim))),
            Op::Extent(size) => Int(self.size(*size, point, moved)),
            Op::Unary(op, a) => unary(*op, self.value(*a, point, moved), dtype),
            Op::Binary(op, a, b) => {
                let operands = graph.node(*a).dtype;
                binary(*op, self.value(*a, point, moved), self.value(*b, point, moved), operands)
            }
            Op::Fma(a, b, c) => {
                fma(self.value(*a, point, moved), self.value(*b, point, moved), self.value(*c, point, moved))
            }
            // What decides nothing is not looked at, so that a box in it is not reported.
            Op::Select(_, a, b) if a == b => self.value(*a, point, moved),
            Op::Select(c, a, b) => {
                // Both sides are computed, so that both are checked.
                let (yes, no) = (self.value(*a, point, moved), self.value(*b, point, moved));
                if self.value(*c, point, moved).int() == 1 { yes } else { no }
            }
            Op::Cast(a) => cast(self.value(*a, point, moved), dtype),
            Op::Bits(a) => {
                let from = graph.node(*a).dtype;
                Number::of(dtype, self.value(*a, point, moved).bits(from))
            }
            // Their twin is their definition.
            Op::Call(function, args) => {
                let bits = |a: &NodeId| (graph.node(*a).dtype, *a);
                let args: Vec<u64> =
                    args.iter().map(bits).map(|(dtype, a)| self.value(a, point, moved).bits(dtype)).collect();
                Number::of(dtype, function.bits(&args))
            }
            Op::Guard { value, low, high, .. } => {
                let v = self.value(*value, point, moved).int();
                let (low, high) = (self.value(*low, point, moved).int(), self.value(*high, point, moved).int());
                let clamped = if v < low { low } else { v.min(high) };
                self.failed |= clamped != v;
                Int(clamped)
            }
            Op::At { source, coords, .. } => {
                let mut there: Place =
                    point.iter().filter(|(d, _)| coords.iter().all(|(c, _)| c != d)).copied().collect();
                for (dim, coord) in coords {
                    there.push((*dim, self.value(*coord, point, moved).int() as i64));
                }
                self.value(*source, &there, true)
            }
            Op::Carry { .. } => *self.carried.get(&node).expect("a step is under way"),
            Op::Iterate { carry, next } => {
                let Op::Carry { start, times, .. } = graph.node(*carry).op else { panic!("a carried value") };
                let mut value = self.value(start, point, moved);
                for _ in 0..times {
                    // What was computed in the step before is not what it is now.
                    self.memo.clear();
                    self.carried.insert(*carry, value);
                    value = self.value(*next, point, moved);
                }
                self.memo.clear();
                value
            }
            Op::Reduce { reduction, source, dim, size } => {
                if let Some((dims, tree)) = self.shared.clone().filter(|_| !moved)
                    && let Some(source) = self.all_of(node, *reduction, &dims)
                {
                    return self.tree(*reduction, source, point, (&dims, tree));
                }
                let n = self.size(*size, point, moved);
                let mut sum = start(*reduction, dtype);
                for c in 0..n.max(0) as i64 {
                    let there: Place = point.iter().filter(|(d, _)| d != dim).copied().chain([(*dim, c)]).collect();
                    sum = self.one_more(*reduction, sum, *source, &there, true);
                }
                sum
            }
            Op::Scan { reduction, source, dim } => {
                let index = coord(*dim);
                let shared =
                    self.shared.clone().filter(|(dims, _)| !moved && matches!(dims[..], [(d, _)] if d == *dim));
                match shared {
                    Some((dims, tree)) => self.scanned((*reduction, *source), point, dims[0], tree, index as usize),
                    None => (0..=index).fold(start(*reduction, dtype), |sum, c| {
                        let value = self.value(*source, &with(point, *dim, c), true);
                        binary(step(*reduction), sum, value, dtype)
                    }),
                }
            }
        }
    }

    /// An accumulator with the value of one more point.
    fn one_more(
        &mut self,
        reduction: Reduction,
        sum: Number,
        source: NodeId,
        at: &[(u64, i64)],
        moved: bool,
    ) -> Number {
        let node = self.graph.node(source);
        match node.op {
            // A sum of products of floats rounds each product together with the sum.
            Op::Binary(Binary::Mul, a, b) if reduction == Reduction::Sum && node.dtype.is_float() => {
                fma(self.value(a, at, moved), self.value(b, at, moved), sum)
            }
            _ => binary(step(reduction), sum, self.value(source, at, moved), node.dtype),
        }
    }

    /// A value of a scan's row, which is scanned strip after strip.
    fn scanned(
        &mut self,
        (reduction, source): (Reduction, NodeId),
        point: &[(u64, i64)],
        (dim, n): (u64, i64),
        tree: Tree,
        index: usize,
    ) -> Number {
        let dtype = self.graph.node(source).dtype;
        let key = (source, reduction, with(point, dim, 0));
        if let Some(known) = self.scans.get(&key) {
            return known[index];
        }
        let mut values: Vec<Number> = (0..n).map(|c| self.value(source, &with(point, dim, c), false)).collect();
        let strip = tree.width.min(128) as usize;
        values.resize(values.len().next_multiple_of(strip), start(reduction, dtype));
        let op = |a, b| binary(step(reduction), a, b, dtype);
        let (mut row, mut segments) = (Vec::new(), Vec::new());
        for segment in values.chunks((tree.segment as usize).next_multiple_of(strip)) {
            let mut before = beside(reduction, &segments, dtype);
            let mut sum = start(reduction, dtype);
            for strip in segment.chunks(strip) {
                halves(strip, before, &op, &mut row);
                before = op(before, total(strip, &op));
                sum = op(sum, total(strip, &op));
            }
            segments.push(sum);
        }
        let value = row[index];
        self.scans.insert(key, row);
        value
    }

    /// What reductions along exactly these dimensions, one inside the other, reduce.
    fn all_of(&self, node: NodeId, reduction: Reduction, dims: &[(u64, i64)]) -> Option<NodeId> {
        let mut left: Vec<u64> = dims.iter().map(|(d, _)| *d).collect();
        let mut at = node;
        while let Op::Reduce { reduction: r, source, dim, size } = self.graph.node(at).op {
            if r != reduction || matches!(size, Size::Node(_)) {
                break;
            }
            left.iter().position(|d| *d == dim).map(|i| left.remove(i))?;
            at = source;
        }
        left.is_empty().then_some(at)
    }

    /// Segments, accumulators side by side, neighbours in pairs: as the definition says.
    fn tree(
        &mut self,
        reduction: Reduction,
        source: NodeId,
        point: &[(u64, i64)],
        (dims, tree): (&[(u64, i64)], Tree),
    ) -> Number {
        let dtype = self.graph.node(source).dtype;
        let n: i64 = dims.iter().map(|(_, n)| *n).product();
        let mut parts = Vec::new();
        for begin in (0..n).step_by(tree.segment as usize) {
            let mut sums = vec![start(reduction, dtype); tree.width as usize];
            for i in begin..n.min(begin + tree.segment) {
                let mut there = Place::from_slice(point);
                let mut rest = i;
                for (dim, size) in dims.iter().rev() {
                    there.push((*dim, rest % size));
                    rest /= size;
                }
                let j = ((i - begin) % i64::from(tree.width)) as usize;
                sums[j] = self.one_more(reduction, sums[j], source, &there, false);
            }
            parts.push(pairs(reduction, sums, dtype));
        }
        if parts.len() == 1 {
            return parts[0];
        }
        beside(reduction, &parts, dtype)
    }

    fn size(&mut self, size: Size, point: &[(u64, i64)], moved: bool) -> i128 {
        match size {
            Size::Const(n) => i128::from(n),
            Size::Operand(operand, dim) => {
                let tensor = &self.inputs[operand as usize];
                i128::from(tensor.shape[tensor.dims.iter().position(|d| *d == dim).expect("the operand has it")])
            }
            Size::Node(node) => self.value(node, point, moved).int(),
            Size::Any => panic!("a size that nothing gives is used"),
        }
    }
}

/// What several others read, or one at several places, or at several points of dimensions that it does not have.
fn kept(graph: &Graph) -> FxHashSet<NodeId> {
    let (mut read, mut kept) = (FxHashSet::default(), FxHashSet::default());
    for node in graph.nodes() {
        // Products are summed without being asked for.
        if let Op::Reduce { source, .. } = node.op
            && let Op::Binary(Binary::Mul, a, b) = graph.node(source).op
        {
            kept.extend([a, b]);
        }
    }
    for node in graph.nodes() {
        let once = !matches!(node.op, Op::At { .. } | Op::Reduce { .. } | Op::Scan { .. } | Op::Iterate { .. });
        node.op.for_each_arg(|arg| {
            if !read.insert(arg) || !once || graph.node(arg).shape.len() < node.shape.len() {
                kept.insert(arg);
            }
        });
    }
    kept.retain(|node| !matches!(graph.node(*node).op, Op::Const(_) | Op::Input { .. } | Op::Index(_)));
    kept
}

/// A point with another coordinate along one dimension.
fn with(point: &[(u64, i64)], dim: u64, coord: i64) -> Place {
    point.iter().filter(|(d, _)| *d != dim).copied().chain([(dim, coord)]).collect()
}

/// The sum of a strip: of four values one after the other, of more the sum of the halves' sums.
fn total(values: &[Number], op: &impl Fn(Number, Number) -> Number) -> Number {
    match values {
        [first, rest @ ..] if values.len() == 4 => rest.iter().fold(*first, |sum, v| op(sum, *v)),
        _ => {
            let (a, b) = values.split_at(values.len() / 2);
            op(total(a, op), total(b, op))
        }
    }
}

/// Appends the scan of a strip that has `before` before it.
fn halves(values: &[Number], before: Number, op: &impl Fn(Number, Number) -> Number, row: &mut Vec<Number>) {
    if values.len() > 4 {
        let (a, b) = values.split_at(values.len() / 2);
        halves(a, before, op, row);
        return halves(b, op(before, total(a, op)), op, row);
    }
    let mut sum = before;
    for v in values {
        sum = op(sum, *v);
        row.push(sum);
    }
}

/// Results of segments, in 32 accumulators side by side.
fn beside(reduction: Reduction, parts: &[Number], dtype: DType) -> Number {
    let mut sums = vec![start(reduction, dtype); 32];
    for (i, part) in parts.iter().enumerate() {
        sums[i % 32] = binary(step(reduction), sums[i % 32], *part, dtype);
    }
    pairs(reduction, sums, dtype)
}

/// Neighbours become one until one is left.
fn pairs(reduction: Reduction, mut values: Vec<Number>, dtype: DType) -> Number {
    while values.len() > 1 {
        values = values.chunks(2).map(|p| binary(step(reduction), p[0], p[1], dtype)).collect();
    }
    values[0]
}

/// What a reduction of nothing is.
fn start(reduction: Reduction, dtype: DType) -> Number {
    let end = match reduction {
        Reduction::Sum => 0.0,
        Reduction::Product => 1.0,
        Reduction::Min => f64::INFINITY,
        Reduction::Max => f64::NEG_INFINITY,
    };
    match (dtype, reduction) {
        (DType::Bool, Reduction::Min | Reduction::Product) => Int(1),
        (DType::Bool, _) => Int(0),
        _ => cast(F64(end), dtype),
    }
}

fn step(reduction: Reduction) -> Binary {
    match reduction {
        Reduction::Sum => Binary::Add,
        Reduction::Product => Binary::Mul,
        Reduction::Min => Binary::Min,
        Reduction::Max => Binary::Max,
    }
}
