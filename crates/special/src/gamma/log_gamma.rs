//! The logarithm of the gamma function.

use super::fits;
use crate::circle::sin_half_turns;
use crate::float::Float;
use crate::power::logarithm;

/// `ln |gamma(x)|`.
///
/// +infinity at 0, at negative integers and at both infinities; exactly 0 at 1 and 2. On the left, the error counts relative
/// to `ln gamma(|x|)`, from which the reflection starts.
pub fn lgamma<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(0.5) {
        let p = if T::IS_F32 {
            x.polynomial(&fits::LOG_GAMMA_ONE_SINGLE) + T::of(fits::LOG_GAMMA_ONE_SINGLE_HIGH)
        } else {
            x.polynomial(&fits::LOG_GAMMA_ONE_DOUBLE) + T::of(fits::LOG_GAMMA_ONE_DOUBLE_HIGH)
        };
        return p.mul_add(x, -logarithm(size));
    }
    if size == T::INFINITY {
        return size;
    }
    let right = log_gamma_right(size);
    if x > T::of(0.0) {
        return right;
    }
    let s = sin_half_turns(size - size.round_ties_even());
    logarithm(T::PI / (size * s.abs())) - right
}

/// Of `x >= 1/2`: `u P(u)` with `u = x - 1` and `u = x - 2` near the zeros, `(x - 2) P(x)` a little further, then Stirling's
/// series.
fn log_gamma_right<T: Float>(x: T) -> T {
    let two = T::of(2.0);
    if x < T::of(1.5) {
        let u = x - T::of(1.0);
        let p = if T::IS_F32 {
            u.polynomial(&fits::LOG_GAMMA_ONE_SINGLE) + T::of(fits::LOG_GAMMA_ONE_SINGLE_HIGH)
        } else {
            u.polynomial(&fits::LOG_GAMMA_ONE_DOUBLE) + T::of(fits::LOG_GAMMA_ONE_DOUBLE_HIGH)
        };
        // 0 at 1, not -0.
        return u * p + T::of(0.0);
    }
    if x < T::of(3.0) {
        let v = x - two;
        let p = if T::IS_F32 {
            v.polynomial(&fits::LOG_GAMMA_TWO_SINGLE) + T::of(fits::LOG_GAMMA_TWO_SINGLE_HIGH)
        } else {
            v.polynomial(&fits::LOG_GAMMA_TWO_DOUBLE) + T::of(fits::LOG_GAMMA_TWO_DOUBLE_HIGH)
        };
        return v * p;
    }
    if T::IS_F32 {
        if x < T::of(10.5) {
            return (x - two) * (x - T::of(6.5)).polynomial(&fits::LOG_GAMMA_MIDDLE_SINGLE);
        }
    } else if x < T::of(8.0) {
        return (x - two) * (x - T::of(5.0)).polynomial(&fits::LOG_GAMMA_MIDDLE_DOUBLE);
    }
    let one = T::of(1.0);
    let r = one / x;
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::STIRLING_SINGLE) } else { z.polynomial(&fits::STIRLING_DOUBLE) };
    // ln(2 pi) / 2 - 1/2
    let rest = p.mul_add(r, T::of(0.4189385332046727));
    (x - T::of(0.5)).mul_add(logarithm(x) - one, rest)
}
