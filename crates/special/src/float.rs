//! The numbers that the functions of this crate are written for.

/// f32 or f64, with the operations that a scalar function may use.
pub trait Float:
    Copy
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// Whether this is f32: what is chosen by it is chosen when the kernel is compiled.
    const IS_F32: bool;
    /// The nearest float.
    fn of(value: f64) -> Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// A quiet NaN.
    const NAN: Self;
    /// The circle's circumference over its diameter.
    const PI: Self;
    /// Its inverse.
    const FRAC_1_PI: Self;
    /// Twice that.
    const FRAC_2_PI: Self;
    /// The root of 2.
    const SQRT_2: Self;
    /// The root of 1/2.
    const FRAC_1_SQRT_2: Self;
    /// The natural logarithm of 2.
    const LN_2: Self;
    /// The largest finite float.
    const MAX: Self;
    /// The smallest float of full precision.
    const MIN_POSITIVE: Self;
    /// Horner's rule with fused multiply-adds, the lowest power first, coefficients rounded to this format.
    fn polynomial(self, c: &[f64]) -> Self;
    /// `|self|`.
    fn abs(self) -> Self;
    /// The size of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The largest integer that is not above.
    fn floor(self) -> Self;
    /// The nearest integer, the even one of two.
    fn round_ties_even(self) -> Self;
    /// The integer next to `self` on the side of 0.
    fn trunc(self) -> Self;
    /// `e^self`.
    fn exp(self) -> Self;
    /// `2^self`.
    fn exp2(self) -> Self;
    /// `e^self - 1`.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// `ln(1 + self)`.
    fn ln_1p(self) -> Self;
    /// `self^y`.
    fn powf(self, y: Self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// Whether the bit of the sign is set.
    fn is_sign_negative(self) -> bool;
    /// Within `low` and `high`.
    fn clamp(self, low: Self, high: Self) -> Self;
    /// An integer as a float.
    fn whole(value: i32) -> Self;
    /// As f32.
    fn single(self) -> f32;
    /// From f32.
    fn from_single(value: f32) -> Self;
    /// Whether this is no number.
    fn is_nan(self) -> bool;
    /// As an integer, towards 0, saturating.
    fn to_i64(self) -> i64;
}

macro_rules! float {
    ($t:ty, $single:expr) => {
        impl Float for $t {
            const IS_F32: bool = $single;
            fn of(value: f64) -> Self {
                value as $t
            }
            const INFINITY: Self = <$t>::INFINITY;
            const NAN: Self = <$t>::NAN;
            const PI: Self = std::f64::consts::PI as $t;
            const FRAC_1_PI: Self = std::f64::consts::FRAC_1_PI as $t;
            const FRAC_2_PI: Self = std::f64::consts::FRAC_2_PI as $t;
            const SQRT_2: Self = std::f64::consts::SQRT_2 as $t;
            const FRAC_1_SQRT_2: Self = std::f64::consts::FRAC_1_SQRT_2 as $t;
            const LN_2: Self = std::f64::consts::LN_2 as $t;
            const MAX: Self = <$t>::MAX;
            const MIN_POSITIVE: Self = <$t>::MIN_POSITIVE;
            fn polynomial(self, c: &[f64]) -> Self {
                c.iter().rev().fold(0.0, |p: $t, a| p.mul_add(self, *a as $t))
            }
            fn to_i64(self) -> i64 {
                self as i64
            }
            float!($t: abs sqrt floor round_ties_even trunc exp exp2 exp_m1 ln log2 ln_1p sin cos tan);
            fn copysign(self, sign: Self) -> Self {
                <$t>::copysign(self, sign)
            }
            fn mul_add(self, a: Self, b: Self) -> Self {
                <$t>::mul_add(self, a, b)
            }
            fn powf(self, y: Self) -> Self {
                <$t>::powf(self, y)
            }
            fn clamp(self, low: Self, high: Self) -> Self {
                if self.is_nan() { self } else { <$t>::clamp(self, low, high) }
            }
            fn whole(value: i32) -> Self {
                value as $t
            }
            fn single(self) -> f32 {
                self as f32
            }
            fn from_single(value: f32) -> Self {
                value as $t
            }
            fn is_nan(self) -> bool {
                <$t>::is_nan(self)
            }
            fn is_sign_negative(self) -> bool {
                <$t>::is_sign_negative(self)
            }
        }
    };
    ($t:ty: $($name:ident)*) => {
        $(fn $name(self) -> Self {
            <$t>::$name(self)
        })*
    };
}

float!(f32, true);
float!(f64, false);
