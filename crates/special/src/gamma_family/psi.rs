//! The logarithmic derivative of the gamma function.

use super::psi_fits as fits;
use crate::circle::{cos_half_turns, sin_half_turns};
use crate::power::logarithm;
use tilewright_expr::extend::{Float, scalar_fn};

/// `psi(x) = gamma'(x) / gamma(x)`.
///
/// -infinity at 0, +infinity at -0, NaN at negative integers and -infinity. On the left, the error counts relative to
/// `psi(1 - x)`, from which the reflection starts.
#[scalar_fn]
pub fn digamma<T: Float>(x: T) -> T {
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
    let cotangent = cos_half_turns(r) / sin_half_turns(r);
    // psi(1 - x) - pi cot(pi x)
    let right = if x > -2.0 { digamma_near(-x) } else { digamma_right(1.0 - x) };
    cotangent.mul_add(-T::PI, right)
}

/// `psi(1 + y)` for `0 <= y <= 2`: `(1 + y - root) P(y - 1)`.
#[scalar_fn]
fn digamma_near<T: Float>(y: T) -> T {
    let v = y - 1.0;
    if T::IS_F32 {
        let d = (y - (fits::DIGAMMA_AT_SINGLE[0] as T)) - (fits::DIGAMMA_AT_SINGLE[1] as T);
        return d * (v.polynomial(&fits::DIGAMMA_NEAR_SINGLE) + (fits::DIGAMMA_NEAR_SINGLE_HIGH as T));
    }
    let d = (y - (fits::DIGAMMA_AT_DOUBLE[0] as T)) - (fits::DIGAMMA_AT_DOUBLE[1] as T);
    d * (v.polynomial(&fits::DIGAMMA_NEAR_DOUBLE) + (fits::DIGAMMA_NEAR_DOUBLE_HIGH as T))
}

/// Of a positive `x`: the polynomial up to 3, with `psi(x + 1) - 1 / x` below 1; beyond, `ln h + z R(z)` with `h = x - 1/2`,
/// `z = 1 / h^2`. One division for both.
#[scalar_fn]
fn digamma_right<T: Float>(x: T) -> T {
    let h = x - 0.5;
    let inverse = 1.0 / (if x < 1.0 { x } else { h * h });
    if x < 3.0 {
        let p = digamma_near(if x < 1.0 { x } else { x - 1.0 });
        return if x < 1.0 { p - inverse } else { p };
    }
    if !T::IS_F32 {
        if x < 8.0 {
            return (x - 5.0).polynomial(&fits::DIGAMMA_MIDDLE);
        }
    }
    let p = if T::IS_F32 {
        inverse.polynomial(&fits::DIGAMMA_FAR_SINGLE)
    } else {
        inverse.polynomial(&fits::DIGAMMA_FAR_DOUBLE)
    };
    p.mul_add(inverse, logarithm(h))
}
