//! Several expressions that make one result, one after the other along a dimension.

use super::expr::{Expr, Per};
use super::marks::{AllStored, NoExtra};
use super::trace::Out;
use crate::dtype::{Element, Value};
use crate::graph::NodeId;
use std::marker::PhantomData;
use tilewright_dims::{Dim, Dims, First, Merge, Minus, Set, Union};

/// Expressions of one result: a tuple of 2 to 8, or an array, a slice or a vector of up to 64 of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined along `{D}`",
    label = "expected expressions of one element type that have the same dimensions besides `{D}`",
    note = "a part that lacks a dimension of the others is repeated along it first: `.repeat::<Y>(n)`"
)]
pub trait Parts<D> {
    /// Their element type.
    type Elem;
    /// The dimensions of the whole.
    type Set: Set;
    /// Their nodes, and whose trace they are of.
    fn nodes(&self) -> Vec<(NodeId, u64)>;
}

/// A list of expressions of one set of dimensions.
impl<D: Dim, T, S: Merge<Per<D>>> Parts<D> for &[Expr<T, S>] {
    type Elem = T;
    type Set = Union<S, Per<D>>;
    fn nodes(&self) -> Vec<(NodeId, u64)> {
        self.iter().map(|part| (part.node, part.trace)).collect()
    }
}

impl<D: Dim, T, S: Merge<Per<D>>> Parts<D> for Vec<Expr<T, S>> {
    type Elem = T;
    type Set = Union<S, Per<D>>;
    fn nodes(&self) -> Vec<(NodeId, u64)> {
        Parts::<D>::nodes(&self.as_slice())
    }
}

impl<D: Dim, T, S: Merge<Per<D>>, const N: usize> Parts<D> for [Expr<T, S>; N] {
    type Elem = T;
    type Set = Union<S, Per<D>>;
    fn nodes(&self) -> Vec<(NodeId, u64)> {
        Parts::<D>::nodes(&self.as_slice())
    }
}

macro_rules! tuples {
    ($($S:ident $i:tt),*) => {
        impl<Along: Dim, T, First: Merge<Per<Along>>, $($S: Merge<Per<Along>, Out = Union<First, Per<Along>>>),*> Parts<Along>
            for (Expr<T, First>, $(Expr<T, $S>),*)
        {
            type Elem = T;
            type Set = Union<First, Per<Along>>;
            fn nodes(&self) -> Vec<(NodeId, u64)> {
                vec![(self.0.node, self.0.trace), $((self.$i.node, self.$i.trace)),*]
            }
        }
    };
}
tuples!(B 1);
tuples!(B 1, C 2);
tuples!(B 1, C 2, D 3);
tuples!(B 1, C 2, D 3, E 4);
tuples!(B 1, C 2, D 3, E 4, F 5);
tuples!(B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// Parts of one result, to be stored.
#[must_use = "the parts are computed when they are stored: `.store::<(..)>()`"]
pub struct Concatenated<T, S> {
    along: (u64, &'static str),
    parts: Vec<(NodeId, u64)>,
    _types: PhantomData<(T, S)>,
}

impl<T, S> std::fmt::Debug for Concatenated<T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Concatenated({} along {})", self.parts.len(), self.along.1)
    }
}

/// One result of several expressions, one after the other along `D`. A part that lacks `D` is one index of it, so that planes are
/// stacked in the same way; the result is as long along `D` as all parts together. They agree in every other dimension.
///
/// Each part is computed by blocks of its own, in the same launch: no thread computes two of them, as it would with a selection.
/// A part has a loop nest of its own too, so that parts may be of any length, their own parameters over `D` included. Each part is
/// code of the kernel, which takes time to compile, and every block has the registers of the part that needs most.
///
/// ```
/// # use tilewright_expr::{In, concatenate, trace};
/// # use tilewright_dims::dims;
/// # dims! { N, Y, X }
/// trace(|sharp: In<f32, (N, Y, X)>, dark: In<f32, (N, Y, X)>, mask: In<f32, (Y, X)>| {
///     concatenate::<N, _>((sharp * 2.0, dark.sqrt(), mask)).store::<(N, Y, X)>()
/// });
/// ```
pub fn concatenate<D: Dim, P: Parts<D>>(parts: P) -> Concatenated<P::Elem, P::Set> {
    Concatenated { along: (D::ID, D::NAME), parts: parts.nodes(), _types: PhantomData }
}

impl<T: Value + Element, S: Set> Concatenated<T, S> {
    /// Ends the expressions: their values under the layout `L`, a tuple of their dimensions, outermost first.
    pub fn store<L: Dims>(self) -> Out<T, L>
    where
        S: Minus<L::Set, Out: First<Out: AllStored>>,
        L::Set: Minus<S, Out: First<Out: NoExtra>>,
    {
        Out::joined(self.along, self.parts)
    }
}
