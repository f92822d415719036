//! Floats in scalar functions.

use crate::machine::Rounded;
use crate::{As, Numeral};
use core::ops::{Add, Div, Mul, Neg, Rem, Sub};

/// Declares the elementary functions, and gives them to a type.
macro_rules! elementary {
    (@declare $($name:ident($($arg:ident)?) $doc:literal;)*) => { $(
        #[doc = $doc]
        fn $name(self $(, $arg: Self)?) -> Self;
    )* };
    (@$t:ident $($name:ident($($arg:ident)?))*) => { $(
        #[inline(always)]
        fn $name(self $(, $arg: Self)?) -> Self {
            crate::generated::$name::$t(self $(, $arg)?)
        }
    )* };
}

/// `f32` or `f64`: what a scalar function may be generic over, as `fn digamma<T: Float>(x: T) -> T`.
///
/// Every method gives the same bits on host and device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no float of scalar functions",
    label = "expected `f32` or `f64`",
    note = "convert an expression with `.to::<f32>()`"
)]
pub trait Float:
    Numeral
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
    /// Whether this is `f32`.
    const IS_F32: bool;
    /// The circle's circumference by its diameter.
    const PI: Self;
    /// Twice [`Float::PI`].
    const TAU: Self;
    /// Half of [`Float::PI`].
    const FRAC_PI_2: Self;
    /// A third of [`Float::PI`].
    const FRAC_PI_3: Self;
    /// A quarter of [`Float::PI`].
    const FRAC_PI_4: Self;
    /// A sixth of [`Float::PI`].
    const FRAC_PI_6: Self;
    /// 1 by [`Float::PI`].
    const FRAC_1_PI: Self;
    /// 2 by [`Float::PI`].
    const FRAC_2_PI: Self;
    /// 2 by the square root of [`Float::PI`].
    const FRAC_2_SQRT_PI: Self;
    /// The square root of 2.
    const SQRT_2: Self;
    /// The square root of 1/2.
    const FRAC_1_SQRT_2: Self;
    /// Euler's number.
    const E: Self;
    /// The natural logarithm of 2.
    const LN_2: Self;
    /// The natural logarithm of 10.
    const LN_10: Self;
    /// The logarithm of [`Float::E`] to base 2.
    const LOG2_E: Self;
    /// The logarithm of [`Float::E`] to base 10.
    const LOG10_E: Self;
    /// The difference between 1 and the next larger number.
    const EPSILON: Self;
    /// The largest finite number.
    const MAX: Self;
    /// The smallest finite number.
    const MIN: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// Infinity.
    const INFINITY: Self;
    /// Minus infinity.
    const NEG_INFINITY: Self;
    /// Not a number.
    const NAN: Self;

    /// `value as Self`: the nearest number.
    fn of<V: Numeral>(value: V) -> Self;

    /// `self * factor + term`, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;

    /// The nearest whole number; halfway, the one further from 0.
    fn round_away(self) -> Self;

    /// This size with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;

    /// Whether this is not a number.
    fn is_nan(self) -> bool;

    /// Whether this is infinite.
    fn is_infinite(self) -> bool;

    /// Whether this is neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// Whether the sign bit is set.
    fn is_sign_negative(self) -> bool;

    /// Whether the sign bit is not set.
    #[inline(always)]
    fn is_sign_positive(self) -> bool {
        !self.is_sign_negative()
    }

    /// `1 / self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::of(1.0_f64) / self
    }

    /// `self - self.trunc()`.
    #[inline(always)]
    fn fract(self) -> Self {
        self - self.trunc()
    }

    /// Degrees of these radians.
    #[inline(always)]
    fn to_degrees(self) -> Self {
        self * Self::of(180.0 / core::f64::consts::PI)
    }

    /// Radians of these degrees.
    #[inline(always)]
    fn to_radians(self) -> Self {
        self * Self::of(core::f64::consts::PI / 180.0)
    }

    elementary! { @declare
        exp() "`e` to the power of `self`."; exp2() "2 to the power of `self`."; exp10() "10 to the power of `self`.";
        exp_m1() "`e` to the power of `self`, less 1."; ln() "The natural logarithm."; log2() "The logarithm to base 2.";
        log10() "The logarithm to base 10."; ln_1p() "The natural logarithm of `1 + self`.";
        powf(exponent) "`self` to the power of `exponent`."; cbrt() "The cube root.";
        hypot(other) "The root of `self^2 + other^2`."; sin() "The sine."; cos() "The cosine."; tan() "The tangent.";
        asin() "The arc sine."; acos() "The arc cosine."; atan() "The arc tangent.";
        atan2(other) "The angle of the point (`other`, `self`)."; sinh() "The hyperbolic sine.";
        cosh() "The hyperbolic cosine."; tanh() "The hyperbolic tangent."; asinh() "The inverse of `sinh`.";
        acosh() "The inverse of `cosh`."; atanh() "The inverse of `tanh`."; sigmoid() "`1 / (1 + e^-self)`.";
        softplus() "`ln(1 + e^self)`."; erf() "The error function."; erfc() "`1 - erf(self)`.";
    }

    /// `terms[0] + terms[1] * self + ...`, by Horner's rule with fused multiply-adds. Of no terms, 0.
    #[inline(always)]
    fn polynomial<V: Numeral, const N: usize>(self, terms: &[V; N]) -> Self {
        let mut sum = terms.last().map_or(Self::of(0.0_f64), |last| Self::of(*last));
        for term in terms[..N.saturating_sub(1)].iter().rev() {
            sum = sum.mul_add(self, Self::of(*term));
        }
        sum
    }
}

macro_rules! floats {
    ($($t:ident $is_f32:literal;)*) => { $(
        impl Float for $t {
            const IS_F32: bool = $is_f32;
            floats!(@consts $t PI TAU FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_1_PI FRAC_2_PI FRAC_2_SQRT_PI SQRT_2
                FRAC_1_SQRT_2 E LN_2 LN_10 LOG2_E LOG10_E);
            const EPSILON: Self = $t::EPSILON;
            const MAX: Self = $t::MAX;
            const MIN: Self = $t::MIN;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;
            const INFINITY: Self = $t::INFINITY;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const NAN: Self = $t::NAN;

            elementary! { @$t
                exp() exp2() exp10() exp_m1() ln() log2() log10() ln_1p() powf(exponent) cbrt() hypot(other) sin() cos() tan()
                asin() acos() atan() atan2(other) sinh() cosh() tanh() asinh() acosh() atanh() sigmoid() softplus() erf() erfc()
            }

            #[inline(always)]
            fn of<V: Numeral>(value: V) -> Self {
                As::<$t>::cast(value)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                Rounded::mul_add(self, factor, term)
            }
            #[inline(always)]
            fn round_away(self) -> Self {
                Rounded::round(self)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                $t::is_infinite(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn is_sign_negative(self) -> bool {
                $t::is_sign_negative(self)
            }
        }
    )* };
    (@consts $t:ident $($name:ident)*) => { $(const $name: Self = core::f64::consts::$name as $t;)* };
}
floats! { f32 true; f64 false; }
