//! `f16` and `bf16`: how they are widened and rounded, and arithmetic with them, which is that of `f32`.
//!
//! The conversions have no branches, so that loops of them are vectorised; `half`'s own ask the processor what it can for each
//! value, and round an `f64` twice.

use crate::arith::{Arith, CastTo};
use half::{bf16, f16};

/// An `f16` as an `f32`, exactly.
#[inline(always)]
fn of_f16(h: u16) -> f32 {
    let bits = u32::from(h & 0x7fff) << 13;
    // With the exponent's bias of an f32 missing: a power of two makes good for it, for subnormal values too.
    let size = f32::from_bits(bits) * f32::from_bits((127 + 112) << 23);
    let special = if bits >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    f32::from_bits(size.to_bits() | special | u32::from(h & 0x8000) << 16)
}

/// The nearest `f16`, halves to even.
#[inline(always)]
fn to_f16(v: f32) -> u16 {
    let bits = v.to_bits();
    let size = bits & 0x7fff_ffff;
    // Normal: the carry of the rounding runs into the exponent, where it belongs.
    let normal = size.wrapping_sub(112 << 23).wrapping_add(0xfff + (size >> 13 & 1)) >> 13;
    // Subnormal: a sum with 1/2, whose last bit is worth 2^-24, rounds to units of that.
    let small = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let rounded = if size < 0x3880_0000 { small } else { normal };
    let rounded = if size >= 0x4780_0000 { 0x7c00 } else { rounded };
    let rounded = if size > 0x7f80_0000 { 0x7e00 } else { rounded };
    (rounded | (bits >> 16 & 0x8000)) as u16
}

/// The nearest `bf16`, halves to even.
#[inline(always)]
fn to_bf16(v: f32) -> u16 {
    let bits = v.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    (if v.is_nan() { bits >> 16 | 0x40 } else { rounded }) as u16
}

/// `v` as an `f32` rounded to odd: toward zero, with the last bit set if that was not exact. Rounding the result once more, to
/// 11 bits of mantissa or fewer, is rounding `v` once (Boldo and Melquiond).
#[inline(always)]
fn odd(v: f64) -> f32 {
    let near = v as f32;
    let back = f64::from(near);
    let beyond = u32::from(back.abs() > v.abs());
    let inexact = u32::from(back != v);
    // One step toward zero from where the nearest lies beyond; an infinity that way becomes the largest number.
    let odd = f32::from_bits((near.to_bits() - beyond) | inexact);
    if v.is_nan() { near } else { odd }
}

macro_rules! halves {
    ($($t:ident, $from:expr, $to:ident;)*) => { $(
        impl CastTo<f32> for $t {
            #[inline(always)] fn cast_to(self) -> f32 { ($from)(self.to_bits()) }
        }
        impl CastTo<$t> for f32 {
            #[inline(always)] fn cast_to(self) -> $t { $t::from_bits($to(self)) }
        }
        impl CastTo<f64> for $t {
            #[inline(always)] fn cast_to(self) -> f64 { f64::from(wide(self)) }
        }
        impl CastTo<$t> for f64 {
            #[inline(always)] fn cast_to(self) -> $t { odd(self).cast_to() }
        }
        halves!(@through $t; bool u8 i8 u16 i16 u32 i32 u64 i64);
        impl Arith for $t {
            #[inline(always)] fn add(self, b: Self) -> Self { Arith::add(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn sub(self, b: Self) -> Self { Arith::sub(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn mul(self, b: Self) -> Self { Arith::mul(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn div(self, b: Self) -> Self { Arith::div(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn rem(self, b: Self) -> Self { Arith::rem(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn minimum(self, b: Self) -> Self { Arith::minimum(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn maximum(self, b: Self) -> Self { Arith::maximum(wide(self), wide(b)).cast_to() }
            #[inline(always)] fn and(self, b: Self) -> Self { Self::from_bits(self.to_bits() & b.to_bits()) }
            #[inline(always)] fn or(self, b: Self) -> Self { Self::from_bits(self.to_bits() | b.to_bits()) }
            #[inline(always)] fn xor(self, b: Self) -> Self { Self::from_bits(self.to_bits() ^ b.to_bits()) }
            #[inline(always)] fn shl(self, _: Self) -> Self { self }
            #[inline(always)] fn shr(self, _: Self) -> Self { self }
            #[inline(always)] fn neg(self) -> Self { Self::from_bits(self.to_bits() ^ 0x8000) }
            #[inline(always)] fn abs(self) -> Self { Self::from_bits(self.to_bits() & 0x7fff) }
            #[inline(always)] fn sqrt(self) -> Self { Arith::sqrt(wide(self)).cast_to() }
            #[inline(always)] fn floor(self) -> Self { Arith::floor(wide(self)).cast_to() }
            #[inline(always)] fn ceil(self) -> Self { Arith::ceil(wide(self)).cast_to() }
            #[inline(always)] fn trunc(self) -> Self { Arith::trunc(wide(self)).cast_to() }
            #[inline(always)] fn round(self) -> Self { Arith::round(wide(self)).cast_to() }
            #[inline(always)] fn not(self) -> Self { Self::from_bits(!self.to_bits()) }
            #[inline(always)] fn count_ones(self) -> Self { self }
            #[inline(always)] fn leading_zeros(self) -> Self { self }
            #[inline(always)] fn fma(self, b: Self, c: Self) -> Self { Arith::fma(wide(self), wide(b), wide(c)).cast_to() }
        }
    )* };
    (@through $t:ident; $($i:ty)*) => { $(
        impl CastTo<$i> for $t {
            #[inline(always)] fn cast_to(self) -> $i { wide(self).cast_to() }
        }
        // Rounded to f32 first, and that to the type: twice, where the integer has more than 24 bits.
        impl CastTo<$t> for $i {
            #[inline(always)]
            fn cast_to(self) -> $t {
                let single: f32 = self.cast_to();
                single.cast_to()
            }
        }
    )* };
}
halves! {
    f16, of_f16, to_f16;
    bf16, |bits: u16| f32::from_bits(u32::from(bits) << 16), to_bf16;
}

