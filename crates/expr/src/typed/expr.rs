//! [`Expr`]: a node of the open trace, with its type.

use super::trace::{TraceId, current, with};
use crate::dtype::{DType, Element, Scalar, Value};
use crate::graph::{Graph, NodeId};
use half::{bf16, f16};
use std::marker::PhantomData;
use tilewright_dims::{Dim, Dims, Merge, Set, Union};

/// A lazy expression: a value of type `T` at every coordinate of the set of dimensions `S`.
///
/// It is a number in an open trace, so it is `Copy`, stays on its thread, and lives as long as the closure given to `fuse`
/// (or, for eager expressions, until the next evaluation on its thread).
pub struct Expr<T, S> {
    pub(super) node: NodeId,
    pub(super) trace: TraceId,
    _types: PhantomData<(T, S, *const ())>,
}

impl<T, S> Clone for Expr<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S> Copy for Expr<T, S> {}

impl<T, S> std::fmt::Debug for Expr<T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Expr({:?})", self.node)
    }
}

/// An operand of a fused expression: elements of `T` over the dimensions of the tuple `L`, under any layout of them.
pub type In<T, L> = Expr<T, <L as Dims>::Set>;

/// The set that holds the single dimension `D`.
pub type Per<D> = (D, ());

/// The dimensions of three expressions together.
pub type Union3<A, B, C> = Union<Union<A, B>, C>;

/// Any set of dimensions: the bound of functions over expressions of any world.
///
/// ```
/// # use tilewright_expr::{Expr, World};
/// fn swish<S: World>(x: Expr<f32, S>) -> Expr<f32, S> {
///     x / ((-x).exp() + 1.0)
/// }
/// ```
pub trait World: Merge<Self, Out = Self> + Merge<(), Out = Self> + Sized {}
impl<S: Merge<S, Out = S> + Merge<(), Out = S>> World for S {}

impl<T, S> Expr<T, S> {
    pub(super) fn new(node: NodeId, trace: TraceId) -> Self {
        Expr { node, trace, _types: PhantomData }
    }

    /// Extends the trace by what `f` adds for this expression.
    pub(crate) fn then<U, R>(self, f: impl FnOnce(&mut Graph, NodeId) -> NodeId) -> Expr<U, R> {
        Expr::new(with(self.trace, |g| f(g, self.node)), self.trace)
    }
}

/// What can stand for an expression: an expression, or a reference to a tensor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an expression",
    label = "expected an expression, a reference to a tensor, or a literal of the same element type",
    note = "convert a number first: `value as f32` for an expression of `f32`"
)]
pub trait IntoExpr {
    /// Its element type.
    type Elem;
    /// Its dimensions.
    type Set: Set;
    /// The expression.
    fn into_expr(self) -> Expr<Self::Elem, Self::Set>;
}

impl<T, S: Set> IntoExpr for Expr<T, S> {
    type Elem = T;
    type Set = S;
    fn into_expr(self) -> Self {
        self
    }
}

/// An argument of type `T`: an expression, or a literal.
#[diagnostic::on_unimplemented(
    message = "expected an expression or a literal of `{T}`",
    label = "this is neither",
    note = "convert an expression with `.to::<{T}>()`"
)]
pub trait Arg<T> {
    /// Its dimensions.
    type Set: Set;
    /// Its node in the trace.
    fn node(self, graph: &mut Graph) -> NodeId;
}

impl<T, S: Set> Arg<T> for Expr<T, S> {
    type Set = S;
    fn node(self, graph: &mut Graph) -> NodeId {
        if graph.trace != self.trace {
            return graph.stale();
        }
        self.node
    }
}

macro_rules! literals {
    ($($t:ty),*) => { $(impl Arg<$t> for $t {
        type Set = ();
        fn node(self, graph: &mut Graph) -> NodeId {
            graph.constant(Scalar::of(self))
        }
    })* };
}
literals!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);

/// What `f` adds to the open trace.
pub(crate) fn grown<T, S>(f: impl FnOnce(&mut Graph) -> NodeId) -> Expr<T, S> {
    let trace = current().unwrap_or_default();
    Expr::new(with(trace, f), trace)
}

/// The literal `value`, everywhere: a fill when it is stored.
pub fn constant<T: Value>(value: T) -> Expr<T, ()> {
    grown(|g| g.constant(Scalar::of(value)))
}

/// The coordinate along `D`, as `i32`.
pub fn coordinate<D: Dim>() -> Expr<i32, Per<D>> {
    grown(|g| {
        g.name_dim(D::ID, D::NAME);
        g.index(D::ID)
    })
}

impl<T: Element, S: Set> Expr<T, S> {
    /// The type of a component.
    pub const DTYPE: DType = T::DTYPE;
}
