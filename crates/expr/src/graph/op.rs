//! The operations of nodes.

use super::{DimId, NodeId};
use crate::dtype::Scalar;
use crate::extend::Function;
use crate::reduce::Reduction;

/// An operation on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the operations")]
pub enum Unary {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest integer, halves to even.
    Round,
    Not,
    /// How many bits are 1, as a value of the type; integers.
    CountOnes,
    /// How many bits stand above the highest 1, as a value of the type; integers.
    LeadingZeros,
}

/// An operation on two values of one type. Comparisons give `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the operations")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// IEEE for floats; integers truncate toward zero, and `x / 0` is 0.
    Div,
    /// The remainder of the division that truncates: exact, with the sign of the dividend; for integers `x % 0` is 0.
    Rem,
    /// NaN if either is; `-0 < +0`.
    Min,
    Max,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Binary {
    /// Whether the result is `bool`.
    pub fn compares(self) -> bool {
        matches!(self, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne)
    }
}

/// How long a dimension is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Nothing has said yet.
    Any,
    /// A literal.
    Const(i64),
    /// As long as it is in an operand.
    Operand(u16, DimId),
    /// A value computed per point (the height of a box).
    Node(NodeId),
}

/// What a node computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A literal.
    Const(Scalar),
    /// One component of an operand, at the world coordinate projected onto the operand's dimensions.
    Input {
        /// Position in the argument list.
        operand: u16,
        /// Component of the element (0 for scalars).
        component: u8,
    },
    /// The coordinate along a dimension, as `i32`.
    Index(DimId),
    /// A size, as `i32`.
    Extent(Size),
    /// One operand.
    Unary(Unary, NodeId),
    /// Two operands of one type.
    Binary(Binary, NodeId, NodeId),
    /// `a * b + c` rounded once.
    Fma(NodeId, NodeId, NodeId),
    /// `if c { a } else { b }`.
    Select(NodeId, NodeId, NodeId),
    /// To the node's type, saturating; floats to integers round half to even, NaN gives 0.
    Cast(NodeId),
    /// The same bits as the node's type.
    Bits(NodeId),
    /// `value` clamped to `low..=high`; where that changes it the launch is marked as failed.
    Guard {
        /// What is checked.
        value: NodeId,
        /// Smallest legal value.
        low: NodeId,
        /// Largest legal value.
        high: NodeId,
        /// The operand of boxes that `value` was read from: guards of operands checked on the host vanish. `None`: a
        /// coordinate, which the kernel always checks.
        operand: Option<u16>,
    },
    /// `source` with the coordinates along some of its dimensions replaced by other nodes.
    At {
        /// What is read.
        source: NodeId,
        /// New coordinate (`i32`) along each replaced dimension.
        coords: Box<[(DimId, NodeId)]>,
        /// Sizes of the result's dimensions that this read decides.
        sizes: Box<[(DimId, Size)]>,
    },
    /// A function that is given as text, of as many arguments as it takes.
    Call(Function, Box<[NodeId]>),
    /// What a step of an iteration starts from.
    Carry {
        /// The value before the first step.
        start: NodeId,
        /// Tells iterations from the same start apart.
        number: u32,
        /// How many steps.
        times: u32,
    },
    /// The value of a [`Op::Carry`] after some steps.
    Iterate {
        /// The carried value.
        carry: NodeId,
        /// What a step makes of it.
        next: NodeId,
    },
    /// All values of `source` along `dim`, made one.
    Reduce {
        /// How.
        reduction: Reduction,
        /// What is reduced.
        source: NodeId,
        /// Along which dimension; the result lacks it.
        dim: DimId,
        /// From index 0 to here.
        size: Size,
    },
    /// The values of `source` along `dim` from the first to the point's own, made one.
    Scan {
        /// How.
        reduction: Reduction,
        /// What is scanned.
        source: NodeId,
        /// Along which dimension; the result has it too.
        dim: DimId,
    },
}

impl Op {
    /// Calls `f` with every node that the operation reads.
    pub fn for_each_arg(&self, mut f: impl FnMut(NodeId)) {
        let size = |size: &Size, f: &mut dyn FnMut(NodeId)| {
            if let Size::Node(n) = size {
                f(*n);
            }
        };
        match self {
            Op::Const(_) | Op::Input { .. } | Op::Index(_) => {}
            Op::Extent(s) => size(s, &mut f),
            Op::Unary(_, a) | Op::Cast(a) | Op::Bits(a) | Op::Scan { source: a, .. } => f(*a),
            Op::Binary(_, a, b) => [*a, *b].into_iter().for_each(f),
            Op::Fma(a, b, c) | Op::Select(a, b, c) => [*a, *b, *c].into_iter().for_each(f),
            Op::Guard { value, low, high, .. } => [*value, *low, *high].into_iter().for_each(f),
            Op::At { source, coords, sizes } => {
                f(*source);
                coords.iter().for_each(|(_, c)| f(*c));
                sizes.iter().for_each(|(_, s)| size(s, &mut f));
            }
            Op::Reduce { source, size: s, .. } => {
                f(*source);
                size(s, &mut f);
            }
            Op::Call(_, args) => args.iter().for_each(|a| f(*a)),
            Op::Carry { start, .. } => f(*start),
            Op::Iterate { carry, next } => [*carry, *next].into_iter().for_each(f),
        }
    }

    /// As [`Op::for_each_arg`], in the same order, to put other nodes in their places.
    pub(crate) fn for_each_arg_mut(&mut self, mut f: impl FnMut(&mut NodeId)) {
        let size = |size: &mut Size, f: &mut dyn FnMut(&mut NodeId)| {
            if let Size::Node(n) = size {
                f(n);
            }
        };
        match self {
            Op::Const(_) | Op::Input { .. } | Op::Index(_) => {}
            Op::Extent(s) => size(s, &mut f),
            Op::Unary(_, a) | Op::Cast(a) | Op::Bits(a) | Op::Scan { source: a, .. } => f(a),
            Op::Binary(_, a, b) => [a, b].into_iter().for_each(f),
            Op::Fma(a, b, c) | Op::Select(a, b, c) => [a, b, c].into_iter().for_each(f),
            Op::Guard { value, low, high, .. } => [value, low, high].into_iter().for_each(f),
            Op::At { source, coords, sizes } => {
                f(source);
                coords.iter_mut().for_each(|(_, c)| f(c));
                sizes.iter_mut().for_each(|(_, s)| size(s, &mut f));
            }
            Op::Reduce { source, size: s, .. } => {
                f(source);
                size(s, &mut f);
            }
            Op::Call(_, args) => args.iter_mut().for_each(f),
            Op::Carry { start, .. } => f(start),
            Op::Iterate { carry, next } => [carry, next].into_iter().for_each(f),
        }
    }
}
