//! Pictures resampled to another size.

use super::expr::{Arg, Expr};
use super::gather::whole;
use super::literal::{Pixel, Sampled};
use crate::dtype::{DType, Scalar};
use crate::graph::{DimId, Graph, NodeId, Size};
use crate::reads::{Aspect, Border, Centres, Deinterlace, Filter, Sampling};
use tilewright_dims::{Dim, Merge, Present, Set, Union, Without};

impl<T, S: Set> Expr<T, S> {
    /// The picture resampled to `height` x `width` by bilinear interpolation, pixel centres at halves ([`Centres::Half`]).
    pub fn resize<Y: Dim, X: Dim>(self, height: usize, width: usize) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.resize_with::<Y, X>(height, width, Sampling::default())
    }

    /// As [`Expr::resize`], with the filter, the convention for centres, or both given: `Filter::Cubic`, `Centres::Corner`,
    /// `Filter::Lanczos4.at(Centres::Corner)`. Pixels outside are the nearest inside.
    ///
    /// OpenCV computes the same in floating point; for `u8` pictures its fixed point differs by at most 1 after rounding.
    pub fn resize_with<Y: Dim, X: Dim>(
        self,
        height: usize,
        width: usize,
        sampling: impl Into<Sampling>,
    ) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let (height, width) = (whole(height), whole(width));
        self.then(|g, source| g.resize(source, (Y::ID, height), (X::ID, width), sampling))
    }

    /// As [`Expr::resize_with`], by a convention of your own: `place(i, from, to)` says where among `from` pixels sample `i` of `to` lies,
    /// pixel `k` being at `k`, along each dimension. Of [`Filter::Nearest`] the place is rounded; [`Filter::Area`] is linear here.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{Filter, In, trace};
    /// # dims! { Y, X }
    /// // The first sample on the first pixel, the last one on the last.
    /// let _ = trace(|p: In<u8, (Y, X)>| {
    ///     p.resize_at::<Y, X>(48, 64, Filter::Linear, |i, from, to| i * ((from - 1.0) / (to - 1.0))).store::<(Y, X)>()
    /// });
    /// ```
    pub fn resize_at<Y: Dim, X: Dim>(
        self,
        height: usize,
        width: usize,
        filter: Filter,
        place: impl Fn(Expr<f32, ()>, Expr<f32, ()>, Expr<f32, ()>) -> Expr<f32, ()>,
    ) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let (height, width) = (whole(height), whole(width));
        let along = |dim: DimId, to: i64| {
            let single = |g: &mut Graph, value: NodeId| g.cast(value, DType::F32);
            let index = self.then(|g, _| {
                let index = g.index(dim);
                single(g, index)
            });
            let from = self.then(|g, source| {
                let size = g.needed(source, dim, 1);
                let extent = g.extent(size);
                single(g, extent)
            });
            let to = self.then(|g, _| g.constant(Scalar::of(to as f32)));
            place(index, from, to)
        };
        let (y, x) = (along(Y::ID, height), along(X::ID, width));
        self.then(|g, source| {
            if !g.legal(Y::ID, height, 1) || !g.legal(X::ID, width, 1) {
                return source;
            }
            let (y, x) = ((Y::ID, y.node(g)), (X::ID, x.node(g)));
            let sizes = [(Y::ID, Size::Const(height)), (X::ID, Size::Const(width))];
            let resized = g.remap(source, y, x, &sizes, filter, Border::Replicate.into());
            g.called("resize", &[source], resized)
        })
    }

    /// The picture resampled to `factor` times its size, (`y`, `x`) each: the size times the factor in `f64`, rounded halves to
    /// even, at least 1. Samples are spaced by the ratio of the two sizes.
    pub fn resize_by<Y: Dim, X: Dim>(
        self,
        (factor_y, factor_x): (f64, f64),
        sampling: impl Into<Sampling>,
    ) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.then(|g, source| g.resize_by(source, (Y::ID, factor_y), (X::ID, factor_x), sampling))
    }

    /// The nearest pixel at each place of `height` x `width`, as it is: for labels and masks of any type. Which pixel that is
    /// says [`Filter::Nearest`](crate::Filter::Nearest).
    pub fn resize_nearest<Y: Dim, X: Dim>(self, height: usize, width: usize, centres: Centres) -> Self
    where
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let (height, width) = (whole(height), whole(width));
        self.then(|g, source| g.resize_nearest(source, (Y::ID, height), (X::ID, width), centres))
    }

    /// The picture resized into a frame of `height` x `width`, with its proportions treated as [`Aspect`] says and `background`
    /// around it: an expression (over the channels, say) or a literal. In a batch of crops each picture has its own place.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{Aspect, Filter, In, Rect, trace};
    /// dims! { N, Y, X, C }
    /// let _ = trace(|p: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, grey: In<f32, (C,)>| {
    ///     let crops = p.crop::<Y, X, _>(boxes);
    ///     crops.resize_fit::<Y, X, _>(64, 128, Filter::Linear, Aspect::Preserve, grey).store::<(N, C, Y, X)>()
    /// });
    /// ```
    pub fn resize_fit<Y: Dim, X: Dim, B: Arg<<T as Pixel>::Real>>(
        self,
        height: usize,
        width: usize,
        sampling: impl Into<Sampling>,
        aspect: Aspect,
        background: B,
    ) -> Expr<<T as Pixel>::Real, Union<S, B::Set>>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>> + Merge<B::Set>,
    {
        let (height, width) = (whole(height), whole(width));
        self.then(|g, source| {
            let background = background.node(g);
            g.resize_fit(source, (Y::ID, height), (X::ID, width), sampling.into(), aspect, background)
        })
    }

    /// The interlaced picture whose rows run along `Y`, deinterlaced.
    pub fn deinterlace<Y: Dim>(self, mode: Deinterlace) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>>,
    {
        self.then(|g, source| g.deinterlace(source, Y::ID, mode))
    }
}
