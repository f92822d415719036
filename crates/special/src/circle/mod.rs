//! Functions of angles in half turns: exact zeros, and no large multiple of pi to lose.

mod fits;

use tilewright_expr::extend::{Float, scalar_fn};

/// `sin(pi r)` for `|r| <= 1/2`.
#[scalar_fn]
pub(crate) fn sin_half_turns<T: Float>(r: T) -> T {
    let size = r.abs();
    if size <= 0.25 {
        let z = r * r;
        if T::IS_F32 {
            return r * (z.polynomial(&fits::SIN_PI_SINGLE) + (fits::SIN_PI_SINGLE_HIGH as T));
        }
        return r * (z.polynomial(&fits::SIN_PI_DOUBLE) + (fits::SIN_PI_DOUBLE_HIGH as T));
    }
    let q = 0.5 - size;
    let z = q * q;
    let p = if T::IS_F32 { z.polynomial(&fits::COS_PI_SINGLE) } else { z.polynomial(&fits::COS_PI_DOUBLE) };
    p.mul_add(z, 1.0).copysign(r)
}

/// `cos(pi r)` for `|r| <= 1/2`.
#[scalar_fn]
pub(crate) fn cos_half_turns<T: Float>(r: T) -> T {
    let size = r.abs();
    if size > 0.25 {
        return sin_half_turns(0.5 - size);
    }
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::COS_PI_SINGLE) } else { z.polynomial(&fits::COS_PI_DOUBLE) };
    p.mul_add(z, 1.0)
}

/// `sin(pi x)`. Exact at multiples of 1/2; NaN at infinities.
///
/// `x` less the nearest integer is exact, and is at most 1/2.
#[scalar_fn]
pub fn sin_pi<T: Float>(x: T) -> T {
    let whole = x.round_ties_even();
    let r = x - whole;
    if r == 0.0 {
        return 0.0.copysign(x);
    }
    let half = whole * 0.5;
    let s = sin_half_turns(r);
    if half == half.floor() { s } else { -s }
}

/// `cos(pi x)`. Exact at multiples of 1/2; NaN at infinities.
#[scalar_fn]
pub fn cos_pi<T: Float>(x: T) -> T {
    let whole = x.round_ties_even();
    let half = whole * 0.5;
    let c = cos_half_turns(x - whole);
    if half == half.floor() { c } else { 0.0 - c }
}

/// `sin(pi x) / (pi x)`: 1 at 0, exactly 0 at other integers, 0 at infinities.
#[scalar_fn]
pub fn sinc<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < 1e-5 {
        // Up to (pi x)^2 / 6.
        return (size * -1.644_934_066_848_226_4).mul_add(size, 1.0);
    }
    if size == T::INFINITY {
        return 0.0;
    }
    let whole = size.round_ties_even();
    let r = size - whole;
    let half = whole * 0.5;
    let s = sin_half_turns(r);
    let s = if half == half.floor() { s } else { 0.0 - s };
    // 1 / pi, and what that lacks.
    let high = s * T::FRAC_1_PI;
    let low = if T::IS_F32 { -9.930_597e-9 } else { -1.967_867_667_518_248_6e-17 };
    s.mul_add(low, high) / size
}