#[inline(always)]
fn wide(v: impl CastTo<f32>) -> f32 {
    v.cast_to()
}

macro_rules! between {
    ($($a:ident $b:ident),*) => { $(
        impl CastTo<$b> for $a {
            #[inline(always)] fn cast_to(self) -> $b { wide(self).cast_to() }
        }
    )* };
}
between!(f16 f16, f16 bf16, bf16 f16, bf16 bf16);

#[cfg(test)]
mod tests {
    use super::*;

    /// Widening is exact for every value; rounding is `half`'s, from every step of the `f32` that lies between two `f16`.
    #[test]
    fn conversions_are_those_of_half() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(of_f16(bits) == a.to_f32_const() || a.is_nan() && of_f16(bits).is_nan(), "{bits:#x}");
            assert!(wide(b) == b.to_f32_const() || b.is_nan() && wide(b).is_nan(), "{bits:#x}");
            assert_eq!(of_f16(bits).is_sign_negative(), a.is_sign_negative());
        }
        for high in 0..=u16::MAX {
            for low in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let v = f32::from_bits(u32::from(high) << 16 | low);
                let (a, b): (f16, bf16) = (v.cast_to(), v.cast_to());
                let (x, y) = (f16::from_f32_const(v), bf16::from_f32_const(v));
                assert!(a.to_bits() == x.to_bits() || a.is_nan() && x.is_nan(), "{v:e}: {a:?} against {x:?}");
                assert!(b.to_bits() == y.to_bits() || b.is_nan() && y.is_nan(), "{v:e}: {b:?} against {y:?}");
            }
        }
    }

    /// An `f64` just beside the middle of two neighbours goes to its own side, which its nearest `f32` no longer knows.
    #[test]
    fn doubles_are_rounded_once() {
        for bits in 0..0x7c00u16 {
            let (a, b) = (f64::from(of_f16(bits)), f64::from(of_f16(bits + 1).min(65536.0)));
            let middle = (a + b) / 2.0;
            let (below, above) = (f64::from_bits(middle.to_bits() - 1), f64::from_bits(middle.to_bits() + 1));
            let to = |v: f64| CastTo::<f16>::cast_to(v).to_bits();
            assert_eq!([to(below), to(middle), to(above)], [bits, bits + (bits & 1), bits + 1], "{middle:e}");
            assert_eq!(to(-above), 0x8000 | (bits + 1));
        }
        for bits in 0..0x7f80u16 {
            let (a, b) = (f64::from(wide(bf16::from_bits(bits))), f64::from(wide(bf16::from_bits(bits + 1))));
            let middle = (a + b.min(2f64.powi(128))) / 2.0;
            let (below, above) = (f64::from_bits(middle.to_bits() - 1), f64::from_bits(middle.to_bits() + 1));
            let to = |v: f64| CastTo::<bf16>::cast_to(v).to_bits();
            assert_eq!([to(below), to(middle), to(above)], [bits, bits + (bits & 1), bits + 1], "{middle:e}");
        }
        let of = |v: f64| (CastTo::<f16>::cast_to(v).to_bits(), CastTo::<bf16>::cast_to(v).to_bits());
        assert_eq!([of(f64::INFINITY), of(-1e-320), of(1e300)], [(0x7c00, 0x7f80), (0x8000, 0x8000), (0x7c00, 0x7f80)]);
        assert!(CastTo::<f16>::cast_to(f64::NAN).is_nan() && CastTo::<bf16>::cast_to(f64::NAN).is_nan());
    }
}
