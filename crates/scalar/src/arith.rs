//! What each operation means for each type, once: constant folding and the host evaluator of `tilewright-expr` both call these functions, and
//! the device header's functions of the same names give the same bits.
//!
//! Integers wrap, shifts mask, `x / 0 == 0`, `x % 0 == 0`; floats are IEEE without contraction; a NaN's payload is not specified.

use crate::machine::Rounded;

/// Arithmetic with one meaning on both machines.
#[allow(missing_docs, reason = "the names are the operations of `Unary` and `Binary`")]
pub trait Arith: Copy + PartialOrd {
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
    fn minimum(self, b: Self) -> Self;
    fn maximum(self, b: Self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn shl(self, b: Self) -> Self;
    fn shr(self, b: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round(self) -> Self;
    fn not(self) -> Self;
    fn count_ones(self) -> Self;
    fn leading_zeros(self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
}

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl Arith for $t {
            #[inline(always)] fn add(self, b: Self) -> Self { self + b }
            #[inline(always)] fn sub(self, b: Self) -> Self { self - b }
            #[inline(always)] fn mul(self, b: Self) -> Self { self * b }
            #[inline(always)] fn div(self, b: Self) -> Self { self / b }
            #[inline(always)] fn rem(self, b: Self) -> Self { Rounded::remainder(self, b) }
            #[inline(always)]
            fn minimum(self, b: Self) -> Self {
                let smaller = if self < b || (self == b && self.is_sign_negative()) { self } else { b };
                if self.is_nan() { self } else { smaller }
            }
            #[inline(always)]
            fn maximum(self, b: Self) -> Self {
                let larger = if self > b || (self == b && self.is_sign_positive()) { self } else { b };
                if self.is_nan() { self } else { larger }
            }
            #[inline(always)] fn and(self, b: Self) -> Self { Self::from_bits(self.to_bits() & b.to_bits()) }
            #[inline(always)] fn or(self, b: Self) -> Self { Self::from_bits(self.to_bits() | b.to_bits()) }
            #[inline(always)] fn xor(self, b: Self) -> Self { Self::from_bits(self.to_bits() ^ b.to_bits()) }
            #[inline(always)] fn shl(self, _: Self) -> Self { self }
            #[inline(always)] fn shr(self, _: Self) -> Self { self }
            #[inline(always)] fn neg(self) -> Self { -self }
            #[inline(always)] fn abs(self) -> Self { <$t>::abs(self) }
            #[inline(always)] fn sqrt(self) -> Self { Rounded::sqrt(self) }
            #[inline(always)] fn floor(self) -> Self { Rounded::floor(self) }
            #[inline(always)] fn ceil(self) -> Self { Rounded::ceil(self) }
            #[inline(always)] fn trunc(self) -> Self { Rounded::trunc(self) }
            #[inline(always)] fn round(self) -> Self { Rounded::round_ties_even(self) }
            #[inline(always)] fn not(self) -> Self { Self::from_bits(!self.to_bits()) }
            #[inline(always)] fn count_ones(self) -> Self { self }
            #[inline(always)] fn leading_zeros(self) -> Self { self }
            #[inline(always)] fn fma(self, b: Self, c: Self) -> Self { Rounded::mul_add(self, b, c) }
        }
    )* };
}
floats!(f32, f64);

macro_rules! integers {
    ($($t:ty, $abs:expr;)*) => { $(
        impl Arith for $t {
            #[inline(always)] fn add(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)] fn sub(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)] fn mul(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)] fn div(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_div(b) } }
            #[inline(always)] fn rem(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_rem(b) } }
            #[inline(always)] fn minimum(self, b: Self) -> Self { self.min(b) }
            #[inline(always)] fn maximum(self, b: Self) -> Self { self.max(b) }
            #[inline(always)] fn and(self, b: Self) -> Self { self & b }
            #[inline(always)] fn or(self, b: Self) -> Self { self | b }
            #[inline(always)] fn xor(self, b: Self) -> Self { self ^ b }
            #[inline(always)] fn shl(self, b: Self) -> Self { self.wrapping_shl(b as u32) }
            #[inline(always)] fn shr(self, b: Self) -> Self { self.wrapping_shr(b as u32) }
            #[inline(always)] fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)] fn abs(self) -> Self { ($abs)(self) }
            #[inline(always)] fn sqrt(self) -> Self { self }
            #[inline(always)] fn floor(self) -> Self { self }
            #[inline(always)] fn ceil(self) -> Self { self }
            #[inline(always)] fn trunc(self) -> Self { self }
            #[inline(always)] fn round(self) -> Self { self }
            #[inline(always)] fn not(self) -> Self { !self }
            #[inline(always)] fn count_ones(self) -> Self { <$t>::count_ones(self) as $t }
            #[inline(always)] fn leading_zeros(self) -> Self { <$t>::leading_zeros(self) as $t }
            #[inline(always)] fn fma(self, b: Self, c: Self) -> Self { self.wrapping_mul(b).wrapping_add(c) }
        }
    )* };
}
integers! {
    u8, |v| v; u16, |v| v; u32, |v| v; u64, |v| v;
    i8, i8::wrapping_abs; i16, i16::wrapping_abs; i32, i32::wrapping_abs; i64, i64::wrapping_abs;
}

