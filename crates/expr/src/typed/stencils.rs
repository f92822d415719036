//! Pictures filtered by weights: correlations, means, Gaussians, derivatives.
//!
//! Results are of the type that pixels are interpolated in, not rounded: `.to::<u8>()` rounds half to even and saturates. Sums
//! of `u8` and `u16` pixels times whole weights are exact while they stay below 2^24.

use super::expr::{Arg, Expr};
use super::gather::Rest2;
use super::literal::{Pixel, Sampled};
use crate::reads::Border;
use crate::stencils::{Kernel, Taps};
use tilewright_dims::{Dim, Merge, Minus, Over, Present, Set, Union, Without};

/// What a picture over `S` weighted by a kernel over `W` varies along, `R` and `Q` being the kernel's rows and columns.
pub type Windowed<S, W, R, Q> = Union<<S as Minus<<(R, Q) as Over>::Set>>::Out, Rest2<W, R, Q>>;

/// Filters along `Y` and `X`, which the graph has functions of the same names for.
macro_rules! filters {
    ($($(#[$meta:meta])* $name:ident($($arg:ident: $Arg:ty),*) => $($given:expr),*;)*) => { $(
        $(#[$meta])*
        pub fn $name<Y: Dim, X: Dim>(self, $($arg: $Arg,)* border: Border<T>) -> Expr<<T as Pixel>::Real, S>
        where
            T: Sampled,
            S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
        {
            self.then(|g, source| {
                let border = border.node(g);
                g.$name(source, $($given,)* border)
            })
        }
    )* };
}

impl<T, S: Set> Expr<T, S> {
    /// The sum of the pixels in a window around each pixel times the weights of `kernel`, which are literals: rows of it lie
    /// along `Y`, columns along `X`, the weight at its anchor on the pixel itself. A correlation, as OpenCV's `filter2D`: the
    /// kernel is not turned ([`Expr::convolve`] does that).
    ///
    /// Weights are rounded to the result's type. Taps are added row by row, each by a fused multiply-add; one whose weight is 0
    /// is not read. Up to 31 rows and columns.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{Border, In, trace};
    /// dims! { Y, X, C }
    /// let _ = trace(|p: In<u8, (Y, X, C)>| {
    ///     let sharper = [[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]];
    ///     p.correlate::<Y, X>(sharper, Border::Reflect101).to::<u8>().store::<(Y, X, C)>()
    /// });
    /// ```
    pub fn correlate<Y: Dim, X: Dim>(self, kernel: impl Into<Kernel>, border: Border<T>) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.then(|g, source| {
            let border = border.node(g);
            g.correlate(source, (Y::ID, X::ID), &kernel.into(), border)
        })
    }

    /// As [`Expr::correlate`], with the kernel turned by half a turn around its anchor: a convolution.
    pub fn convolve<Y: Dim, X: Dim>(self, kernel: impl Into<Kernel>, border: Border<T>) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.correlate::<Y, X>(kernel.into().flipped(), border)
    }

    /// As [`Expr::correlate`], with weights that are an expression over `R` (the kernel's rows) and `Q` (its columns), of any
    /// size, with the anchor in the middle. Over `N` besides, they are a kernel for each picture.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{Border, In, trace};
    /// dims! { N, Y, X, R, Q }
    /// let _ = trace(|p: In<f32, (Y, X)>, w: In<f32, (N, R, Q)>| {
    ///     p.correlate_by::<Y, X, R, Q, _>(w, Border::Replicate).store::<(N, Y, X)>()
    /// });
    /// ```
    pub fn correlate_by<Y: Dim, X: Dim, R: Dim, Q: Dim, W: Arg<<T as Pixel>::Real>>(
        self,
        weights: W,
        border: Border<T>,
    ) -> Expr<<T as Pixel>::Real, Windowed<S, W::Set, R, Q>>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
        (R, Q): Over,
        W::Set: Without<R, Was: Present<R>, Rest: Without<Q, Was: Present<Q>>>,
        S: Minus<<(R, Q) as Over>::Set, Out: Merge<Rest2<W::Set, R, Q>>>,
    {
        self.correlated::<Y, X, R, Q, W>(weights, None, border)
    }

    /// As [`Expr::correlate_by`], with the weight in row `y` and column `x` on the pixel itself.
    pub fn correlate_by_around<Y: Dim, X: Dim, R: Dim, Q: Dim, W: Arg<<T as Pixel>::Real>>(
        self,
        weights: W,
        (y, x): (usize, usize),
        border: Border<T>,
    ) -> Expr<<T as Pixel>::Real, Windowed<S, W::Set, R, Q>>
    where
        T: Sampled,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
        (R, Q): Over,
        W::Set: Without<R, Was: Present<R>, Rest: Without<Q, Was: Present<Q>>>,
        S: Minus<<(R, Q) as Over>::Set, Out: Merge<Rest2<W::Set, R, Q>>>,
    {
        self.correlated::<Y, X, R, Q, W>(weights, Some((y, x)), border)
    }

    fn correlated<Y: Dim, X: Dim, R: Dim, Q: Dim, W: Arg<<T as Pixel>::Real>>(
        self,
        weights: W,
        anchor: Option<(usize, usize)>,
        border: Border<T>,
    ) -> Expr<<T as Pixel>::Real, Windowed<S, W::Set, R, Q>>
    where
        T: Sampled,
        (R, Q): Over,
        W::Set: Without<R, Rest: Without<Q>>,
        S: Minus<<(R, Q) as Over>::Set, Out: Merge<Rest2<W::Set, R, Q>>>,
    {
        self.then(|g, source| {
            let (weights, border) = (weights.node(g), border.node(g));
            g.correlate_by(source, (Y::ID, X::ID), weights, (R::ID, Q::ID), anchor, border)
        })
    }

    filters! {
        /// The picture weighted along `X` by `row`, and the result along `Y` by `column`: OpenCV's `sepFilter2D`. Each pass is as
        /// [`Expr::correlate`] along one dimension.
        separable(column: impl Into<Taps>, row: impl Into<Taps>) => (Y::ID, &column.into()), (X::ID, &row.into());
        /// The mean of the window of `height` x `width` around each pixel: the sum of the rows' sums, divided by the number of
        /// pixels, the border's among them. OpenCV's `blur`. Windows longer than 31 are loops.
        box_filter(height: usize, width: usize) => (Y::ID, height), (X::ID, width);
        /// As [`Expr::box_filter`], not divided.
        box_sum(height: usize, width: usize) => (Y::ID, height), (X::ID, width);
        /// The picture blurred by a Gaussian in a window of `size` (rows, columns), both odd and at most 31, with the deviations
        /// `sigma` (along `Y`, along `X`) in pixels; 0 stands for one that follows from the size. Weights are OpenCV's
        /// ([`Taps::gaussian`]); for `u8` pictures its fixed point differs by at most 1 after rounding.
        gaussian_blur(size: (usize, usize), sigma: (f64, f64)) => (Y::ID, size.0, sigma.0), (X::ID, size.1, sigma.1);
        /// The derivative of orders `orders` (along `Y`, along `X`) by Sobel's kernels of `size` 1 (three taps, not smoothed), 3, 5, 7
        /// or any odd number to 31, as OpenCV's, not scaled ([`Taps::sobel`]). `.to::<i16>()` of a `u8` picture's is exact for sizes
        /// of 1 and 3, and first derivatives of size 5 saturate at 32767.
        sobel(orders: (usize, usize), size: usize) => (Y::ID, X::ID), orders, size;
        /// The first derivative along `Y` (`orders` is `(1, 0)`) or `X` (`(0, 1)`) by Scharr's kernels: -1, 0, 1, smoothed across
        /// by 3, 10, 3, not scaled.
        scharr(orders: (usize, usize)) => (Y::ID, X::ID), orders;
        /// The sum of the second derivatives along `Y` and `X` by Sobel's kernels of an odd `size`, not scaled; for 1 the four
        /// neighbours less four times the pixel. OpenCV's ([`Kernel::laplacian`]).
        laplacian(size: usize) => (Y::ID, X::ID), size;
    }
}
