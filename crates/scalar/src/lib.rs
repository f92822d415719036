#![doc = include_str!("../README.md")]
#![cfg_attr(target_arch = "nvptx64", no_std, feature(core_float_math))]

pub mod arith;
mod convert;
mod float;
mod generated;
#[cfg(feature = "half")]
mod half_float;
mod integer;
mod machine;

pub use arith::Arith;
pub use convert::{As, Numeral};
pub use float::Float;
pub use integer::{Bits, Whole};

/// The names under which bodies that `#[scalar_fn]` wrote find them.
#[doc(hidden)]
pub mod scalar {
    pub use crate::{Arith, As, Bits, Float, Numeral, Whole, at, clamp};
}

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
