//! Reads at any coordinates.

use super::expr::{Arg, Expr, Union3};
use crate::dtype::{Scalar, Value};
use crate::graph::{Graph, NodeId, Size};
use crate::reads::Border;
use tilewright_dims::{Dim, Merge, Present, Set, Union, Without};

/// The set `S` without `D`.
pub type Rest<S, D> = <S as Without<D>>::Rest;

/// The set `S` without `A` and `B`.
pub type Rest2<S, A, B> = Rest<Rest<S, A>, B>;

/// Values of `T` over `S` without `Y` and `X`, with the dimensions `A` and `B` of the coordinates along these two.
pub type AtPoint<T, S, Y, X, A, B> = Expr<T, Union3<Rest2<S, Y, X>, A, B>>;

/// A size as the graph counts; what is too large for it is refused there.
pub(super) fn whole(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl<T: Value> Border<T> {
    /// The border with its constant in the graph.
    pub(super) fn node(self, graph: &mut Graph) -> Border<NodeId> {
        self.map(|value| graph.constant(Scalar::of(value)))
    }
}

impl<T, S: Set> Expr<T, S> {
    /// The values at index `coord` of `D`: an `i32` expression over any dimensions, or a literal.
    ///
    /// The result has the dimensions of `coord` in place of `D`. If `coord` itself varies along `D`, the result has `D` too, as
    /// long as the expressions that `coord` is made of; where it is made of [`coordinate`](crate::coordinate) alone, as long as
    /// `self`.
    ///
    /// A coordinate outside of `D` is an error: a literal's when sizes are known, any other's at the next synchronisation. The
    /// read is clamped, so that no memory outside is touched. It is checked at every point of the result, also where
    /// [`Expr::select`] takes the other side; [`Expr::at_border`] gives coordinates outside a meaning.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// dims! { N, Y, X }
    /// // A table, looked up by a picture; and row `k` of each plane `k`.
    /// let _ = trace(|table: In<f32, (N,)>, picture: In<i32, (Y, X)>| table.at::<N, _>(picture).store::<(Y, X)>());
    /// let _ = trace(|x: In<u8, (Y, X)>, k: In<i32, (N,)>| x.at::<Y, _>(k).store::<(N, X)>());
    /// ```
    pub fn at<D: Dim, C: Arg<i32>>(self, coord: C) -> Expr<T, Union<Rest<S, D>, C::Set>>
    where
        S: Without<D, Was: Present<D>, Rest: Merge<C::Set>>,
    {
        self.then(|g, source| {
            let coord = coord.node(g);
            g.gather(source, &[(D::ID, coord)], &[])
        })
    }

    /// As [`Expr::at`], the result being `n` long along `D`, along which `coord` varies.
    pub fn at_sized<D: Dim, C: Arg<i32>>(self, coord: C, n: usize) -> Expr<T, Union<Rest<S, D>, C::Set>>
    where
        S: Without<D, Was: Present<D>, Rest: Merge<C::Set>>,
        C::Set: Without<D, Was: Present<D>>,
    {
        self.then(|g, source| {
            let coord = coord.node(g);
            let sizes = sized(g, D::ID, n);
            g.gather(source, &[(D::ID, coord)], &sizes)
        })
    }

    /// The values at the point (`y`, `x`) of the plane of `Y` and `X`: [`Expr::at`] along both dimensions at once, so that each
    /// coordinate may vary along both.
    pub fn at_point<Y: Dim, X: Dim, A: Arg<i32>, B: Arg<i32>>(self, y: A, x: B) -> AtPoint<T, S, Y, X, A::Set, B::Set>
    where
        S: Without<Y, Was: Present<Y>, Rest: Without<X, Was: Present<X>, Rest: Merge<A::Set>>>,
        Union<Rest2<S, Y, X>, A::Set>: Merge<B::Set>,
    {
        self.then(|g, source| {
            let (y, x) = (y.node(g), x.node(g));
            g.gather(source, &[(Y::ID, y), (X::ID, x)], &[])
        })
    }

    /// The values at index `coord` of `D`, which may be any `i32`: outside of `D` they are the border's. Dimensions and sizes as
    /// for [`Expr::at`].
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{Border, In, coordinate, trace};
    /// dims! { X }
    /// // The difference to the value before, 0 for the first.
    /// let _ = trace(|x: In<f32, (X,)>| {
    ///     (x - x.at_border::<X, _>(coordinate::<X>() - 1, Border::Replicate)).store::<(X,)>()
    /// });
    /// ```
    pub fn at_border<D: Dim, C: Arg<i32>>(self, coord: C, border: Border<T>) -> Expr<T, Union<Rest<S, D>, C::Set>>
    where
        T: Value,
        S: Without<D, Was: Present<D>, Rest: Merge<C::Set>>,
    {
        self.then(|g, source| {
            let (coord, border) = (coord.node(g), border.node(g));
            g.at_border(source, &[(D::ID, coord)], &[], border)
        })
    }

    /// As [`Expr::at_border`], the result being `n` long along `D`, along which `coord` varies.
    pub fn at_border_sized<D: Dim, C: Arg<i32>>(
        self,
        coord: C,
        n: usize,
        border: Border<T>,
    ) -> Expr<T, Union<Rest<S, D>, C::Set>>
    where
        T: Value,
        S: Without<D, Was: Present<D>, Rest: Merge<C::Set>>,
        C::Set: Without<D, Was: Present<D>>,
    {
        self.then(|g, source| {
            let (coord, border) = (coord.node(g), border.node(g));
            let sizes = sized(g, D::ID, n);
            g.at_border(source, &[(D::ID, coord)], &sizes, border)
        })
    }

    /// The values at the point (`y`, `x`), any two `i32`: outside of the picture they are the border's. A constant holds where
    /// either coordinate is outside.
    pub fn at_point_border<Y: Dim, X: Dim, A: Arg<i32>, B: Arg<i32>>(
        self,
        y: A,
        x: B,
        border: Border<T>,
    ) -> AtPoint<T, S, Y, X, A::Set, B::Set>
    where
        T: Value,
        S: Without<Y, Was: Present<Y>, Rest: Without<X, Was: Present<X>, Rest: Merge<A::Set>>>,
        Union<Rest2<S, Y, X>, A::Set>: Merge<B::Set>,
    {
        self.then(|g, source| {
            let (y, x, border) = (y.node(g), x.node(g), border.node(g));
            g.at_border(source, &[(Y::ID, y), (X::ID, x)], &[], border)
        })
    }
}

/// A literal size, if it is one.
fn sized(graph: &mut Graph, dim: u64, n: usize) -> Vec<(u64, Size)> {
    let n = whole(n);
    if graph.legal(dim, n, 0) { vec![(dim, Size::Const(n))] } else { Vec::new() }
}
