//! The traced expression: a hash-consed DAG over world coordinates.
//!
//! A node is a function of the world. An operand projects the world onto the dimensions that it has; reading anything at
//! other coordinates is the single primitive [`Op::At`], to which crop, resize, flip, reorder and rename all come down.

mod called;
mod journal;
pub(crate) mod known;
mod names;
mod op;

pub(crate) use journal::{Journal, Note};
pub use op::{Binary, Op, Size, Unary};

use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::join::Join;
use crate::map::Map;
use crate::reads::Padded;
use crate::scatter::{Partial, Scattering};
use std::collections::BTreeMap;

/// A dimension's identity: its type's 64-bit id.
pub type DimId = u64;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// A node with its type and shape.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// Of what type.
    pub dtype: DType,
    /// Over which dimensions, sorted by id.
    pub shape: Box<[(DimId, Size)]>,
    /// How many reductions, scans and iterations stand one inside the other in it: 0 if there is none.
    pub depth: u16,
}

/// What the expression expects of an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandSpec {
    /// Type of each component.
    pub dtype: DType,
    /// Components of an element.
    pub components: u8,
    /// Its dimensions, in no particular order: any layout of them can be bound.
    pub dims: Box<[DimId]>,
}

/// Two sizes that must agree once operands are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Equation {
    /// The dimension.
    pub dim: DimId,
    /// One size.
    pub a: Size,
    /// The other.
    pub b: Size,
}

/// A size that is computed with, so that something must say what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Need {
    /// The dimension.
    pub dim: DimId,
    /// Its size.
    pub size: Size,
    /// The smallest legal one: 1 where the dimension is read whatever the size of the result.
    pub least: i64,
}

/// Boxes that must have pixels, and lie inside what they crop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inside {
    /// The operand that holds the boxes.
    pub boxes: u16,
    /// Rows and columns of what is cropped; `None` where boxes may reach outside.
    pub picture: Option<(Size, Size)>,
}

/// A result, under a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// What is stored.
    pub node: NodeId,
    /// Its dimensions, outermost first.
    pub dims: Box<[DimId]>,
}

