//! Crops, borders around a picture, dimensions in another order, and the store.

use super::expr::{Arg, Expr, IntoExpr, Per};
use super::gather::whole;
use super::marks::{AllStored, BoxElement, NoExtra};
use super::trace::Out;
use crate::dtype::{Element, Value};
use crate::reads::{Border, PlaneOrder};
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

    /// As [`Expr::crop`], for boxes that may reach outside, where `border` gives the pixels. A box needs at least one pixel.
    pub fn crop_border<Y: Dim, X: Dim, B: IntoExpr<Elem: BoxElement>>(
        self,
        boxes: B,
        border: Border<T>,
    ) -> Expr<T, Union<S, B::Set>>
    where
        T: Value,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>> + Merge<B::Set>,
    {
        let boxes = boxes.into_expr();
        self.then(|g, source| {
            let (rect, border) = (boxes.node(g), border.node(g));
            g.crop_border(source, Y::ID, X::ID, rect, border)
        })
    }

    /// The part of a picture of `height` x `width` pixels whose first pixel is (`y`, `x`). It has to lie inside.
    pub fn crop_at<Y: Dim, X: Dim>(self, (y, x): (usize, usize), (height, width): (usize, usize)) -> Self
    where
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.slice::<Y>(y, height).slice::<X>(x, width)
    }

    /// The `length` indices of `D` from `first` on. They have to lie inside.
    pub fn slice<D: Dim>(self, first: usize, length: usize) -> Self
    where
        S: Without<D, Was: Present<D>>,
    {
        self.then(|g, source| g.slice(source, D::ID, whole(first), whole(length)))
    }

    /// `before` more indices before `D` and `after` more behind, which `border` gives. Around a picture: once for each dimension.
    pub fn pad<D: Dim>(self, before: usize, after: usize, border: Border<T>) -> Self
    where
        T: Value,
        S: Without<D, Was: Present<D>>,
    {
        self.then(|g, source| {
            let border = border.node(g);
            g.pad(source, D::ID, (whole(before), whole(after)), border)
        })
    }

    /// The picture turned by `quarters` quarter turns anticlockwise, rows running downwards along `Y` and columns to the right
    /// along `X`; clockwise where negative. After one, `Y` is as long as `X` was.
    pub fn rot90<Y: Dim, X: Dim>(self, quarters: i32) -> Self
    where
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.then(|g, source| g.rot90(source, Y::ID, X::ID, quarters))
    }

    /// The planes of a circular buffer over `D`, in order of their age: plane `z` of the result is plane `(first - z) mod n`
    /// (`first` being the newest) or `(first + z) mod n` (the oldest). `first` may be any `i32`, so that a counter that is never
    /// reset will do.
    pub fn rotate_planes<D: Dim, F: Arg<i32>>(self, first: F, order: PlaneOrder) -> Expr<T, Union<S, F::Set>>
    where
        S: Without<D, Was: Present<D>> + Merge<F::Set>,
    {
        self.then(|g, source| {
            let first = first.node(g);
            g.rotate_planes(source, D::ID, first, order)
        })
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
