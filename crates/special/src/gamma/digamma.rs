//! The logarithmic derivative of the gamma function.

use super::digamma_fits as fits;
use crate::circle::{cos_half_turns, sin_half_turns};
use crate::float::Float;
use crate::power::logarithm;

/// `psi(x) = gamma'(x) / gamma(x)`.
///
/// -infinity at 0, +infinity at -0, NaN at negative integers and -infinity. On the left, the error counts relative to
/// `psi(1 - x)`, from which the reflection starts.
pub fn digamma<T: Float>(x: T) -> T {
    if x > T::of(0.0) {
        return digamma_right(x);
    }
    if x == T::of(0.0) {
        return (-T::INFINITY).copysign(-x);
    }
    let r = x - x.round_ties_even();
    if r == T::of(0.0) {
        return T::NAN;
    }
    let cotangent = cos_half_turns(r) / sin_half_turns(r);
    // psi(1 - x) - pi cot(pi x)
    let right = if x > T::of(-2.0) { digamma_near(-x) } else { digamma_right(T::of(1.0) - x) };
    cotangent.mul_add(-T::PI, right)
}

/// `psi(1 + y)` for `0 <= y <= 2`: `(1 + y - root) P(y - 1)`.
fn digamma_near<T: Float>(y: T) -> T {
    let v = y - T::of(1.0);
    if T::IS_F32 {
        let d = (y - T::of(fits::DIGAMMA_AT_SINGLE[0])) - T::of(fits::DIGAMMA_AT_SINGLE[1]);
        return d * (v.polynomial(&fits::DIGAMMA_NEAR_SINGLE) + T::of(fits::DIGAMMA_NEAR_SINGLE_HIGH));
    }
    let d = (y - T::of(fits::DIGAMMA_AT_DOUBLE[0])) - T::of(fits::DIGAMMA_AT_DOUBLE[1]);
    d * (v.polynomial(&fits::DIGAMMA_NEAR_DOUBLE) + T::of(fits::DIGAMMA_NEAR_DOUBLE_HIGH))
}

/// Of a positive `x`: the polynomial up to 3, with `psi(x + 1) - 1 / x` below 1; beyond, `ln h + z R(z)` with `h = x - 1/2`,
/// `z = 1 / h^2`.
fn digamma_right<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    if x < T::of(3.0) {
        let p = digamma_near(if x < one { x } else { x - one });
        return if x < one { p - one / x } else { p };
    }
    if !T::IS_F32 {
        if x < T::of(8.0) {
            return (x - T::of(5.0)).polynomial(&fits::DIGAMMA_MIDDLE);
        }
    }
    let h = x - T::of(0.5);
    let z = one / (h * h);
    let p = if T::IS_F32 { z.polynomial(&fits::DIGAMMA_FAR_SINGLE) } else { z.polynomial(&fits::DIGAMMA_FAR_DOUBLE) };
    p.mul_add(z, logarithm(h))
}
