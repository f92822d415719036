//! Parts of images, sizes, mirrors.

use super::{Picture, X, Y};
use tilewright_dims::{Merge, Union};
use tilewright_expr::{BoxElement, Expr, Filter, IntoExpr, Pixel, Rect, Sampled};

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NppiSize {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A part of an image.
pub type NppiRect = Rect;

/// A region of interest: what NPP is given as a pointer to its first pixel, and a size.
pub fn roi<T, S: Picture>(src: Expr<T, S>, rect: NppiRect) -> Expr<T, S> {
    // What is negative becomes too large, and is refused by name.
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(|v| v as usize);
    src.crop_at::<Y, X>((y, x), (height, width))
}

/// A region for each picture of a batch: `rects` over `N` make a batch over `N` of one image, or take its part of each.
pub fn roi_batch<T, S: Picture + Merge<B::Set>, B: IntoExpr<Elem: BoxElement>>(
    src: Expr<T, S>,
    rects: B,
) -> Expr<T, Union<S, B::Set>> {
    src.crop::<Y, X, B>(rects)
}

/// How pixels between pixels are computed. Of NPP's other modes the weights are not measured; NPP's cubic ones have the places of
/// linear interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "NPP's names")]
pub enum NppiInterpolationMode {
    /// The pixel nearest to where linear interpolation looks, halves upwards.
    NPPI_INTER_NN,
    /// Between the pixels around `i * from / to`; to more pixels, around `i * from / to - 1/4`, and not before 0.
    NPPI_INTER_LINEAR,
    /// The mean of what a pixel covers, by its documentation; values are not measured. NPP refuses more pixels than there were.
    NPPI_INTER_SUPER,
}

/// `nppiResize_8u_C3R` and the like, and `nppiResizeBatch`: the image at another size. Integers are rounded half to even; NPP's rounding
/// is not measured. Rows and columns are treated each by itself.
pub fn resize<T: Sampled, S: Picture>(src: Expr<T, S>, size: NppiSize, mode: NppiInterpolationMode) -> Expr<T, S> {
    resize_real(src, size, mode).to()
}

/// The same, not rounded: FastNPP's `nppiResizeBatch_8u32f_C3R_Advanced`.
pub fn resize_real<T: Sampled, S: Picture>(
    src: Expr<T, S>,
    size: NppiSize,
    mode: NppiInterpolationMode,
) -> Expr<<T as Pixel>::Real, S> {
    type Number = Expr<f32, ()>;
    // To more pixels, places lie a quarter of a pixel before.
    let back = |from: Number, to: Number| to.gt(from).select(0.25f32, 0.0f32);
    let NppiSize { width, height } = size;
    match mode {
        NppiInterpolationMode::NPPI_INTER_NN => {
            let nearest = |i: Number, from: Number, to: Number| (i * from / to - back(from, to) + 0.5).floor().max(0.0);
            src.resize_at::<Y, X>(height, width, Filter::Nearest, nearest)
        }
        NppiInterpolationMode::NPPI_INTER_LINEAR => {
            let place = |i: Number, from: Number, to: Number| (i * (from / to) - back(from, to)).max(0.0);
            src.resize_at::<Y, X>(height, width, Filter::Linear, place)
        }
        NppiInterpolationMode::NPPI_INTER_SUPER => src.resize_with::<Y, X>(height, width, Filter::Area),
    }
}

/// Around which axis an image is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "NPP's names")]
pub enum NppiAxis {
    /// Rows in reverse order.
    NPP_HORIZONTAL_AXIS,
    /// Columns in reverse order.
    NPP_VERTICAL_AXIS,
    /// Both.
    NPP_BOTH_AXIS,
}

/// `nppiMirror_8u_C1R` and the like, and `nppiMirrorBatch`.
pub fn mirror<T, S: Picture>(src: Expr<T, S>, axis: NppiAxis) -> Expr<T, S> {
    match axis {
        NppiAxis::NPP_HORIZONTAL_AXIS => src.reverse::<Y>(),
        NppiAxis::NPP_VERTICAL_AXIS => src.reverse::<X>(),
        NppiAxis::NPP_BOTH_AXIS => src.reverse::<Y>().reverse::<X>(),
    }
}

/// `nppiTranspose_8u_C1R` and the like: rows as columns.
pub fn transpose<T, S: Picture>(src: Expr<T, S>) -> Expr<T, S> {
    src.rot90::<Y, X>(1).reverse::<Y>()
}
