//! What the machine rounds correctly: on a GPU the instructions `fma.rn`, `sqrt.rn`, `cvt.rmi` and their kin, else the standard
//! library's functions of the same meaning.

/// Operations whose result is the exact one, rounded once.
pub(crate) trait Rounded: Sized {
    fn mul_add(self, factor: Self, term: Self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    /// Halfway, the one further from 0.
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
    /// `self - b * trunc(self / b)`, exactly.
    fn remainder(self, b: Self) -> Self;
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! rounded {
    ($($t:ident $bits:ident $mantissa:literal)*) => { $(
        impl Rounded for $t {
            #[inline(always)] fn mul_add(self, factor: Self, term: Self) -> Self { $t::mul_add(self, factor, term) }
            #[inline(always)] fn sqrt(self) -> Self { $t::sqrt(self) }
            #[inline(always)] fn floor(self) -> Self { $t::floor(self) }
            #[inline(always)] fn ceil(self) -> Self { $t::ceil(self) }
            #[inline(always)] fn trunc(self) -> Self { $t::trunc(self) }
            #[inline(always)] fn round(self) -> Self { $t::round(self) }
            #[inline(always)] fn round_ties_even(self) -> Self { $t::round_ties_even(self) }
            #[inline(always)] fn remainder(self, b: Self) -> Self { self % b }
        }
    )* };
}

#[cfg(target_arch = "nvptx64")]
macro_rules! rounded {
    ($($t:ident $bits:ident $mantissa:literal)*) => { $(
        impl Rounded for $t {
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self { core::$t::math::mul_add(self, factor, term) }
            #[inline(always)] fn sqrt(self) -> Self { core::$t::math::sqrt(self) }
            #[inline(always)] fn floor(self) -> Self { core::$t::math::floor(self) }
            #[inline(always)] fn ceil(self) -> Self { core::$t::math::ceil(self) }
            #[inline(always)] fn trunc(self) -> Self { core::$t::math::trunc(self) }
            #[inline(always)] fn round(self) -> Self { core::$t::math::round(self) }
            #[inline(always)] fn round_ties_even(self) -> Self { core::$t::math::round_ties_even(self) }
            #[inline(always)] fn remainder(self, b: Self) -> Self { long_division::$t(self, b) }
        }
    )* };
}
rounded! { f32 u32 23 f64 u64 52 }

/// The remainder, digit by digit: a GPU has no instruction, and what a compiler makes of `%` there rounds.
#[cfg(any(test, target_arch = "nvptx64"))]
mod long_division {
    macro_rules! remainders {
        ($($t:ident $bits:ident $mantissa:literal)*) => { $(
            pub(super) fn $t(a: $t, b: $t) -> $t {
                const ONE: $bits = 1 << $mantissa;
                let (divisor, sign) = (b.to_bits() & ($bits::MAX >> 1), a.to_bits() & !($bits::MAX >> 1));
                let size = a.to_bits() & ($bits::MAX >> 1);
                let infinite = $t::INFINITY.to_bits();
                if divisor == 0 || divisor > infinite || size >= infinite {
                    return $t::NAN;
                }
                if size < divisor {
                    return a;
                }
                // An exponent of 0 means the same power of two as 1, without the leading digit.
                let exponent = |v: $bits| (v >> $mantissa).max(1);
                let digits = |v: $bits| if v >> $mantissa == 0 { v } else { v & (ONE - 1) | ONE };
                let (low, by) = (exponent(divisor), digits(divisor));
                let mut left = digits(size) % by;
                for _ in low..exponent(size) {
                    left <<= 1;
                    left -= if left >= by { by } else { 0 };
                }
                // The leading digit to its place, as far as the exponent goes down.
                let shift = if left == 0 { 0 } else { (left.leading_zeros() - ONE.leading_zeros()) as $bits };
                let down = shift.min(low - 1);
                left <<= down;
                let exponent = if left >= ONE { (low - down) << $mantissa } else { 0 };
                $t::from_bits(sign | exponent | left & (ONE - 1))
            }
        )* };
    }
    remainders! { f32 u32 23 f64 u64 52 }

    #[cfg(test)]
    mod tests {
        /// Pairs of all kinds: subnormal, close, far apart, special.
        #[test]
        fn remainders_are_those_of_the_host() {
            let mut state = 0x9e37_79b9_7f4a_7c15_u64;
            let mut draw = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state ^ state >> 29
            };
            for round in 0..200_000 {
                let (a, b) = (draw(), draw());
                let near = if round % 3 == 0 { a & 0xff80_0000 | b & 0x007f_ffff } else { b };
                let (x, y) = (f32::from_bits(a as u32), f32::from_bits(near as u32));
                let (got, host) = (super::f32(x, y), x % y);
                assert!(got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan(), "{x:e} % {y:e}: {got:e}");
                let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                let (got, host) = (super::f64(x, y), x % y);
                assert!(got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan(), "{x:e} % {y:e}: {got:e}");
                let (x, y) = (f32::from_bits(a as u32 & 0x80ff_ffff), f32::from_bits(b as u32 & 0x80ff_ffff));
                let (got, host) = (super::f32(x, y), x % y);
                assert!(got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan(), "{x:e} % {y:e}: {got:e}");
            }
            for (x, y) in [(0.0_f32, 1.0), (-0.0, 1.0), (1.0, 0.0), (-6.0, 3.0), (5.0, f32::INFINITY)] {
                assert!(super::f32(x, y).to_bits() == (x % y).to_bits() || (x % y).is_nan(), "{x} % {y}");
            }
        }
    }
}
