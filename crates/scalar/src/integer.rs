//! Integers in scalar functions.

use crate::Numeral;

/// An integer of 8 to 64 bits: what scalar functions do with these alone. Everything wraps, and shifts use the lowest bits of
/// their count.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an integer", label = "expected an integer of 8 to 64 bits")]
#[allow(missing_docs, reason = "the names are those of the integers' own methods")]
pub trait Whole: Numeral {
    /// What sizes and differences of these are.
    type Unsigned;
    fn left(self, count: u32) -> Self;
    fn right(self, count: u32) -> Self;
    fn abs_diff(self, other: Self) -> Self::Unsigned;
    fn unsigned_abs(self) -> Self::Unsigned;
    fn leading_zeros(self) -> u32;
    fn trailing_zeros(self) -> u32;
    fn count_ones(self) -> u32;
    fn rotate_left(self, count: u32) -> Self;
    fn rotate_right(self, count: u32) -> Self;
    fn saturating_add(self, other: Self) -> Self;
    fn saturating_sub(self, other: Self) -> Self;
    fn pow(self, exponent: u32) -> Self;
}

macro_rules! integers {
    ($($t:ident $unsigned:ident $size:expr;)*) => { $(
        impl Whole for $t {
            type Unsigned = $unsigned;
            #[inline(always)]
            fn left(self, count: u32) -> Self { self.wrapping_shl(count) }
            #[inline(always)]
            fn right(self, count: u32) -> Self { self.wrapping_shr(count) }
            #[inline(always)]
            fn abs_diff(self, other: Self) -> $unsigned { $t::abs_diff(self, other) }
            #[inline(always)]
            fn unsigned_abs(self) -> $unsigned { ($size)(self) }
            #[inline(always)]
            fn leading_zeros(self) -> u32 { $t::leading_zeros(self) }
            #[inline(always)]
            fn trailing_zeros(self) -> u32 { $t::trailing_zeros(self) }
            #[inline(always)]
            fn count_ones(self) -> u32 { $t::count_ones(self) }
            #[inline(always)]
            fn rotate_left(self, count: u32) -> Self { $t::rotate_left(self, count) }
            #[inline(always)]
            fn rotate_right(self, count: u32) -> Self { $t::rotate_right(self, count) }
            #[inline(always)]
            fn saturating_add(self, other: Self) -> Self { $t::saturating_add(self, other) }
            #[inline(always)]
            fn saturating_sub(self, other: Self) -> Self { $t::saturating_sub(self, other) }
            #[inline(always)]
            fn pow(self, exponent: u32) -> Self { self.wrapping_pow(exponent) }
        }
    )* };
}
integers! {
    u8 u8 |v| v; u16 u16 |v| v; u32 u32 |v| v; u64 u64 |v| v;
    i8 u8 i8::unsigned_abs; i16 u16 i16::unsigned_abs; i32 u32 i32::unsigned_abs; i64 u64 i64::unsigned_abs;
}

/// The bits of a float as an integer of its size, and back.
pub trait Bits<B>: Sized {
    /// The bits.
    fn to_bits(self) -> B;
    /// The float of these bits.
    fn from_bits(bits: B) -> Self;
}

macro_rules! bits {
    ($($t:ident $bits:ident),*) => { $(
        impl Bits<$bits> for $t {
            #[inline(always)]
            fn to_bits(self) -> $bits { $t::to_bits(self) }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self { $t::from_bits(bits) }
        }
    )* };
}
bits!(f32 u32, f64 u64);