/// A traced expression.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    index: Map<(Op, DType), NodeId>,
    names: Vec<(DimId, &'static str)>,
    /// The operands, in argument order.
    pub operands: Vec<OperandSpec>,
    /// The results.
    pub outputs: Vec<Output>,
    /// Outputs that are parts of one result.
    pub joins: Vec<Join>,
    /// Outputs whose places are not each stored once, by their number.
    pub(crate) partials: BTreeMap<usize, Partial>,
    /// What makes the same values as a node, if it is stored.
    pub(crate) histograms: Map<NodeId, Scattering>,
    /// Sizes that must agree.
    pub equations: Vec<Equation>,
    /// Sizes that are computed with.
    pub needs: Vec<Need>,
    /// Boxes that are checked.
    pub insides: Vec<Inside>,
    /// Reads at literal indices: the dimension, its size, smallest and largest index read.
    pub orders: Vec<(DimId, Size, i32, i32)>,
    /// What made several nodes at once: its name, and what it was given. For those who look inside.
    functions: Map<NodeId, (&'static str, Box<[NodeId]>)>,
    /// Nodes that go on beyond their source by a border.
    pub(crate) padded: Map<NodeId, Padded>,
    error: Option<Error>,
    /// The trace that this graph is being built by; 0 for none.
    pub(crate) trace: u64,
    /// How an eager trace builds it.
    journal: Option<Box<Journal>>,
}

impl Graph {
    /// The first mistake made while tracing, if any.
    pub fn check(&self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Records a mistake; the first one is kept.
    pub fn fail(&mut self, error: Error) {
        self.without_journal();
        self.error.get_or_insert(error);
    }

    /// Marks the trace as failed by an expression of another trace; the node stands in for that expression.
    pub(crate) fn stale(&mut self) -> NodeId {
        self.fail(Error::Stale);
        self.constant(Scalar::of(0i32))
    }

    /// Whether `other` computes the same from equal operands.
    pub fn same(&self, other: &Graph) -> bool {
        self.outputs == other.outputs
            && self.joins == other.joins
            && self.partials == other.partials
            && self.operands == other.operands
            && self.error == other.error
            && self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(a, b)| a.op == b.op && a.dtype == b.dtype)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Every node.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// The number of every node.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was traced.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The size of `dim` in `node`; [`Size::Any`] if the node lacks it.
    pub fn size_of(&self, node: NodeId, dim: DimId) -> Size {
        self.node(node).shape.iter().find(|(d, _)| *d == dim).map_or(Size::Any, |(_, s)| *s)
    }

    /// The size of `dim` in `source`, which will be computed with.
    pub(crate) fn needed(&mut self, source: NodeId, dim: DimId, least: i64) -> Size {
        let need = Need { dim, size: self.size_of(source, dim), least };
        self.note(Note::Need(need));
        need.size
    }

    fn add(&mut self, op: Op, dtype: DType) -> NodeId {
        if let Some(id) = self.index.get(&(op.clone(), dtype)) {
            return *id;
        }
        let shape = self.shape_of(&op).into_boxed_slice();
        let depth = self.depth_of(&op);
        let id = NodeId(self.nodes.len() as u32);
        self.index.insert((op.clone(), dtype), id);
        self.nodes.push(Node { op, dtype, shape, depth });
        id
    }

    /// A literal.
    pub fn constant(&mut self, value: Scalar) -> NodeId {
        self.push(Op::Const(value), value.dtype)
    }

    /// One component of an operand.
    pub fn input(&mut self, operand: u16, component: u8) -> NodeId {
        let dtype = self.operands[operand as usize].dtype;
        self.push(Op::Input { operand, component }, dtype)
    }

    /// A unary operation.
    pub fn unary(&mut self, op: Unary, a: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        self.push(Op::Unary(op, a), dtype)
    }

    /// A binary operation; a float product that feeds a sum becomes one fused multiply-add.
    pub fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        let Some(fused) = self.contract(op, a, b) else { return self.rounded(op, a, b) };
        // A function that ends with a product is still that function for who looks inside.
        match self.made_by(a).or(self.made_by(b)) {
            Some(_) => self.called(if op == Binary::Sub { "sub" } else { "add" }, &[a, b], fused),
            None => fused,
        }
    }

    /// A binary operation as it stands, never contracted.
    pub(crate) fn rounded(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        let dtype = if op.compares() { DType::Bool } else { self.node(a).dtype };
        self.push(Op::Binary(op, a, b), dtype)
    }

    /// The contraction rule: `a*b + c`, `c + a*b`, `a*b - c` and `c - a*b` each round once. Of two products the left one is
    /// fused. The graph decides, before anything is folded: what is a literal differs between host and device.
    fn contract(&mut self, op: Binary, a: NodeId, b: NodeId) -> Option<NodeId> {
        if !self.node(a).dtype.is_float() {
            return None;
        }
        let product = |g: &Self, n: NodeId| match g.node(n).op {
            Op::Binary(Binary::Mul, x, y) => Some((x, y)),
            _ => None,
        };
        match (op, product(self, a), product(self, b)) {
            (Binary::Add, Some((x, y)), _) => Some(self.fma(x, y, b)),
            (Binary::Add, None, Some((x, y))) => Some(self.fma(x, y, a)),
            (Binary::Sub, Some((x, y)), _) => {
                let c = self.unary(Unary::Neg, b);
                Some(self.fma(x, y, c))
            }
            (Binary::Sub, None, Some((x, y))) => {
                let x = self.unary(Unary::Neg, x);
                Some(self.fma(x, y, a))
            }
            _ => None,
        }
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        self.push(Op::Fma(a, b, c), dtype)
    }

    /// `if c { a } else { b }`.
    pub fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        let dtype = self.node(a).dtype;
        self.push(Op::Select(c, a, b), dtype)
    }

    /// A saturating cast; to the same type, the node itself.
    pub fn cast(&mut self, a: NodeId, to: DType) -> NodeId {
        if self.node(a).dtype == to { a } else { self.push(Op::Cast(a), to) }
    }

    /// The size of a dimension as an `i32`.
    pub fn extent(&mut self, size: Size) -> NodeId {
        match size {
            Size::Node(node) => node,
            Size::Const(n) => self.constant(Scalar::of(n as i32)),
            _ => self.push(Op::Extent(size), DType::I32),
        }
    }

    /// `source` read at other coordinates; see [`Op::At`].
    pub fn at(&mut self, source: NodeId, coords: &[(DimId, NodeId)], sizes: &[(DimId, Size)]) -> NodeId {
        let dtype = self.node(source).dtype;
        self.push(Op::At { source, coords: coords.into(), sizes: sizes.into() }, dtype)
    }

    /// Reductions one inside the other; those that a coordinate is computed from stand inside what is read there.
    fn depth_of(&self, op: &Op) -> u16 {
        let mut depth = 0;
        op.for_each_arg(|a| depth = self.node(a).depth.max(depth));
        match op {
            Op::Reduce { .. } | Op::Scan { .. } | Op::Iterate { .. } => depth + 1,
            Op::At { source, coords, .. } => {
                let coords = coords.iter().map(|(_, c)| self.node(*c).depth).max().unwrap_or(0);
                depth.max(self.node(*source).depth + coords)
            }
            _ => depth,
        }
    }

    fn shape_of(&mut self, op: &Op) -> Vec<(DimId, Size)> {
        match op {
            Op::Const(_) => Vec::new(),
            Op::Input { operand, .. } => {
                let dims = &self.operands[*operand as usize].dims;
                let mut shape: Vec<_> = dims.iter().map(|d| (*d, Size::Operand(*operand, *d))).collect();
                shape.sort_unstable_by_key(|(d, _)| *d);
                shape
            }
            Op::Index(dim) => vec![(*dim, Size::Any)],
            Op::Extent(Size::Node(n)) => self.node(*n).shape.to_vec(),
            Op::Extent(_) => Vec::new(),
            Op::Unary(_, a) | Op::Cast(a) | Op::Bits(a) | Op::Scan { source: a, .. } => self.node(*a).shape.to_vec(),
            Op::Binary(_, a, b) => self.union(&[*a, *b]),
            Op::Fma(a, b, c) | Op::Select(a, b, c) => self.union(&[*a, *b, *c]),
            Op::Guard { value, low, high, .. } => self.union(&[*value, *low, *high]),
            Op::At { source, coords, sizes } => {
                let kept: Vec<_> = self.node(*source).shape.to_vec();
                let mut shape: Vec<_> =
                    kept.into_iter().filter(|(d, _)| coords.iter().all(|(bound, _)| bound != d)).collect();
                for (_, size) in &mut shape {
                    *size = self.size_at(*size, coords);
                }
                for (_, coord) in coords {
                    let other = self.node(*coord).shape.to_vec();
                    self.merge(&mut shape, &other);
                }
                self.merge(&mut shape, sizes);
                shape
            }
            Op::Call(_, args) => self.union(args),
            Op::Carry { start, .. } => self.node(*start).shape.to_vec(),
            Op::Iterate { carry, next } => self.union(&[*carry, *next]),
            Op::Reduce { source, dim, size, .. } => {
                let mut shape: Vec<_> = self.node(*source).shape.iter().filter(|(d, _)| d != dim).copied().collect();
                if let Size::Node(n) = size {
                    let other = self.node(*n).shape.to_vec();
                    self.merge(&mut shape, &other);
                }
                shape
            }
        }
    }

    /// A size read at other coordinates: that of a box depends on which box it is.
    fn size_at(&mut self, size: Size, coords: &[(DimId, NodeId)]) -> Size {
        let Size::Node(node) = size else { return size };
        let seen: Vec<_> =
            coords.iter().filter(|(d, _)| self.node(node).shape.iter().any(|(s, _)| s == d)).copied().collect();
        if seen.is_empty() { size } else { Size::Node(self.at(node, &seen, &[])) }
    }

    pub(crate) fn union(&mut self, nodes: &[NodeId]) -> Vec<(DimId, Size)> {
        let mut shape = self.node(nodes[0]).shape.to_vec();
        for node in &nodes[1..] {
            let other = self.node(*node).shape.to_vec();
            self.merge(&mut shape, &other);
        }
        shape
    }

    fn merge(&mut self, shape: &mut Vec<(DimId, Size)>, other: &[(DimId, Size)]) {
        for (dim, size) in other {
            match shape.binary_search_by_key(dim, |(d, _)| *d) {
                Ok(at) => shape[at].1 = self.unify(*dim, shape[at].1, *size),
                Err(at) => shape.insert(at, (*dim, *size)),
            }
        }
    }

    /// The better known of two sizes that must agree; what can only be compared later becomes an equation.
    fn unify(&mut self, dim: DimId, a: Size, b: Size) -> Size {
        match (a, b) {
            _ if a == b => a,
            (Size::Any, other) | (other, Size::Any) => other,
            _ => {
                let equation = Equation { dim, a, b };
                if !self.equations.contains(&equation) {
                    self.equations.push(equation);
                }
                match (a, b) {
                    (Size::Const(_), _) => a,
                    (_, Size::Const(_)) => b,
                    (Size::Operand(..), _) => a,
                    _ => b,
                }
            }
        }
    }
}
