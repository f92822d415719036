//! Pictures read at places between pixels.

use super::expr::{Arg, Expr, IntoExpr};
use super::gather::{AtPoint, Rest2, whole};
use super::literal::{Pixel, Sampled};
use super::marks::{AffineElement, PerspectiveElement};
use crate::dtype::Scalar;
use crate::graph::{Graph, NodeId};
use crate::reads::{Edge, Filter};
use tilewright_dims::{Dim, Merge, Present, Set, Union, Without};

fn node<T: Sampled>(edge: Edge<T>, graph: &mut Graph) -> Edge<NodeId> {
    edge.map(|value| graph.constant(Scalar::of(value)))
}

/// Warps by maps of one kind, which the graph has functions of the same names for.
macro_rules! warps {
    ($($(#[$meta:meta])* $name:ident by $Maps:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name<Y: Dim, X: Dim, M: IntoExpr<Elem: $Maps>>(
            self,
            maps: M,
            height: usize,
            width: usize,
            filter: Filter,
            edge: impl Into<Edge<T>>,
        ) -> Expr<<T as Pixel>::Real, Union<S, M::Set>>
        where
            T: Sampled,
            S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>> + Merge<M::Set>,
        {
            let maps = maps.into_expr();
            self.then(|g, source| {
                let (maps, edge) = (maps.node(g), node(edge.into(), g));
                g.$name(source, (Y::ID, whole(height)), (X::ID, whole(width)), maps, filter, edge)
            })
        }
    )* };
}

impl<T, S: Set> Expr<T, S> {
    /// The values at the place (`y`, `x`) between pixels, two `f32` expressions over any dimensions: pixel `i` is at `i`.
    ///
    /// The result has the dimensions of the places instead of `Y` and `X`; if they vary along `Y` or `X`, it has those too, as
    /// long as the expressions that the places are made of, or else as the picture. Weights are computed in `f32`; a NaN is as
    /// far before the first pixel as places go. OpenCV's `remap`, which rounds places to 1/32 of a pixel.
    pub fn remap<Y: Dim, X: Dim, A: Arg<f32>, B: Arg<f32>>(
        self,
        y: A,
        x: B,
        filter: Filter,
        edge: impl Into<Edge<T>>,
    ) -> AtPoint<<T as Pixel>::Real, S, Y, X, A::Set, B::Set>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>, Rest: Without<X, Was: Present<X>, Rest: Merge<A::Set>>>,
        Union<Rest2<S, Y, X>, A::Set>: Merge<B::Set>,
    {
        self.then(|g, source| {
            let (y, x, edge) = (y.node(g), x.node(g), node(edge.into(), g));
            g.remap(source, (Y::ID, y), (X::ID, x), &[], filter, edge)
        })
    }

    warps! {
        /// A picture of `height` x `width` whose pixel (`y`, `x`) is read at the place where the affine map of its plane takes it:
        /// the maps lead from the result to the picture and have dimensions of their own (over `N`, they make a batch).
        /// [`Affine::inverse_of`](crate::Affine::inverse_of) turns a map the other way round.
        ///
        /// ```
        /// # use tilewright_dims::dims;
        /// # use tilewright_expr::{Affine, Border, Edge, Filter, In, trace};
        /// dims! { N, Y, X }
        /// let _ = trace(|p: In<u8, (Y, X)>, maps: In<Affine, (N,)>| {
        ///     (
        ///         p.warp_affine::<Y, X, _>(maps, 48, 64, Filter::Linear, Edge::Cut(0)).store::<(N, Y, X)>(),
        ///         p.warp_affine::<Y, X, _>(maps, 48, 64, Filter::Cubic, Border::Reflect101).store::<(N, Y, X)>(),
        ///     )
        /// });
        /// ```
        warp_affine by AffineElement;
        /// As [`Expr::warp_affine`], with perspective maps.
        warp_perspective by PerspectiveElement;
    }
}
