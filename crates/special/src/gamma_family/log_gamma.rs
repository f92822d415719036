//! The logarithm of the gamma function.

use super::fits;
use crate::circle::sin_half_turns;
use crate::power::{ln_1p_single, logarithm, reciprocal_single};
use tilewright_expr::extend::{Float, scalar_fn};

/// `ln |gamma(x)|`.
///
/// +infinity at 0, at negative integers and at both infinities; exactly 0 at 1 and 2. On the left, the error counts relative
/// to `ln gamma(|x|)`, from which the reflection starts.
#[scalar_fn]
pub fn lgamma<T: Float>(x: T) -> T {
    if T::IS_F32 {
        // 2^126, below which `reciprocal_single` and `ln_1p_single` hold.
        if x >= T::MIN_POSITIVE && x <= 8.5e37 {
            return log_gamma_single(x as f32) as T;
        }
    }
    let size = x.abs();
    if size < 0.5 {
        let p = if T::IS_F32 {
            x.polynomial(&fits::LOG_GAMMA_ONE_SINGLE) + (fits::LOG_GAMMA_ONE_SINGLE_HIGH as T)
        } else {
            x.polynomial(&fits::LOG_GAMMA_ONE_DOUBLE) + (fits::LOG_GAMMA_ONE_DOUBLE_HIGH as T)
        };
        return p.mul_add(x, -logarithm(size));
    }
    if x > 0.0 {
        return log_gamma_right(x);
    }
    let r = size - size.round_ties_even();
    if r == 0.0 || size == T::INFINITY {
        return T::INFINITY;
    }
    logarithm(T::PI / (size * sin_half_turns(r).abs())) - log_gamma_right(size)
}

/// Of `x >= 1/2`: in f64 `u P(u)` with `u = x - 1` and `u = x - 2` near the zeros, `(x - 2) P(x)` up to 8, then Stirling's series.
#[scalar_fn]
fn log_gamma_right<T: Float>(x: T) -> T {
    if T::IS_F32 {
        return if x <= 8.5e37 { log_gamma_single(x as f32) as T } else { x * x };
    }
    let two = 2.0;
    if x < 1.5 {
        let u = x - 1.0;
        let p = u.polynomial(&fits::LOG_GAMMA_ONE_DOUBLE) + (fits::LOG_GAMMA_ONE_DOUBLE_HIGH as T);
        // 0 at 1, not -0.
        return u * p + 0.0;
    }
    if x < 3.0 {
        let v = x - two;
        return v * (v.polynomial(&fits::LOG_GAMMA_TWO) + (fits::LOG_GAMMA_TWO_HIGH as T));
    }
    if x < 8.0 {
        return (x - two) * (x - 5.0).polynomial(&fits::LOG_GAMMA_MIDDLE);
    }
    let one = 1.0;
    let r = one / x;
    // ln(2 pi) / 2 - 1/2
    let rest = (r * r).polynomial(&fits::STIRLING).mul_add(r, 0.4189385332046727);
    (x - 0.5).mul_add(logarithm(x) - one, rest)
}

/// `c ln(1 + f)` for all `x`, of a normal float to 2^126, without a branch, so that threads stay together.
///
/// Below 1, `1 + f = gamma(1 + x) / x`, whose `f` has the factor `1 - x`. Up to 13, `1 + f = gamma(x)^(1 / (x - 1))`: nearly a
/// straight line, 1 at `x = 2`. Beyond, `1 + f = x` for Stirling's series.
#[scalar_fn]
fn log_gamma_single(x: f32) -> f32 {
    let below = x < 1.0;
    let far = x >= 13.0;
    let r = reciprocal_single(x + (if below || far { 0.0 } else { 3.0 }));
    let d = 1.0 - x;
    let near = d.polynomial(&fits::LOG_GAMMA_BELOW_SINGLE) * r;
    // (x - 3) / (x + 3)
    let above = r.mul_add(-6.0, 1.0).polynomial(&fits::LOG_GAMMA_ABOVE_SINGLE);
    let f = (if below { d } else { x - 2.0 }) * (if below { near } else { above });
    let log = ln_1p_single(if far { x - 1.0 } else { f });
    let times = x - (if far { 0.5 } else { 1.0 });
    // 1 / 12, -1 / 360, and ln(2 pi) / 2 - 1/2
    let rest = (r * r).mul_add(-0.0027777778, 0.083333336).mul_add(r, 0.41893852);
    let times = if below { 1.0 } else { times };
    // 0 at 1, not -0.
    times.mul_add(if far { log - 1.0 } else { log }, if far { rest } else { 0.0 })
}
