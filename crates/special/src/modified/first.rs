//! Modified Bessel functions of the first kind: a polynomial in `x^2` below 4, `e^x` times a polynomial in `x` up to 10.5 and in
//! `1 / x` beyond.

use super::fits;
use crate::float::Float;

/// `I0(x)`, even; infinity where it is past the largest float (713.98 in f64, 91.9 in f32) and at infinities.
pub fn i0<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(4.0) {
        return i0_near(size * size);
    }
    grown(i0_scaled(size), size)
}

/// `I1(x)`, odd; infinities as those of [`i0`].
pub fn i1<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(4.0) {
        return x * i1_near(size * size);
    }
    grown(i1_scaled(size), size).copysign(x)
}

/// `e^-|x| I0(x)`; 0 at infinities.
pub fn i0e<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(4.0) {
        return i0_near(size * size) * (-size).exp();
    }
    i0_scaled(size)
}

/// `e^-|x| I1(x)`; 0 at infinities.
pub fn i1e<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(4.0) {
        return x * i1_near(size * size) * (-size).exp();
    }
    i1_scaled(size).copysign(x)
}

/// `e^x v`, where `e^x` alone may be past the largest float.
fn grown<T: Float>(v: T, x: T) -> T {
    let limit = if T::IS_F32 { T::of(88.0) } else { T::of(709.0) };
    if x < limit {
        return x.exp() * v;
    }
    if x > T::of(720.0) {
        return T::INFINITY;
    }
    let root = (T::of(0.5) * x).exp();
    root * v * root
}

/// `I0(sqrt(z))` for `z <= 16`.
pub(super) fn i0_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::I0_NEAR_SINGLE) + T::of(fits::I0_NEAR_SINGLE_HIGH);
    }
    z.polynomial(&fits::I0_NEAR_DOUBLE) + T::of(fits::I0_NEAR_DOUBLE_HIGH)
}

/// `I1(sqrt(z)) / sqrt(z)` for `z <= 16`.
pub(super) fn i1_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::I1_NEAR_SINGLE) + T::of(fits::I1_NEAR_SINGLE_HIGH);
    }
    z.polynomial(&fits::I1_NEAR_DOUBLE) + T::of(fits::I1_NEAR_DOUBLE_HIGH)
}

/// `e^-x I0(x)` of `x >= 4`.
fn i0_scaled<T: Float>(x: T) -> T {
    if x < T::of(10.5) {
        let v = x - T::of(7.0);
        if T::IS_F32 {
            return v.polynomial(&fits::I0_MIDDLE_SINGLE) + T::of(fits::I0_MIDDLE_SINGLE_HIGH);
        }
        return v.polynomial(&fits::I0_MIDDLE_DOUBLE) + T::of(fits::I0_MIDDLE_DOUBLE_HIGH);
    }
    let r = T::of(1.0) / x;
    let p = if T::IS_F32 {
        r.polynomial(&fits::I0_FAR_SINGLE) + T::of(fits::I0_FAR_SINGLE_HIGH)
    } else {
        r.polynomial(&fits::I0_FAR_DOUBLE) + T::of(fits::I0_FAR_DOUBLE_HIGH)
    };
    p / x.sqrt()
}

/// `e^-x I1(x)` of `x >= 4`.
fn i1_scaled<T: Float>(x: T) -> T {
    if x < T::of(10.5) {
        let v = x - T::of(7.0);
        if T::IS_F32 {
            return v.polynomial(&fits::I1_MIDDLE_SINGLE) + T::of(fits::I1_MIDDLE_SINGLE_HIGH);
        }
        return v.polynomial(&fits::I1_MIDDLE_DOUBLE) + T::of(fits::I1_MIDDLE_DOUBLE_HIGH);
    }
    let r = T::of(1.0) / x;
    let p = if T::IS_F32 {
        r.polynomial(&fits::I1_FAR_SINGLE) + T::of(fits::I1_FAR_SINGLE_HIGH)
    } else {
        r.polynomial(&fits::I1_FAR_DOUBLE) + T::of(fits::I1_FAR_DOUBLE_HIGH)
    };
    p / x.sqrt()
}
