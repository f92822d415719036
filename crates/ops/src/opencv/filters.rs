//! Filters: each pixel is computed from a window around it.
//!
//! `u8` and `u16` sums are exact while they stay below 2^24. Floats are added in another order than OpenCV's, some of whose code is
//! in vectors and some not. Windows have up to 31 rows and columns where nothing else is said; larger ones are refused.

use super::{Picture, Point, Size, X, Y};
use tilewright_expr::stencils::{Kernel, Taps};
use tilewright_expr::{Border, DType, Expr, Number, Pixel, Sampled, Value, constant};

/// In OpenCV's `Sobel`, the size that stands for Scharr's kernels.
pub const FILTER_SCHARR: i32 = -1;

/// `value * scale + delta` as elements of `U`, rounded half to even and saturated.
fn finished<U: Number, R: Number, S: Picture>(value: Expr<R, S>, scale: f64, delta: f64) -> Expr<U, S> {
    let scaled: Expr<R, S> = if scale == 1.0 { value } else { value * constant(scale).to::<R>() };
    let moved: Expr<R, S> = if delta == 0.0 { scaled } else { scaled + constant(delta).to::<R>() };
    moved.to()
}

/// The picture blurred by a Gaussian in a window of odd sizes. A deviation of 0 follows from the size, and `sigma_y` of 0 is `sigma_x`;
/// a size of 0 follows from the deviation: `6 sigma + 1` (of `u8`) or `8 sigma + 1`, rounded, and the next odd number.
/// Of `u8` and `u16`, OpenCV's fixed point may differ by 1.
pub fn gaussian_blur<T: Sampled, S: Picture>(
    src: Expr<T, S>,
    ksize: Size,
    sigma_x: f64,
    sigma_y: f64,
    border: impl Into<Border<T>>,
) -> Expr<T, S> {
    let sigma_x = if sigma_x < 0.0 { 0.0 } else { sigma_x };
    let sigma_y = if sigma_y <= 0.0 { sigma_x } else { sigma_y };
    let reach = if <T as Value>::DTYPE == DType::U8 { 3.0 } else { 4.0 };
    let size = |given: usize, sigma: f64| match given {
        0 if sigma > 0.0 => (sigma * reach * 2.0 + 1.0).round_ties_even() as usize | 1,
        given => given,
    };
    let size = (size(ksize.1, sigma_y), size(ksize.0, sigma_x));
    src.gaussian_blur::<Y, X>(size, (sigma_y, sigma_x), border.into()).to()
}

/// The mean of a window, the border's pixels among them: [`box_filter`] in the picture's own type. Of `u8`, OpenCV divides in fixed point,
/// which may be 1 more, even where all pixels are equal.
pub fn blur<T: Sampled, S: Picture>(
    src: Expr<T, S>,
    ksize: Size,
    anchor: Point,
    border: impl Into<Border<T>>,
) -> Expr<T, S> {
    box_filter(src, ksize, anchor, true, border)
}

/// The mean of a window, or the sum if it is not to be normalised. Of any size where the anchor is in the middle.
pub fn box_filter<U: Number, T: Sampled, S: Picture>(
    src: Expr<T, S>,
    ksize: Size,
    anchor: Point,
    normalize: bool,
    border: impl Into<Border<T>>,
) -> Expr<U, S> {
    let Size(width, height) = ksize;
    let (y, x) = anchor.within((height, width));
    let sum = if (y, x) == (height / 2, width / 2) {
        src.box_sum::<Y, X>(height, width, border.into())
    } else {
        // Longer ones are refused, as these are.
        let ones = |size: usize, anchor: usize| Taps::from(vec![1.0; size.min(1 << 16)]).anchored(anchor);
        src.separable::<Y, X>(ones(height, y), ones(width, x), border.into())
    };
    if !normalize {
        return sum.to();
    }
    let mean: Expr<<T as Pixel>::Real, S> = sum / constant(height as f64 * width as f64).to::<<T as Pixel>::Real>();
    mean.to()
}

/// The picture weighted by a kernel, and `delta` added: a correlation.
pub fn filter_2d<U: Number, T: Sampled, S: Picture>(
    src: Expr<T, S>,
    kernel: impl Into<Kernel>,
    anchor: Point,
    delta: f64,
    border: impl Into<Border<T>>,
) -> Expr<U, S> {
    let kernel = kernel.into();
    let (y, x) = anchor.within(kernel.size());
    finished(src.correlate::<Y, X>(kernel.anchored(y, x), border.into()), 1.0, delta)
}

/// The picture weighted along its rows by `kernel_x`, along its columns by `kernel_y`, and `delta` added. Of `u8` and smooth kernels,
/// OpenCV's fixed point may differ by 1.
pub fn sep_filter_2d<U: Number, T: Sampled, S: Picture>(
    src: Expr<T, S>,
    kernel_x: impl Into<Taps>,
    kernel_y: impl Into<Taps>,
    anchor: Point,
    delta: f64,
    border: impl Into<Border<T>>,
) -> Expr<U, S> {
    let (row, column) = (kernel_x.into(), kernel_y.into());
    let (y, x) = anchor.within((column.weights().len(), row.weights().len()));
    finished(src.separable::<Y, X>(column.anchored(y), row.anchored(x), border.into()), 1.0, delta)
}

/// The derivative of orders `dx` and `dy` by Sobel's kernels of an odd size, times `scale`, and `delta` added. A size of 1 is three
/// taps that are not smoothed, [`FILTER_SCHARR`] is [`scharr`].
pub fn sobel<U: Number, T: Sampled, S: Picture>(
    src: Expr<T, S>,
    dx: usize,
    dy: usize,
    ksize: i32,
    scale: f64,
    delta: f64,
    border: impl Into<Border<T>>,
) -> Expr<U, S> {
    if ksize == FILTER_SCHARR {
        return scharr(src, dx, dy, scale, delta, border);
    }
    finished(src.sobel::<Y, X>((dy, dx), ksize as usize, border.into()), scale, delta)
}

/// The first derivative along rows (`dx` 1, `dy` 0) or columns (0, 1) by Scharr's kernels, times `scale`, and `delta` added.
pub fn scharr<U: Number, T: Sampled, S: Picture>(
    src: Expr<T, S>,
    dx: usize,
    dy: usize,
    scale: f64,
    delta: f64,
    border: impl Into<Border<T>>,
) -> Expr<U, S> {
    finished(src.scharr::<Y, X>((dy, dx), border.into()), scale, delta)
}

/// The sum of the second derivatives by Sobel's kernels of an odd size, times `scale`, and `delta` added. A size of 1 is the four
/// neighbours less four times the pixel.
pub fn laplacian<U: Number, T: Sampled, S: Picture>(
    src: Expr<T, S>,
    ksize: usize,
    scale: f64,
    delta: f64,
    border: impl Into<Border<T>>,
) -> Expr<U, S> {
    finished(src.laplacian::<Y, X>(ksize, border.into()), scale, delta)
}

/// The middle value of a window of 1, 3, 5 or 7 rows and columns, exact; pixels outside are the nearest inside. NaN if one is.
/// OpenCV's has larger windows too, of `u8`.
pub fn median_blur<T: Number, S: Picture>(src: Expr<T, S>, ksize: usize) -> Expr<T, S> {
    src.median::<Y, X>(ksize, Border::Replicate)
}
