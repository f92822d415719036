//! Modified Bessel functions of the second kind: with the logarithm below 1/2, beyond `e^-x / sqrt(x)` times a polynomial in
//! `(x - 2) / (x + 2)`.

use super::first::{i0_near, i1_near};
use super::fits;
use crate::float::Float;

/// `K0(x)`: infinity at 0, NaN below, 0 at infinity.
pub fn k0<T: Float>(x: T) -> T {
    if x < T::of(0.5) {
        return k0_near(x);
    }
    (-x).exp() * k0_scaled(x)
}

/// `K1(x)`: infinity at 0, NaN below, 0 at infinity.
pub fn k1<T: Float>(x: T) -> T {
    if x < T::of(0.5) {
        return k1_near(x);
    }
    (-x).exp() * k1_scaled(x)
}

/// `e^x K0(x)`: infinity at 0, NaN below, 0 at infinity.
pub fn k0e<T: Float>(x: T) -> T {
    if x < T::of(0.5) {
        return x.exp() * k0_near(x);
    }
    k0_scaled(x)
}

/// `e^x K1(x)`: infinity at 0, NaN below, 0 at infinity.
pub fn k1e<T: Float>(x: T) -> T {
    if x < T::of(0.5) {
        return x.exp() * k1_near(x);
    }
    k1_scaled(x)
}

/// `P(x^2) - ln(x / 2) I0(x)`.
fn k0_near<T: Float>(x: T) -> T {
    if x <= T::of(0.0) {
        return if x == T::of(0.0) { T::INFINITY } else { T::NAN };
    }
    let z = x * x;
    let p = if T::IS_F32 { z.polynomial(&fits::K0_NEAR_SINGLE) } else { z.polynomial(&fits::K0_NEAR_DOUBLE) };
    (-(T::of(0.5) * x).ln()).mul_add(i0_near(z), p)
}

/// `1 / x + ln(x / 2) I1(x) + x P(x^2)`.
fn k1_near<T: Float>(x: T) -> T {
    if x <= T::of(0.0) {
        return if x == T::of(0.0) { T::INFINITY } else { T::NAN };
    }
    let z = x * x;
    let p = if T::IS_F32 { z.polynomial(&fits::K1_NEAR_SINGLE) } else { z.polynomial(&fits::K1_NEAR_DOUBLE) };
    let q = (T::of(0.5) * x).ln().mul_add(i1_near(z), p);
    q.mul_add(x, T::of(1.0) / x)
}

/// `e^x K0(x)` of `x >= 1/2`.
fn k0_scaled<T: Float>(x: T) -> T {
    let t = mapped(x);
    let p = if T::IS_F32 {
        t.polynomial(&fits::K0_FAR_SINGLE) + T::of(fits::K0_FAR_SINGLE_HIGH)
    } else {
        t.polynomial(&fits::K0_FAR_DOUBLE) + T::of(fits::K0_FAR_DOUBLE_HIGH)
    };
    p / x.sqrt()
}

/// `e^x K1(x)` of `x >= 1/2`.
fn k1_scaled<T: Float>(x: T) -> T {
    let t = mapped(x);
    let p = if T::IS_F32 {
        t.polynomial(&fits::K1_FAR_SINGLE) + T::of(fits::K1_FAR_SINGLE_HIGH)
    } else {
        t.polynomial(&fits::K1_FAR_DOUBLE) + T::of(fits::K1_FAR_DOUBLE_HIGH)
    };
    p / x.sqrt()
}

/// `(x - 2) / (x + 2)`, 1 at infinity.
fn mapped<T: Float>(x: T) -> T {
    if x > T::of(1e30) {
        return T::of(1.0);
    }
    (x - T::of(2.0)) / (x + T::of(2.0))
}
