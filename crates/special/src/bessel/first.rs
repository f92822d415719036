//! Bessel functions of the first kind: a polynomial near 0, one around each of three zeros, Hankel's series beyond 10.25.

use super::first_fits as fits;
use super::hankel::{hankel_first, hankel_second};
use tilewright_expr::extend::{Float, scalar_fn};

/// `J0(x)`, even: 1 at 0, 0 at infinities. Errors are relative to the oscillation's amplitude `sqrt(2 / (pi x))`, near the first
/// three zeros to the value itself.
#[scalar_fn]
pub fn bessel_j0<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < 1.4 {
        return j0_near(size * size);
    }
    if size < 3.95 {
        return j0_first(size);
    }
    if size < 7.1 {
        return j0_second(size);
    }
    if size < 10.25 {
        return j0_third(size);
    }
    let c = size.cos();
    let s = size.sin();
    hankel_first(size, c + s, s - c)
}

/// `J1(x)`, odd: 0 at 0 and at infinities. Errors as those of [`bessel_j0`].
#[scalar_fn]
pub fn bessel_j1<T: Float>(x: T) -> T {
    let size = x.abs();
    if size < 2.0 {
        return x * j1_near(size * size);
    }
    if size < 5.4 {
        return j1_first(size) * 1.0.copysign(x);
    }
    if size < 8.6 {
        return j1_second(size) * 1.0.copysign(x);
    }
    if size < 10.25 {
        return j1_third(size) * 1.0.copysign(x);
    }
    let c = size.cos();
    let s = size.sin();
    hankel_second(size, s - c, -(s + c)) * 1.0.copysign(x)
}

/// `J0(sqrt(z))` for `z <= 6.25`.
#[scalar_fn]
pub(super) fn j0_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::J0_NEAR_SINGLE) + (fits::J0_NEAR_SINGLE_HIGH as T);
    }
    z.polynomial(&fits::J0_NEAR_DOUBLE) + (fits::J0_NEAR_DOUBLE_HIGH as T)
}

/// `J1(sqrt(z)) / sqrt(z)` for `z <= 4`.
#[scalar_fn]
pub(super) fn j1_near<T: Float>(z: T) -> T {
    if T::IS_F32 {
        return z.polynomial(&fits::J1_NEAR_SINGLE) + (fits::J1_NEAR_SINGLE_HIGH as T);
    }
    z.polynomial(&fits::J1_NEAR_DOUBLE) + (fits::J1_NEAR_DOUBLE_HIGH as T)
}

/// `J0` around its first zero.
#[scalar_fn]
fn j0_first<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::J0_ROOT1_AT_SINGLE[0] as T)) - (fits::J0_ROOT1_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::J0_ROOT1_SINGLE) + (fits::J0_ROOT1_SINGLE_HIGH as T));
    }
    let u = (x - (fits::J0_ROOT1_AT_DOUBLE[0] as T)) - (fits::J0_ROOT1_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::J0_ROOT1_DOUBLE) + (fits::J0_ROOT1_DOUBLE_HIGH as T))
}

/// `J0` around its second zero.
#[scalar_fn]
fn j0_second<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::J0_ROOT2_AT_SINGLE[0] as T)) - (fits::J0_ROOT2_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::J0_ROOT2_SINGLE) + (fits::J0_ROOT2_SINGLE_HIGH as T));
    }
    let u = (x - (fits::J0_ROOT2_AT_DOUBLE[0] as T)) - (fits::J0_ROOT2_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::J0_ROOT2_DOUBLE) + (fits::J0_ROOT2_DOUBLE_HIGH as T))
}

/// `J0` around its third zero.
#[scalar_fn]
fn j0_third<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::J0_ROOT3_AT_SINGLE[0] as T)) - (fits::J0_ROOT3_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::J0_ROOT3_SINGLE) + (fits::J0_ROOT3_SINGLE_HIGH as T));
    }
    let u = (x - (fits::J0_ROOT3_AT_DOUBLE[0] as T)) - (fits::J0_ROOT3_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::J0_ROOT3_DOUBLE) + (fits::J0_ROOT3_DOUBLE_HIGH as T))
}

/// `J1` around its first zero.
#[scalar_fn]
fn j1_first<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::J1_ROOT1_AT_SINGLE[0] as T)) - (fits::J1_ROOT1_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::J1_ROOT1_SINGLE) + (fits::J1_ROOT1_SINGLE_HIGH as T));
    }
    let u = (x - (fits::J1_ROOT1_AT_DOUBLE[0] as T)) - (fits::J1_ROOT1_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::J1_ROOT1_DOUBLE) + (fits::J1_ROOT1_DOUBLE_HIGH as T))
}

/// `J1` around its second zero.
#[scalar_fn]
fn j1_second<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::J1_ROOT2_AT_SINGLE[0] as T)) - (fits::J1_ROOT2_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::J1_ROOT2_SINGLE) + (fits::J1_ROOT2_SINGLE_HIGH as T));
    }
    let u = (x - (fits::J1_ROOT2_AT_DOUBLE[0] as T)) - (fits::J1_ROOT2_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::J1_ROOT2_DOUBLE) + (fits::J1_ROOT2_DOUBLE_HIGH as T))
}

/// `J1` around its third zero.
#[scalar_fn]
fn j1_third<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::J1_ROOT3_AT_SINGLE[0] as T)) - (fits::J1_ROOT3_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::J1_ROOT3_SINGLE) + (fits::J1_ROOT3_SINGLE_HIGH as T));
    }
    let u = (x - (fits::J1_ROOT3_AT_DOUBLE[0] as T)) - (fits::J1_ROOT3_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::J1_ROOT3_DOUBLE) + (fits::J1_ROOT3_DOUBLE_HIGH as T))
}
