//! Inverses of the error function and of the normal distribution, after Giles (GPU Computing Gems, 2011): a polynomial in
//! `w = -ln(1 - x^2)`, and in its root where that is large.

use super::fits;
use crate::float::Float;
use crate::power::logarithm;

/// The `y` with `erf(y) = x`. Infinities at -1 and 1, NaN beyond.
pub fn erfinv<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    let w = -logarithm((one - x) * (one + x));
    if is_near(w) {
        return x * near(w);
    }
    tail(w).copysign(x)
}

/// The `y` with `ndtr(y) = p`. -infinity at 0, infinity at 1, NaN beyond.
pub fn ndtri<T: Float>(p: T) -> T {
    let one = T::of(1.0);
    if p > one {
        return T::NAN;
    }
    let w = -logarithm(T::of(4.0) * p * (one - p));
    if is_near(w) {
        let x = (p - T::of(0.5)) * T::of(2.0);
        return x * near(w) * T::SQRT_2;
    }
    let y = tail(w) * T::SQRT_2;
    if p < T::of(0.5) { -y } else { y }
}

fn is_near<T: Float>(w: T) -> bool {
    w < (if T::IS_F32 { T::of(5.0) } else { T::of(6.25) })
}

/// `erfinv(x) / x`.
fn near<T: Float>(w: T) -> T {
    if T::IS_F32 {
        let v = w - T::of(2.5);
        return v.polynomial(&fits::ERFINV_NEAR_SINGLE) + T::of(fits::ERFINV_NEAR_SINGLE_HIGH);
    }
    let v = w - T::of(3.125);
    v.polynomial(&fits::ERFINV_NEAR_DOUBLE) + T::of(fits::ERFINV_NEAR_DOUBLE_HIGH)
}

/// `erfinv(|x|)`.
fn tail<T: Float>(w: T) -> T {
    if w == T::INFINITY {
        return w;
    }
    let s = w.sqrt();
    if T::IS_F32 {
        if w < T::of(18.0) {
            let v = s - T::of(3.125);
            return v.polynomial(&fits::ERFINV_TAIL_SINGLE) + T::of(fits::ERFINV_TAIL_SINGLE_HIGH);
        }
        let v = T::of(1.0) / s - T::of(0.17);
        return s * (v.polynomial(&fits::ERFINV_FAR_SINGLE) + T::of(fits::ERFINV_FAR_SINGLE_HIGH));
    }
    if w < T::of(36.0) {
        let v = s - T::of(4.25);
        return v.polynomial(&fits::ERFINV_TAIL_DOUBLE) + T::of(fits::ERFINV_TAIL_DOUBLE_HIGH);
    }
    let v = T::of(1.0) / s - T::of(0.1);
    s * (v.polynomial(&fits::ERFINV_FAR_DOUBLE) + T::of(fits::ERFINV_FAR_DOUBLE_HIGH))
}
