//! The logarithm of the gamma function.

use super::fits;
use crate::circle::sin_half_turns;
use crate::power::logarithm;
use tilewright_expr::extend::{Float, scalar_fn};

/// `ln |gamma(x)|`.
///
/// +infinity at 0, at negative integers and at both infinities; exactly 0 at 1 and 2. On the left, the error counts relative
/// to `ln gamma(|x|)`, from which the reflection starts.
#[scalar_fn]
pub fn lgamma<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < 0.5 {
        let p = if T::IS_F32 {
            x.polynomial(&fits::LOG_GAMMA_ONE_SINGLE) + (fits::LOG_GAMMA_ONE_SINGLE_HIGH as T)
        } else {
            x.polynomial(&fits::LOG_GAMMA_ONE_DOUBLE) + (fits::LOG_GAMMA_ONE_DOUBLE_HIGH as T)
        };
        return p.mul_add(x, -logarithm(size));
    }
    if size == T::INFINITY {
        return size;
    }
    let right = log_gamma_right(size);
    if x > 0.0 {
        return right;
    }
    let s = sin_half_turns(size - size.round_ties_even());
    logarithm(T::PI / (size * s.abs())) - right
}

/// Of `x >= 1/2`: `u P(u)` with `u = x - 1` and `u = x - 2` near the zeros, `(x - 2) P(x)` a little further, then Stirling's
/// series.
#[scalar_fn]
fn log_gamma_right<T: Float>(x: T) -> T {
    let two = 2.0;
    if x < 1.5 {
        let u = x - 1.0;
        let p = if T::IS_F32 {
            u.polynomial(&fits::LOG_GAMMA_ONE_SINGLE) + (fits::LOG_GAMMA_ONE_SINGLE_HIGH as T)
        } else {
            u.polynomial(&fits::LOG_GAMMA_ONE_DOUBLE) + (fits::LOG_GAMMA_ONE_DOUBLE_HIGH as T)
        };
        // 0 at 1, not -0.
        return u * p + 0.0;
    }
    if x < 3.0 {
        let v = x - two;
        let p = if T::IS_F32 {
            v.polynomial(&fits::LOG_GAMMA_TWO_SINGLE) + (fits::LOG_GAMMA_TWO_SINGLE_HIGH as T)
        } else {
            v.polynomial(&fits::LOG_GAMMA_TWO_DOUBLE) + (fits::LOG_GAMMA_TWO_DOUBLE_HIGH as T)
        };
        return v * p;
    }
    if T::IS_F32 {
        if x < 10.5 {
            return (x - two) * (x - 6.5).polynomial(&fits::LOG_GAMMA_MIDDLE_SINGLE);
        }
    } else if x < 8.0 {
        return (x - two) * (x - 5.0).polynomial(&fits::LOG_GAMMA_MIDDLE_DOUBLE);
    }
    let one = 1.0;
    let r = one / x;
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::STIRLING_SINGLE) } else { z.polynomial(&fits::STIRLING_DOUBLE) };
    // ln(2 pi) / 2 - 1/2
    let rest = p.mul_add(r, 0.4189385332046727);
    (x - 0.5).mul_add(logarithm(x) - one, rest)
}
