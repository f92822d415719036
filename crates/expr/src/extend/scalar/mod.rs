//! What the bodies of scalar functions are written with: each name means the same on host and device.
//!
//! `#[scalar_fn]` writes a body anew with these traits; `scalar.cuh` has their twins of the same names.

mod convert;
mod float;
mod generated;
mod integer;

pub use crate::arith::Arith;
pub use convert::{As, Numeral};
pub use float::Float;
pub use integer::{Bits, Integer};

/// At least `low` and at most `high`: the larger of the value and `low`, and the smaller of that and `high`.
#[inline(always)]
pub fn clamp<T: Arith>(value: T, low: T, high: T) -> T {
    value.maximum(low).minimum(high)
}

/// Element `index` of a table; beyond its end, the last one. An index below 0 is beyond the end.
#[inline(always)]
pub fn at<T: Copy, const N: usize, I: As<u64>>(table: &[T; N], index: I) -> T {
    const { assert!(N > 0, "a table has an element") };
    table[(index.cast().min(N as u64 - 1)) as usize]
}
