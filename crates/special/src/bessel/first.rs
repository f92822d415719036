//! Bessel functions of the first kind: a polynomial near 0, one around each of three zeros, Hankel's series beyond 10.25.

use super::first_fits as fits;
use super::hankel::{hankel_first, hankel_second};
use crate::float::Float;

/// `J0(x)`, even: 1 at 0, 0 at infinities. Errors are relative to the oscillation's amplitude `sqrt(2 / (pi x))`, near the first
/// three zeros to the value itself.
pub fn bessel_j0<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(1.4) {
        return j0_near(size * size);
    }
    if size < T::of(3.95) {
        return j0_first(size);
    }
    if size < T::of(7.1) {
        return j0_second(size);
    }
    if size < T::of(10.25) {
        return j0_third(size);
    }
    let c = size.cos();
    let s = size.sin();
    hankel_first(size, c + s, s - c)
}

/// `J1(x)`, odd: 0 at 0 and at infinities. Errors as those of [`bessel_j0`].
pub fn bessel_j1<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < T::of(2.0) {
        return x * j1_near(size * size);
    }
    if size < T::of(5.4) {
        return j1_first(size) * T::of(1.0).copysign(x);
    }
    if size < T::of(8.6) {
        return j1_second(size) * T::of(1.0).copysign(x);
    }
    if size < T::of(10.25) {
        return j1_third(size) * T::of(1.0).copysign(x);
    }
    let c = size.cos();
    let s = size.sin();
    hankel_second(size, s - c, -(s + c)) * T::of(1.0).copysign(x)
}

/// `J0(sqrt(z))` for `z <= 6.25`.
pub(super) fn j0_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::J0_NEAR_SINGLE) + T::of(fits::J0_NEAR_SINGLE_HIGH);
    }
    z.polynomial(&fits::J0_NEAR_DOUBLE) + T::of(fits::J0_NEAR_DOUBLE_HIGH)
}

/// `J1(sqrt(z)) / sqrt(z)` for `z <= 4`.
pub(super) fn j1_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::J1_NEAR_SINGLE) + T::of(fits::J1_NEAR_SINGLE_HIGH);
    }
    z.polynomial(&fits::J1_NEAR_DOUBLE) + T::of(fits::J1_NEAR_DOUBLE_HIGH)
}

/// `J0` around its first zero.
fn j0_first<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::J0_ROOT1_AT_SINGLE[0])) - T::of(fits::J0_ROOT1_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::J0_ROOT1_SINGLE) + T::of(fits::J0_ROOT1_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::J0_ROOT1_AT_DOUBLE[0])) - T::of(fits::J0_ROOT1_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::J0_ROOT1_DOUBLE) + T::of(fits::J0_ROOT1_DOUBLE_HIGH))
}

/// `J0` around its second zero.
fn j0_second<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::J0_ROOT2_AT_SINGLE[0])) - T::of(fits::J0_ROOT2_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::J0_ROOT2_SINGLE) + T::of(fits::J0_ROOT2_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::J0_ROOT2_AT_DOUBLE[0])) - T::of(fits::J0_ROOT2_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::J0_ROOT2_DOUBLE) + T::of(fits::J0_ROOT2_DOUBLE_HIGH))
}

/// `J0` around its third zero.
fn j0_third<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::J0_ROOT3_AT_SINGLE[0])) - T::of(fits::J0_ROOT3_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::J0_ROOT3_SINGLE) + T::of(fits::J0_ROOT3_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::J0_ROOT3_AT_DOUBLE[0])) - T::of(fits::J0_ROOT3_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::J0_ROOT3_DOUBLE) + T::of(fits::J0_ROOT3_DOUBLE_HIGH))
}

/// `J1` around its first zero.
fn j1_first<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::J1_ROOT1_AT_SINGLE[0])) - T::of(fits::J1_ROOT1_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::J1_ROOT1_SINGLE) + T::of(fits::J1_ROOT1_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::J1_ROOT1_AT_DOUBLE[0])) - T::of(fits::J1_ROOT1_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::J1_ROOT1_DOUBLE) + T::of(fits::J1_ROOT1_DOUBLE_HIGH))
}

/// `J1` around its second zero.
fn j1_second<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::J1_ROOT2_AT_SINGLE[0])) - T::of(fits::J1_ROOT2_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::J1_ROOT2_SINGLE) + T::of(fits::J1_ROOT2_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::J1_ROOT2_AT_DOUBLE[0])) - T::of(fits::J1_ROOT2_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::J1_ROOT2_DOUBLE) + T::of(fits::J1_ROOT2_DOUBLE_HIGH))
}

/// `J1` around its third zero.
fn j1_third<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::J1_ROOT3_AT_SINGLE[0])) - T::of(fits::J1_ROOT3_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::J1_ROOT3_SINGLE) + T::of(fits::J1_ROOT3_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::J1_ROOT3_AT_DOUBLE[0])) - T::of(fits::J1_ROOT3_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::J1_ROOT3_DOUBLE) + T::of(fits::J1_ROOT3_DOUBLE_HIGH))
}
