//! Which element types have which operations.

use crate::dtype::{Element, Rect, Value};
use half::{bf16, f16};

/// A type with arithmetic: every scalar but `bool`.
#[diagnostic::on_unimplemented(
    message = "there is no arithmetic on `{Self}`",
    label = "expected numbers",
    note = "convert first: `.to::<f32>()`"
)]
pub trait Number: Value + Element {}

/// `u8` to `u64`, `i8` to `i64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer type",
    label = "expected an integer",
    note = "convert first: `.to::<i32>()`"
)]
pub trait Integer: Number + Bitwise {}

/// A type whose bits are combined: integers and `bool`.
#[diagnostic::on_unimplemented(
    message = "there are no bits of `{Self}` to combine",
    label = "expected integers or `bool`",
    note = "convert first: `.to::<u32>()`; conditions come from comparisons: `.lt(..)`, `.ne(..)`"
)]
pub trait Bitwise: Value + Element {}
impl Bitwise for bool {}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Integer for $t {}
        impl Bitwise for $t {}
    )* };
}
integers!(u8, i8, u16, i16, u32, i32, u64, i64);

/// `f16`, `bf16`, `f32` or `f64`. What is computed with the first two is computed in `f32`, and each result is rounded to
/// the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point type",
    label = "expected `f16`, `bf16`, `f32` or `f64`",
    note = "convert first: `.to::<f32>()`"
)]
pub trait Float: Number {}
impl Float for f16 {}
impl Float for bf16 {}
impl Float for f32 {}
impl Float for f64 {}

/// A type of pixels that can be interpolated: every number.
#[diagnostic::on_unimplemented(
    message = "pixels of `{Self}` cannot be interpolated",
    label = "expected numbers",
    note = "convert first: `.to::<u8>()`"
)]
pub trait Sampled: Number + Pixel {}

/// The type that pixels are interpolated in. Total, so that [`Sampled`] is what fails.
pub trait Pixel {
    /// `f32` for types of 8 and 16 bits and `f32`, `f64` for wider ones.
    type Real: Float;
}
impl Pixel for bool {
    type Real = f32;
}
impl Pixel for Rect {
    type Real = f32;
}

macro_rules! numbers {
    ($($t:ty => $real:ty),*) => { $(
        impl Number for $t {}
        impl Sampled for $t {}
        impl Pixel for $t { type Real = $real; }
    )* };
}
numbers!(u8 => f32, i8 => f32, u16 => f32, i16 => f32, f16 => f32, bf16 => f32, f32 => f32, u32 => f64, i32 => f64, u64 => f64, i64 => f64, f64 => f64);
