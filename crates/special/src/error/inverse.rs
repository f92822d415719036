//! Inverses of the error function and of the normal distribution, after Giles (GPU Computing Gems, 2011): a polynomial in
//! `w = -ln(1 - x^2)`, and in its root where that is large.

use super::fits;
use crate::power::logarithm;
use tilewright_expr::extend::{Float, scalar_fn};

/// The `y` with `erf(y) = x`. Infinities at -1 and 1, NaN beyond.
#[scalar_fn]
pub fn erfinv<T: Float>(x: T) -> T {
    let one = 1.0;
    let w = -logarithm((one - x) * (one + x));
    if is_near(w) {
        return x * near(w);
    }
    tail(w).copysign(x)
}

/// The `y` with `ndtr(y) = p`. -infinity at 0, infinity at 1, NaN beyond.
#[scalar_fn]
pub fn ndtri<T: Float>(p: T) -> T {
    let one = 1.0;
    if p > one {
        return T::NAN;
    }
    let w = -logarithm(4.0 * p * (one - p));
    if is_near(w) {
        let x = (p - 0.5) * 2.0;
        return x * near(w) * T::SQRT_2;
    }
    let y = tail(w) * T::SQRT_2;
    if p < 0.5 { -y } else { y }
}

#[scalar_fn]
fn is_near<T: Float>(w: T) -> bool {
    w < (if T::IS_F32 { 5.0 } else { 6.25 })
}

/// `erfinv(x) / x`.
#[scalar_fn]
fn near<T: Float>(w: T) -> T {
    if T::IS_F32 {
        let v = w - 2.5;
        return v.polynomial(&fits::ERFINV_NEAR_SINGLE) + (fits::ERFINV_NEAR_SINGLE_HIGH as T);
    }
    let v = w - 3.125;
    v.polynomial(&fits::ERFINV_NEAR_DOUBLE) + (fits::ERFINV_NEAR_DOUBLE_HIGH as T)
}

/// `erfinv(|x|)`.
#[scalar_fn]
fn tail<T: Float>(w: T) -> T {
    if w == T::INFINITY {
        return w;
    }
    let s = w.sqrt();
    if T::IS_F32 {
        if w < 18.0 {
            let v = s - 3.125;
            return v.polynomial(&fits::ERFINV_TAIL_SINGLE) + (fits::ERFINV_TAIL_SINGLE_HIGH as T);
        }
        let v = 1.0 / s - 0.17;
        return s * (v.polynomial(&fits::ERFINV_FAR_SINGLE) + (fits::ERFINV_FAR_SINGLE_HIGH as T));
    }
    if w < 36.0 {
        let v = s - 4.25;
        return v.polynomial(&fits::ERFINV_TAIL_DOUBLE) + (fits::ERFINV_TAIL_DOUBLE_HIGH as T);
    }
    let v = 1.0 / s - 0.1;
    s * (v.polynomial(&fits::ERFINV_FAR_DOUBLE) + (fits::ERFINV_FAR_DOUBLE_HIGH as T))
}
