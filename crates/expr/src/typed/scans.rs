//! Scans: cumulative sums and their like, which keep the dimension that they go along.

use super::expr::Expr;
use super::literal::Number;
use super::marks::Scannable;
use super::reductions::Summed;
use crate::dtype::Value;
use crate::reduce::Reduction;
use tilewright_dims::{Dim, First, Minus, Set};

impl<T, S: Set> Expr<T, S> {
    /// At each index of `D`, the sum of the values from the first to the one there. Integers wrap.
    ///
    /// The order of additions is part of the plan and the same on every machine: see [`scan`](crate::scan). One dimension of a
    /// kernel is gone along by threads together, the longest that is reduced or scanned; along another, or read at other
    /// coordinates, each value is added up anew, so that such a scan is better stored first.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// # dims! { Y, X }
    /// // Where in its row a value stands, as a part of the row's sum.
    /// let _ = trace(|x: In<f32, (Y, X)>| (x.cumsum::<X>() / x.sum::<X>()).store::<(Y, X)>());
    /// ```
    pub fn cumsum<D: Dim>(self) -> Expr<T::Sum, S>
    where
        T: Summed,
        (D, ()): Minus<S, Out: First<Out: Scannable>>,
    {
        self.then(|g, a| {
            let wide = g.cast(a, <T::Sum as Value>::DTYPE);
            g.scan(Reduction::Sum, wide, D::ID)
        })
    }

    /// At each index of `D`, the product of the values from the first to the one there. Integers wrap.
    pub fn cumprod<D: Dim>(self) -> Expr<T::Sum, S>
    where
        T: Summed,
        (D, ()): Minus<S, Out: First<Out: Scannable>>,
    {
        self.then(|g, a| {
            let wide = g.cast(a, <T::Sum as Value>::DTYPE);
            g.scan(Reduction::Product, wide, D::ID)
        })
    }

    /// At each index of `D`, the smallest of the values from the first to the one there; NaN from the first NaN on, and
    /// `-0 < +0`.
    pub fn cummin<D: Dim>(self) -> Self
    where
        T: Number,
        (D, ()): Minus<S, Out: First<Out: Scannable>>,
    {
        self.then(|g, a| g.scan(Reduction::Min, a, D::ID))
    }

    /// At each index of `D`, the largest of the values from the first to the one there; NaN from the first NaN on, and
    /// `-0 < +0`.
    pub fn cummax<D: Dim>(self) -> Self
    where
        T: Number,
        (D, ()): Minus<S, Out: First<Out: Scannable>>,
    {
        self.then(|g, a| g.scan(Reduction::Max, a, D::ID))
    }
}
