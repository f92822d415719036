//! The gamma function itself.

use super::fits;
use crate::circle::sin_half_turns;
use tilewright_expr::extend::{Float, scalar_fn};

/// `gamma(x)`, which is `(x - 1)!` of integers.
///
/// +infinity at 0, -infinity at -0, NaN at negative integers and -infinity.
#[scalar_fn]
pub fn gamma<T: Float>(x: T) -> T {
    let zero = 0.0;
    let half = 0.5;
    if x > -half {
        if x >= 8.0 {
            return gamma_far(x);
        }
        return gamma_near(x);
    }
    let size = -x;
    let s = sin_half_turns(size - size.round_ties_even());
    let whole = (size * half).floor() * 2.0;
    // Below the period's middle the sine keeps its sign, whatever side of the integer it is counted from.
    let s = if size - whole > 1.0 { -(s.abs()) } else { s.abs() };
    if s == zero || s.is_nan() {
        return T::NAN;
    }
    if size < 8.0 {
        return -T::PI / (size * s * gamma_near(size));
    }
    if size < (if T::IS_F32 { 34.0 } else { 170.0 }) {
        // pi over sqrt(2 pi / e)
        return -2.0663656770612464 / (size * s * stirling(size));
    }
    let top = -T::PI / (size * s);
    if size > (if T::IS_F32 { 45.0 } else { 185.0 }) {
        return zero.copysign(top);
    }
    // gamma(size) may be past the largest float, its square root is not.
    let (q, lacking) = over_e(size);
    let y = half.mul_add(size, -0.25);
    let root = q.powf(y);
    let root = root.mul_add(y * lacking, root);
    // sqrt(2 pi / e)
    (top / (root * (1.5203469010662808 * stirling_ratio(size)))) / root
}

/// Of `-1/2 < x < 8`: `gamma(2 + u)`, `|u| <= 1/2`, and the recurrence.
#[scalar_fn]
fn gamma_near<T: Float>(x: T) -> T {
    let one = 1.0;
    let half = 0.5;
    let two = 2.0;
    let mut u = x;
    let mut over = one;
    let mut under = one;
    if x < half {
        under = x * (x + one);
    } else if x < 1.5 {
        u = x - one;
        under = x;
    } else {
        u = x - two;
        // At most six times: x is below 8.
        while u > half {
            u = u - one;
            over = over * (u + two);
        }
    }
    let p = if T::IS_F32 {
        u.polynomial(&fits::GAMMA_TWO_SINGLE) + (fits::GAMMA_TWO_SINGLE_HIGH as T)
    } else {
        u.polynomial(&fits::GAMMA_TWO_DOUBLE) + (fits::GAMMA_TWO_DOUBLE_HIGH as T)
    };
    p * over / under
}

/// `gamma(x)` of `x >= 8` without the factor `sqrt(2 pi / e)`: `(x / e)^(x - 1/2)` with Stirling's series, whose sum is near 1 and
/// is added together with what the rounded quotient lacks.
#[scalar_fn]
fn stirling<T: Float>(x: T) -> T {
    let r = 1.0 / x;
    let p = if T::IS_F32 {
        r.polynomial(&fits::STIRLING_FACTOR_SINGLE)
    } else {
        r.polynomial(&fits::STIRLING_FACTOR_DOUBLE)
    };
    let y = x - 0.5;
    let (q, lacking) = over_e(x);
    let power = q.powf(y);
    power.mul_add(p.mul_add(r, y * lacking), power)
}

/// `x / e`, and what that lacks, relative to it.
#[scalar_fn]
fn over_e<T: Float>(x: T) -> (T, T) {
    let inverse = 0.36787944117144233;
    let low = if T::IS_F32 { -9.149755619830557e-9 } else { -1.2428753672788363e-17 };
    let q = x * inverse;
    (q, (x.mul_add(inverse, -q) + x * low) / q)
}

/// `gamma(x) e^x x^(1/2 - x) / sqrt(2 pi)` of `x >= 8`.
#[scalar_fn]
pub(super) fn stirling_ratio<T: Float>(x: T) -> T {
    let r = 1.0 / x;
    let p = if T::IS_F32 {
        r.polynomial(&fits::STIRLING_FACTOR_SINGLE)
    } else {
        r.polynomial(&fits::STIRLING_FACTOR_DOUBLE)
    };
    p.mul_add(r, 1.0)
}

/// Of `x >= 8`, by Stirling's series.
#[scalar_fn]
fn gamma_far<T: Float>(x: T) -> T {
    if x > (if T::IS_F32 { 36.0 } else { 172.0 }) {
        return T::INFINITY;
    }
    1.5203469010662808 * stirling(x)
}
