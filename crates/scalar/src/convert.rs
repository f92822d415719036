//! Casts as Rust's `as` does them.

use crate::arith::Arith;

/// `self as U`: integers keep their lowest bits; floats lose their fraction and saturate, and NaN gives 0; what goes to a float
/// is rounded to the nearest.
pub trait As<U> {
    /// `self as U`.
    fn cast(self) -> U;
}

/// An integer or a float that scalar functions compute with.
#[diagnostic::on_unimplemented(
    message = "scalar functions do not compute with `{Self}`",
    label = "expected an integer, `f32` or `f64`",
    note = "a condition becomes a number by an `if`, a half by `.to::<f32>()` of its expression"
)]
pub trait Numeral:
    Arith + As<u8> + As<i8> + As<u16> + As<i16> + As<u32> + As<i32> + As<u64> + As<i64> + As<f32> + As<f64>
{
}

macro_rules! casts {
    ([$($from:ty)*] $to:tt) => { $( casts!(@row $from, $to); impl Numeral for $from {} )* };
    (@row $from:ty, [$($to:ty)*]) => { $(
        impl As<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }
        }
    )* };
}
casts!([u8 i8 u16 i16 u32 i32 u64 i64 f32 f64] [u8 i8 u16 i16 u32 i32 u64 i64 f32 f64]);

macro_rules! conditions {
    ($($to:ty)*) => { $(
        impl As<$to> for bool {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }
        }
    )* };
}
conditions!(u8 i8 u16 i16 u32 i32 u64 i64);
