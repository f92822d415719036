//! Modified Bessel functions of the first kind: a polynomial in `x^2` below 4, `e^x` times a polynomial in `x` up to 10.5 and in
//! `1 / x` beyond. `I0` and `I1` in f32: one polynomial in `x^2` up to 10.5.

use super::fits;
use tilewright_expr::extend::{Float, scalar_fn};

/// `I0(x)`, even; infinity where it is past the largest float (713.98 in f64, 91.9 in f32) and at infinities.
#[scalar_fn]
pub fn i0<T: Float>(x: T) -> T {
    let size = x.abs();
    if T::IS_F32 {
        if size < 10.5 {
            return i0_single(x as f32) as T;
        }
    } else if size < 4.0 {
        return i0_near(size * size);
    }
    grown(i0_scaled(size), size)
}

/// `I1(x)`, odd; infinities as those of [`i0`].
#[scalar_fn]
pub fn i1<T: Float>(x: T) -> T {
    let size = x.abs();
    if T::IS_F32 {
        if size < 10.5 {
            return i1_single(x as f32) as T;
        }
    } else if size < 4.0 {
        return x * i1_near(size * size);
    }
    grown(i1_scaled(size), size).copysign(x)
}

/// `e^-|x| I0(x)`; 0 at infinities.
#[scalar_fn]
pub fn i0e<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < 4.0 {
        return i0_near(size * size) * (-size).exp();
    }
    i0_scaled(size)
}

/// `e^-|x| I1(x)`; 0 at infinities.
#[scalar_fn]
pub fn i1e<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < 4.0 {
        return x * i1_near(size * size) * (-size).exp();
    }
    i1_scaled(size).copysign(x)
}

/// `I0(x)` up to 10.5: one polynomial in `z = x^2`, and what rounding that took from the value.
#[scalar_fn]
fn i0_single(x: f32) -> f32 {
    let z = x * x;
    let p = z.polynomial(&fits::I0_WIDE);
    let slope = x.abs().polynomial(&fits::I0_SLOPE);
    p.mul_add(z, (p * z).mul_add(x.mul_add(x, -z) * slope, 1.0))
}

/// `I1(x)`, as [`i0_single`].
#[scalar_fn]
fn i1_single(x: f32) -> f32 {
    let z = x * x;
    let p = z.polynomial(&fits::I1_WIDE);
    let slope = x.abs().polynomial(&fits::I1_SLOPE);
    x * p.mul_add(z, (p * z).mul_add(x.mul_add(x, -z) * slope, 0.5))
}

/// `e^x v`, where `e^x` alone may be past the largest float.
#[scalar_fn]
fn grown<T: Float>(v: T, x: T) -> T {
    let limit = if T::IS_F32 { 88.0 } else { 709.0 };
    if x < limit {
        return x.exp() * v;
    }
    if x > 720.0 {
        return T::INFINITY;
    }
    // e^8; the difference is exact.
    (x - 8.0).exp() * (v * 2980.9579870417283)
}

/// `I0(sqrt(z))` for `z <= 16`.
#[scalar_fn]
pub(super) fn i0_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::I0_NEAR_SINGLE) + (fits::I0_NEAR_SINGLE_HIGH as T);
    }
    z.polynomial(&fits::I0_NEAR_DOUBLE) + (fits::I0_NEAR_DOUBLE_HIGH as T)
}

/// `I1(sqrt(z)) / sqrt(z)` for `z <= 16`.
#[scalar_fn]
pub(super) fn i1_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::I1_NEAR_SINGLE) + (fits::I1_NEAR_SINGLE_HIGH as T);
    }
    z.polynomial(&fits::I1_NEAR_DOUBLE) + (fits::I1_NEAR_DOUBLE_HIGH as T)
}

/// `e^-x I0(x)` of `x >= 4`.
#[scalar_fn]
fn i0_scaled<T: Float>(x: T) -> T {
    if x < 10.5 {
        let v = x - 7.0;
        if T::IS_F32 {
            return v.polynomial(&fits::I0_MIDDLE_SINGLE) + (fits::I0_MIDDLE_SINGLE_HIGH as T);
        }
        return v.polynomial(&fits::I0_MIDDLE_DOUBLE) + (fits::I0_MIDDLE_DOUBLE_HIGH as T);
    }
    let r = 1.0 / x;
    let p = if T::IS_F32 {
        r.polynomial(&fits::I0_FAR_SINGLE) + (fits::I0_FAR_SINGLE_HIGH as T)
    } else {
        r.polynomial(&fits::I0_FAR_DOUBLE) + (fits::I0_FAR_DOUBLE_HIGH as T)
    };
    p / x.sqrt()
}

/// `e^-x I1(x)` of `x >= 4`.
#[scalar_fn]
fn i1_scaled<T: Float>(x: T) -> T {
    if x < 10.5 {
        let v = x - 7.0;
        if T::IS_F32 {
            return v.polynomial(&fits::I1_MIDDLE_SINGLE) + (fits::I1_MIDDLE_SINGLE_HIGH as T);
        }
        return v.polynomial(&fits::I1_MIDDLE_DOUBLE) + (fits::I1_MIDDLE_DOUBLE_HIGH as T);
    }
    let r = 1.0 / x;
    let p = if T::IS_F32 {
        r.polynomial(&fits::I1_FAR_SINGLE) + (fits::I1_FAR_SINGLE_HIGH as T)
    } else {
        r.polynomial(&fits::I1_FAR_DOUBLE) + (fits::I1_FAR_DOUBLE_HIGH as T)
    };
    p / x.sqrt()
}
