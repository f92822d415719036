//! The smallest and the largest value under a mask, and what is made of them.

use super::arithmetic::subtract;
use super::{Picture, Point, Size, X, Y};
use tilewright_expr::stencils::{Mask, Outside};
use tilewright_expr::{Expr, Number, Sampled};

/// What a mask looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs, reason = "OpenCV's names")]
pub enum MorphShape {
    MORPH_RECT,
    MORPH_CROSS,
    MORPH_ELLIPSE,
    MORPH_DIAMOND,
}

/// A mask of a shape. The anchor is where the lines of a cross meet; it says nothing of other shapes, nor of where the mask is laid.
pub fn get_structuring_element(shape: MorphShape, ksize: Size, anchor: Point) -> Mask {
    let Size(width, height) = ksize;
    match shape {
        MorphShape::MORPH_RECT => Mask::rectangle(height, width),
        MorphShape::MORPH_CROSS => {
            let (row, column) = anchor.within((height, width));
            Mask::from_fn(height, width, |y, x| y == row || x == column)
        }
        MorphShape::MORPH_ELLIPSE => Mask::ellipse(height, width),
        MorphShape::MORPH_DIAMOND => {
            let (row, column) = (height / 2, width / 2);
            Mask::from_fn(height, width, |y, x| y.abs_diff(row) + x.abs_diff(column) <= row)
        }
    }
}

/// What is made of the smallest and the largest values. OpenCV's `MORPH_HITMISS` is [`hit_or_miss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "OpenCV's names")]
pub enum MorphType {
    /// [`erode`].
    MORPH_ERODE,
    /// [`dilate`].
    MORPH_DILATE,
    /// Eroded as often as asked for, then dilated as often.
    MORPH_OPEN,
    /// Dilated as often as asked for, then eroded as often.
    MORPH_CLOSE,
    /// What is dilated less what is eroded.
    MORPH_GRADIENT,
    /// The picture less what opening leaves of it.
    MORPH_TOPHAT,
    /// What closing makes of the picture less the picture.
    MORPH_BLACKHAT,
}

macro_rules! extremes {
    ($($(#[$meta:meta])* $name:ident)*) => { $(
        $(#[$meta])*
        pub fn $name<T: Number, S: Picture>(
            src: Expr<T, S>,
            kernel: &Mask,
            anchor: Point,
            iterations: usize,
            border: impl Into<Outside<T>>,
        ) -> Expr<T, S> {
            let ((y, x), border) = (anchor.within(kernel.size()), border.into());
            let mask = kernel.clone().anchored(y, x);
            (0..iterations).fold(src, |src, _| src.$name::<Y, X>(&mask, border))
        }
    )* };
}

extremes! {
    /// The smallest value under a mask, as often as `iterations` says. `BORDER_CONSTANT` is OpenCV's default, a border that no
    /// window takes; of one that lies outside altogether, the end of the type's range, of floats infinity. NaN if one is. (OpenCV makes one
    /// larger mask of a rectangle that is laid several times; at borders that mirror or wrap, values differ.)
    ///
    /// Each time is a stencil of the one before it, in one kernel: of more than two, store what lies between.
    erode
    /// The largest value under a mask, as [`erode`].
    dilate
}

/// What `op` makes of a picture. Integers saturate.
pub fn morphology_ex<T: Sampled, S: Picture>(
    src: Expr<T, S>,
    op: MorphType,
    kernel: &Mask,
    anchor: Point,
    iterations: usize,
    border: impl Into<Outside<T>>,
) -> Expr<T, S> {
    let border = border.into();
    let eroded = |src: Expr<T, S>| erode(src, kernel, anchor, iterations, border);
    let dilated = |src: Expr<T, S>| dilate(src, kernel, anchor, iterations, border);
    match op {
        MorphType::MORPH_ERODE => eroded(src),
        MorphType::MORPH_DILATE => dilated(src),
        MorphType::MORPH_OPEN => dilated(eroded(src)),
        MorphType::MORPH_CLOSE => eroded(dilated(src)),
        MorphType::MORPH_GRADIENT => subtract(dilated(src), eroded(src)),
        MorphType::MORPH_TOPHAT => subtract(src, dilated(eroded(src))),
        MorphType::MORPH_BLACKHAT => subtract(eroded(dilated(src)), src),
    }
}

/// `morphologyEx` with `MORPH_HITMISS`: 255 where every pixel under a 1 of `kernel` is 255 and every one under a -1 is 0, and so on by
/// bits; pixels under a 0 do not count. A kernel of zeros
/// leaves the picture as it is.
pub fn hit_or_miss<S: Picture, const W: usize, const H: usize>(
    src: Expr<u8, S>,
    kernel: [[i8; W]; H],
    anchor: Point,
    iterations: usize,
    border: impl Into<Outside<u8>>,
) -> Expr<u8, S> {
    let border = border.into();
    let under = |src: Expr<u8, S>, sign: i8| {
        let mask = Mask::from_fn(H, W, |y, x| kernel[y][x] == sign);
        let some = kernel.iter().flatten().any(|k| *k == sign);
        some.then(|| erode(src, &mask, anchor, iterations, border))
    };
    match (under(src, 1), under(!src, -1)) {
        (Some(hit), Some(miss)) => hit & miss,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => src,
    }
}