/// On `bool`, `+` and max are "or", `*` and min are "and", `-` is "exclusive or".
impl Arith for bool {
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self | b
    }
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self ^ b
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        self & b
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        self & b
    }
    #[inline(always)]
    fn rem(self, _: Self) -> Self {
        false
    }
    #[inline(always)]
    fn minimum(self, b: Self) -> Self {
        self & b
    }
    #[inline(always)]
    fn maximum(self, b: Self) -> Self {
        self | b
    }
    #[inline(always)]
    fn and(self, b: Self) -> Self {
        self & b
    }
    #[inline(always)]
    fn or(self, b: Self) -> Self {
        self | b
    }
    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        self ^ b
    }
    #[inline(always)]
    fn shl(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn shr(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn neg(self) -> Self {
        self
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        self
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        self
    }
    #[inline(always)]
    fn round(self) -> Self {
        self
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    fn count_ones(self) -> Self {
        self
    }
    #[inline(always)]
    fn leading_zeros(self) -> Self {
        !self
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        (self & b) | c
    }
}

/// The saturating cast: floats to integers round half to even and clamp, NaN gives 0; integers clamp; to `bool`, `!= 0`.
pub trait CastTo<B> {
    /// The value as a `B`.
    fn cast_to(self) -> B;
}

macro_rules! casts {
    (floats $f:tt; integers $i:tt) => {
        casts!(@each float_float $f $f);
        casts!(@each float_int $f $i);
        casts!(@each int_float $i $f);
        casts!(@each int_int $i $i);
        casts!(@bool $f);
        casts!(@bool $i);
    };
    (@each $kind:ident [$($a:ty)*] $b:tt) => { $( casts!(@row $kind $a, $b); )* };
    (@row $kind:ident $a:ty, [$($b:ty)*]) => { $( casts!(@$kind $a, $b); )* };
    (@float_float $a:ty, $b:ty) => {
        impl CastTo<$b> for $a { #[inline(always)] fn cast_to(self) -> $b { self as $b } }
    };
    (@float_int $a:ty, $b:ty) => {
        impl CastTo<$b> for $a { #[inline(always)] fn cast_to(self) -> $b { Rounded::round_ties_even(self) as $b } }
    };
    (@int_float $a:ty, $b:ty) => {
        impl CastTo<$b> for $a { #[inline(always)] fn cast_to(self) -> $b { self as $b } }
    };
    (@int_int $a:ty, $b:ty) => {
        impl CastTo<$b> for $a {
            #[inline(always)]
            fn cast_to(self) -> $b {
                let wraps = self as $b;
                let same = wraps as $a == self && (wraps < (0 as $b)) == (self < (0 as $a));
                let end = if self < (0 as $a) { <$b>::MIN } else { <$b>::MAX };
                if same { wraps } else { end }
            }
        }
    };
    (@bool [$($a:ty)*]) => { $(
        impl CastTo<bool> for $a { #[inline(always)] fn cast_to(self) -> bool { self != (0 as $a) } }
        impl CastTo<$a> for bool { #[inline(always)] fn cast_to(self) -> $a { self as u8 as $a } }
    )* };
}
casts!(floats [f32 f64]; integers [u8 i8 u16 i16 u32 i32 u64 i64]);
impl CastTo<bool> for bool {
    #[inline(always)]
    fn cast_to(self) -> bool {
        self
    }
}
