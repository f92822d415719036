//! Reads at other coordinates, and the store.

use super::expr::{Arg, Expr, IntoExpr, Per};
use super::literal::{Pixel, Sampled};
use super::marks::{AllStored, BoxElement, NoExtra};
use super::trace::Out;
use crate::dtype::{Element, Value};
use crate::sample::Centres;
use tilewright_dims::{Dim, Dims, First, Merge, Minus, Present, Set, Union, Without};

impl<T, S: Set> Expr<T, S> {
    /// The part of a picture inside `boxes`: rows run along `Y`, columns along `X`. The result gains the boxes' dimensions
    /// (boxes over `N` make a batch over `N`). A box that reaches outside is an error, found before the launch when the boxes
    /// are on the host, at the next synchronisation when they are in device memory.
    pub fn crop<Y: Dim, X: Dim, B: IntoExpr<Elem: BoxElement>>(self, boxes: B) -> Expr<T, Union<S, B::Set>>
    where
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>> + Merge<B::Set>,
    {
        let boxes = boxes.into_expr();
        self.then(|g, source| {
            let rect = boxes.node(g);
            g.crop(source, Y::ID, X::ID, rect)
        })
    }

    /// The picture resampled to `height` x `width` by bilinear interpolation, pixel centres at halves ([`Centres::Half`]).
    pub fn resize<Y: Dim, X: Dim>(self, height: usize, width: usize) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.resize_with::<Y, X>(height, width, Centres::Half)
    }

    /// As [`Expr::resize`], with the sampling convention given.
    pub fn resize_with<Y: Dim, X: Dim>(
        self,
        height: usize,
        width: usize,
        centres: Centres,
    ) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.then(|g, source| g.resize(source, (Y::ID, size(height)), (X::ID, size(width)), centres))
    }

    /// The values along `D` in reverse order: RGB to BGR, a picture mirrored.
    pub fn reverse<D: Dim>(self) -> Self
    where
        S: Without<D, Was: Present<D>>,
    {
        self.then(|g, source| g.reverse(source, D::ID))
    }

    /// Index `i` along `D` reads index `order[i]`. The result is as long along `D` as `order`.
    pub fn reorder<D: Dim>(self, order: &[i32]) -> Self
    where
        S: Without<D, Was: Present<D>>,
    {
        self.then(|g, source| g.reorder(source, D::ID, order))
    }

    /// The dimension `A` called `B`.
    pub fn rename<A: Dim, B: Dim>(self) -> Expr<T, Union<S::Rest, Per<B>>>
    where
        S: Without<A, Was: Present<A>, Rest: Merge<Per<B>>>,
    {
        self.then(|g, source| {
            g.name_dim(B::ID, B::NAME);
            g.rename(source, A::ID, B::ID)
        })
    }

    /// The same values `n` times along the new dimension `D`.
    pub fn repeat<D: Dim>(self, n: usize) -> Expr<T, Union<S, Per<D>>>
    where
        S: Merge<Per<D>>,
    {
        self.then(|g, source| {
            g.name_dim(D::ID, D::NAME);
            g.repeat(source, D::ID, i64::try_from(n).unwrap_or(i64::MAX))
        })
    }

    /// Ends the expression: its values under the layout `L`, a tuple of its dimensions, outermost first.
    pub fn store<L: Dims>(self) -> Out<T, L>
    where
        T: Value + Element,
        S: Minus<L::Set, Out: First<Out: AllStored>>,
        L::Set: Minus<S, Out: First<Out: NoExtra>>,
    {
        Out::new(self.node, self.trace)
    }
}
