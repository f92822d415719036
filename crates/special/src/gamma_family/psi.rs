//! The logarithmic derivative of the gamma function.

use super::psi_fits as fits;
use crate::circle::{cos_half_turns, sin_half_turns};
use crate::power::{ln_1p_single, logarithm, reciprocal_single};
use tilewright_expr::extend::{Float, scalar_fn};

/// `psi(x) = gamma'(x) / gamma(x)`.
///
/// -infinity at 0, +infinity at -0, NaN at negative integers and -infinity. On the left, the error counts relative to
/// `psi(1 - x)`, from which the reflection starts.
#[scalar_fn]
pub fn digamma<T: Float>(x: T) -> T {
    if T::IS_F32 {
        return digamma_single(x as f32) as T;
    }
    digamma_double(x)
}

/// Apart from [`digamma`], which is so short that nothing is called but the form of its type.
#[scalar_fn]
fn digamma_double<T: Float>(x: T) -> T {
    if x > 0.0 {
        return digamma_right(x);
    }
    if x == 0.0 {
        return (-T::INFINITY).copysign(-x);
    }
    let r = x - x.round_ties_even();
    if r == 0.0 {
        return T::NAN;
    }
    let right = if x > -2.0 { digamma_near(-x) } else { digamma_right(1.0 - x) };
    reflected(r, right)
}

/// `psi(1 - x) - pi cot(pi x)` of the distance `r` from the nearest integer.
#[scalar_fn]
fn reflected<T: Float>(r: T, right: T) -> T {
    (cos_half_turns(r) / sin_half_turns(r)).mul_add(-T::PI, right)
}

/// `e^psi` is nearly a straight line, so that its slope from the root on is a short polynomial: of `x` for `psi(1 + x)` below 1, of
/// `1 / x` beyond. No branch in the usual range, so that threads stay together, and little else for a processor's vectors.
#[scalar_fn]
fn digamma_single(x: f32) -> f32 {
    let size = x.abs();
    let left = x < 0.0;
    // Left of 0, psi(1 - x).
    let at = size + (if left { 1.0 } else { 0.0 });
    let step = at < 1.0;
    let r = reciprocal_single(at);
    let above = r.polynomial(&fits::DIGAMMA_ABOVE_SINGLE);
    let below = at.polynomial(&fits::DIGAMMA_BELOW_SINGLE);
    let y = size - (if left || step { 0.0 } else { 1.0 });
    let d = (y - (fits::DIGAMMA_AT_SINGLE[0] as f32)) - (fits::DIGAMMA_AT_SINGLE[1] as f32);
    let log = ln_1p_single(d * (if step { below } else { above }));
    let value = if step { log - r } else { log };
    // 2^126, below which `reciprocal_single` and `ln_1p_single` hold.
    if x >= f32::MIN_POSITIVE && x <= 8.5e37 {
        return value;
    }
    if left {
        let r = x - x.round_ties_even();
        let reflected = reflected(r, value);
        return if r == 0.0 { f32::NAN } else { reflected };
    }
    if x < 1.0 {
        return -1.0 / x;
    }
    // 2^-32, and the logarithm of 2^32.
    let far = ln_1p_single(x * 2.3283064e-10) + 22.18071;
    if x <= f32::MAX { far } else { x }
}

/// `psi(1 + y)` for `0 <= y <= 2` in f64: `(1 + y - root) P(y - 1)`.
#[scalar_fn]
fn digamma_near<T: Float>(y: T) -> T {
    let d = (y - (fits::DIGAMMA_AT_DOUBLE[0] as T)) - (fits::DIGAMMA_AT_DOUBLE[1] as T);
    d * ((y - 1.0).polynomial(&fits::DIGAMMA_NEAR) + (fits::DIGAMMA_NEAR_HIGH as T))
}

/// Of a positive `x`: the polynomial up to 3, with `psi(x + 1) - 1 / x` below 1; beyond 8, `ln h + z R(z)` with `h = x - 1/2`,
/// `z = 1 / h^2`. One division for both. In f64.
#[scalar_fn]
fn digamma_right<T: Float>(x: T) -> T {
    let h = x - 0.5;
    let inverse = 1.0 / (if x < 1.0 { x } else { h * h });
    if x < 3.0 {
        let p = digamma_near(if x < 1.0 { x } else { x - 1.0 });
        return if x < 1.0 { p - inverse } else { p };
    }
    if x < 8.0 {
        return (x - 5.0).polynomial(&fits::DIGAMMA_MIDDLE);
    }
    inverse.polynomial(&fits::DIGAMMA_FAR).mul_add(inverse, logarithm(h))
}
