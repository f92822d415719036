//! Modified Bessel functions of the second kind: with the logarithm below 1/2, beyond `e^-x / sqrt(x)` times a polynomial in
//! `(x - 2) / (x + 2)`.

use super::first::{i0_near, i1_near};
use super::fits;
use tilewright_expr::extend::{Float, scalar_fn};

/// `K0(x)`: infinity at 0, NaN below, 0 at infinity.
#[scalar_fn]
pub fn k0<T: Float>(x: T) -> T {
    if x < 0.5 {
        return k0_near(x);
    }
    (-x).exp() * k0_scaled(x)
}

/// `K1(x)`: infinity at 0, NaN below, 0 at infinity.
#[scalar_fn]
pub fn k1<T: Float>(x: T) -> T {
    if x < 0.5 {
        return k1_near(x);
    }
    (-x).exp() * k1_scaled(x)
}

/// `e^x K0(x)`: infinity at 0, NaN below, 0 at infinity.
#[scalar_fn]
pub fn k0e<T: Float>(x: T) -> T {
    if x < 0.5 {
        return x.exp() * k0_near(x);
    }
    k0_scaled(x)
}

/// `e^x K1(x)`: infinity at 0, NaN below, 0 at infinity.
#[scalar_fn]
pub fn k1e<T: Float>(x: T) -> T {
    if x < 0.5 {
        return x.exp() * k1_near(x);
    }
    k1_scaled(x)
}

/// `P(x^2) - ln(x / 2) I0(x)`.
#[scalar_fn]
fn k0_near<T: Float>(x: T) -> T {
    if x <= 0.0 {
        return if x == 0.0 { T::INFINITY } else { T::NAN };
    }
    let z = x * x;
    let p = if T::IS_F32 { z.polynomial(&fits::K0_NEAR_SINGLE) } else { z.polynomial(&fits::K0_NEAR_DOUBLE) };
    (-(0.5 * x).ln()).mul_add(i0_near(z), p)
}

/// `1 / x + ln(x / 2) I1(x) + x P(x^2)`.
#[scalar_fn]
fn k1_near<T: Float>(x: T) -> T {
    if x <= 0.0 {
        return if x == 0.0 { T::INFINITY } else { T::NAN };
    }
    let z = x * x;
    let p = if T::IS_F32 { z.polynomial(&fits::K1_NEAR_SINGLE) } else { z.polynomial(&fits::K1_NEAR_DOUBLE) };
    let q = (0.5 * x).ln().mul_add(i1_near(z), p);
    q.mul_add(x, 1.0 / x)
}

/// `e^x K0(x)` of `x >= 1/2`.
#[scalar_fn]
fn k0_scaled<T: Float>(x: T) -> T {
    let t = mapped(x);
    let p = if T::IS_F32 {
        t.polynomial(&fits::K0_FAR_SINGLE) + (fits::K0_FAR_SINGLE_HIGH as T)
    } else {
        t.polynomial(&fits::K0_FAR_DOUBLE) + (fits::K0_FAR_DOUBLE_HIGH as T)
    };
    p / x.sqrt()
}

/// `e^x K1(x)` of `x >= 1/2`.
#[scalar_fn]
fn k1_scaled<T: Float>(x: T) -> T {
    let t = mapped(x);
    let p = if T::IS_F32 {
        t.polynomial(&fits::K1_FAR_SINGLE) + (fits::K1_FAR_SINGLE_HIGH as T)
    } else {
        t.polynomial(&fits::K1_FAR_DOUBLE) + (fits::K1_FAR_DOUBLE_HIGH as T)
    };
    p / x.sqrt()
}

/// `(x - 2) / (x + 2)`, 1 at infinity.
#[scalar_fn]
fn mapped<T: Float>(x: T) -> T {
    if x > 1e30 {
        return 1.0;
    }
    (x - 2.0) / (x + 2.0)
}
