//! Pixels at other places: sizes, parts, turns, warps.

use super::{Picture, X, Y};
use tilewright_dims::{Merge, Present, Set, Union, Without};
use tilewright_expr::{AffineElement, Arg, AtPoint, Border, Centres, Edge, Expr, Filter, IntoExpr, PerspectiveElement};
use tilewright_expr::{Rect, Rest2, Sampled, Value};

/// Columns and rows, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize, pub usize);

/// A column and a row. As the anchor of a window, -1 is the middle, and after the middle of an even number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point(pub i32, pub i32);

impl Point {
    /// Row and column of this anchor in a window of so many rows and columns.
    pub(super) fn within(self, (height, width): (usize, usize)) -> (usize, usize) {
        // What is negative otherwise becomes too large, and is refused by name.
        let along = |at: i32, size: usize| if at == -1 { size / 2 } else { at as usize };
        (along(self.1, height), along(self.0, width))
    }
}

/// How pixels between pixels are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs, reason = "OpenCV's names")]
pub enum Interpolation {
    INTER_NEAREST,
    INTER_LINEAR,
    INTER_CUBIC,
    INTER_AREA,
    INTER_LANCZOS4,
}

impl Interpolation {
    fn filter(self) -> Filter {
        match self {
            Interpolation::INTER_NEAREST => Filter::Nearest,
            Interpolation::INTER_LINEAR => Filter::Linear,
            Interpolation::INTER_CUBIC => Filter::Cubic,
            Interpolation::INTER_AREA => Filter::Area,
            Interpolation::INTER_LANCZOS4 => Filter::Lanczos4,
        }
    }

    /// That of single places, where there is no area.
    fn between(self) -> Filter {
        if self == Interpolation::INTER_AREA { Filter::Linear } else { self.filter() }
    }
}

/// The picture at another size. Floats as in OpenCV; of integers its fixed point may differ by 1.
pub fn resize<T: Sampled, S: Picture>(src: Expr<T, S>, size: Size, interpolation: Interpolation) -> Expr<T, S> {
    let Size(width, height) = size;
    match interpolation {
        Interpolation::INTER_NEAREST => src.resize_nearest::<Y, X>(height, width, Centres::Corner),
        other => src.resize_with::<Y, X>(height, width, other.filter()).to(),
    }
}

/// The part of the picture in a rectangle: `src(rect)`.
pub fn crop<T, S: Picture>(src: Expr<T, S>, rect: Rect) -> Expr<T, S> {
    // What is negative becomes too large, and is refused by name.
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(|v| v as usize);
    src.crop_at::<Y, X>((y, x), (height, width))
}

/// Turned over: 0 around the horizontal axis, positive around the vertical one, negative around both.
pub fn flip<T, S: Picture>(src: Expr<T, S>, code: i32) -> Expr<T, S> {
    let src = if code <= 0 { src.reverse::<Y>() } else { src };
    if code != 0 { src.reverse::<X>() } else { src }
}

/// By how much a picture is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs, reason = "OpenCV's names")]
pub enum RotateCode {
    ROTATE_90_CLOCKWISE,
    ROTATE_180,
    ROTATE_90_COUNTERCLOCKWISE,
}

/// Turned by quarters.
pub fn rotate<T, S: Picture>(src: Expr<T, S>, code: RotateCode) -> Expr<T, S> {
    src.rot90::<Y, X>(match code {
        RotateCode::ROTATE_90_CLOCKWISE => -1,
        RotateCode::ROTATE_180 => 2,
        RotateCode::ROTATE_90_COUNTERCLOCKWISE => 1,
    })
}

/// Rows as columns.
pub fn transpose<T, S: Picture>(src: Expr<T, S>) -> Expr<T, S> {
    src.rot90::<Y, X>(1).reverse::<Y>()
}

/// More pixels around the picture: above, below, at its left, at its right.
pub fn copy_make_border<T: Value, S: Picture>(
    src: Expr<T, S>,
    top: usize,
    bottom: usize,
    left: usize,
    right: usize,
    border: impl Into<Border<T>>,
) -> Expr<T, S> {
    let border = border.into();
    src.pad::<Y>(top, bottom, border).pad::<X>(left, right, border)
}

/// Warps by maps of one kind, which expressions have methods of the same names for.
macro_rules! warps {
    ($($(#[$meta:meta])* $name:ident by $Maps:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name<T: Sampled, S, M: IntoExpr<Elem: $Maps>>(
            src: Expr<T, S>,
            maps: M,
            size: Size,
            interpolation: Interpolation,
            border: impl Into<Edge<T>>,
        ) -> Expr<T, Union<S, M::Set>>
        where
            S: Picture + Merge<M::Set>,
        {
            let Size(width, height) = size;
            src.$name::<Y, X, _>(maps, height, width, interpolation.between(), border).to()
        }
    )* };
}
warps! {
    /// The picture under affine maps, which lead from the result to `src`: OpenCV's `WARP_INVERSE_MAP`. Without that flag OpenCV turns
    /// the map around, as [`Affine::inverse_of`](tilewright_expr::Affine::inverse_of) does. Places are not rounded to 1/32 of a pixel.
    warp_affine by AffineElement;
    /// As [`warp_affine`], with perspective maps.
    warp_perspective by PerspectiveElement;
}

/// The picture read at the columns `map1` and the rows `map2`. Places are not rounded to 1/32 of a pixel.
pub fn remap<T: Sampled, S, A: Arg<f32>, B: Arg<f32>>(
    src: Expr<T, S>,
    map1: A,
    map2: B,
    interpolation: Interpolation,
    border: impl Into<Edge<T>>,
) -> AtPoint<T, S, Y, X, B::Set, A::Set>
where
    S: Set + Without<Y, Was: Present<Y>, Rest: Without<X, Was: Present<X>, Rest: Merge<B::Set>>>,
    Union<Rest2<S, Y, X>, B::Set>: Merge<A::Set>,
{
    src.remap::<Y, X, _, _>(map2, map1, interpolation.between(), border).to()
}
