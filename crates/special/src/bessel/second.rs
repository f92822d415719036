//! Bessel functions of the second kind: with the logarithm near 0, a polynomial around each of three zeros, Hankel's series
//! beyond 10.25.

use super::first::{j0_near, j1_near};
use super::hankel::{hankel_first, hankel_second};
use super::second_fits as fits;
use tilewright_expr::extend::{Float, scalar_fn};

/// `Y0(x)`: -infinity at 0, NaN below, 0 at infinity. Errors are relative to the amplitude `sqrt(2 / (pi x))`.
#[scalar_fn]
pub fn bessel_y0<T: Float>(x: T) -> T {
    if x < 2.5 {
        if x > 0.6 && x < 1.3 {
            return y0_first(x);
        }
        return y0_near(x);
    }
    if x < 5.5 {
        return y0_second(x);
    }
    if x < 8.65 {
        return y0_third(x);
    }
    if x < 10.25 {
        return y0_fourth(x);
    }
    let c = x.cos();
    let s = x.sin();
    hankel_first(x, s - c, -(s + c))
}

/// `Y1(x)`: -infinity at 0, NaN below, 0 at infinity. Errors as those of [`bessel_y0`].
#[scalar_fn]
pub fn bessel_y1<T: Float>(x: T) -> T {
    if x < 1.5 {
        return y1_near(x);
    }
    if x < 3.7 {
        return y1_first(x);
    }
    if x < 7.0 {
        return y1_second(x);
    }
    if x < 10.25 {
        return y1_third(x);
    }
    let c = x.cos();
    let s = x.sin();
    hankel_second(x, -(s + c), c - s)
}

/// `2 / pi ln(x) J0(x) + P(x^2)`.
#[scalar_fn]
fn y0_near<T: Float>(x: T) -> T {
    if x <= 0.0 {
        return if x == 0.0 { -T::INFINITY } else { T::NAN };
    }
    let z = x * x;
    let p = if T::IS_F32 { z.polynomial(&fits::Y0_NEAR_SINGLE) } else { z.polynomial(&fits::Y0_NEAR_DOUBLE) };
    (T::FRAC_2_PI * x.ln()).mul_add(j0_near(z), p)
}

/// `2 / pi (ln(x) J1(x) - 1 / x) + x P(x^2)`.
#[scalar_fn]
fn y1_near<T: Float>(x: T) -> T {
    if x <= 0.0 {
        return if x == 0.0 { -T::INFINITY } else { T::NAN };
    }
    let z = x * x;
    let p = if T::IS_F32 { z.polynomial(&fits::Y1_NEAR_SINGLE) } else { z.polynomial(&fits::Y1_NEAR_DOUBLE) };
    let q = (T::FRAC_2_PI * x.ln()).mul_add(j1_near(z), p);
    q.mul_add(x, -(T::FRAC_2_PI / x))
}

/// `Y0` around its first zero.
#[scalar_fn]
fn y0_first<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y0_ROOT0_AT_SINGLE[0] as T)) - (fits::Y0_ROOT0_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y0_ROOT0_SINGLE) + (fits::Y0_ROOT0_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y0_ROOT0_AT_DOUBLE[0] as T)) - (fits::Y0_ROOT0_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y0_ROOT0_DOUBLE) + (fits::Y0_ROOT0_DOUBLE_HIGH as T))
}

/// `Y0` around its second zero.
#[scalar_fn]
fn y0_second<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y0_ROOT1_AT_SINGLE[0] as T)) - (fits::Y0_ROOT1_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y0_ROOT1_SINGLE) + (fits::Y0_ROOT1_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y0_ROOT1_AT_DOUBLE[0] as T)) - (fits::Y0_ROOT1_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y0_ROOT1_DOUBLE) + (fits::Y0_ROOT1_DOUBLE_HIGH as T))
}

/// `Y0` around its third zero.
#[scalar_fn]
fn y0_third<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y0_ROOT2_AT_SINGLE[0] as T)) - (fits::Y0_ROOT2_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y0_ROOT2_SINGLE) + (fits::Y0_ROOT2_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y0_ROOT2_AT_DOUBLE[0] as T)) - (fits::Y0_ROOT2_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y0_ROOT2_DOUBLE) + (fits::Y0_ROOT2_DOUBLE_HIGH as T))
}

/// `Y0` around its fourth zero.
#[scalar_fn]
fn y0_fourth<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y0_ROOT3_AT_SINGLE[0] as T)) - (fits::Y0_ROOT3_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y0_ROOT3_SINGLE) + (fits::Y0_ROOT3_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y0_ROOT3_AT_DOUBLE[0] as T)) - (fits::Y0_ROOT3_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y0_ROOT3_DOUBLE) + (fits::Y0_ROOT3_DOUBLE_HIGH as T))
}

/// `Y1` around its first zero.
#[scalar_fn]
fn y1_first<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y1_ROOT1_AT_SINGLE[0] as T)) - (fits::Y1_ROOT1_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y1_ROOT1_SINGLE) + (fits::Y1_ROOT1_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y1_ROOT1_AT_DOUBLE[0] as T)) - (fits::Y1_ROOT1_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y1_ROOT1_DOUBLE) + (fits::Y1_ROOT1_DOUBLE_HIGH as T))
}

/// `Y1` around its second zero.
#[scalar_fn]
fn y1_second<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y1_ROOT2_AT_SINGLE[0] as T)) - (fits::Y1_ROOT2_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y1_ROOT2_SINGLE) + (fits::Y1_ROOT2_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y1_ROOT2_AT_DOUBLE[0] as T)) - (fits::Y1_ROOT2_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y1_ROOT2_DOUBLE) + (fits::Y1_ROOT2_DOUBLE_HIGH as T))
}

/// `Y1` around its third zero.
#[scalar_fn]
fn y1_third<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::Y1_ROOT3_AT_SINGLE[0] as T)) - (fits::Y1_ROOT3_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::Y1_ROOT3_SINGLE) + (fits::Y1_ROOT3_SINGLE_HIGH as T));
    }
    let u = (x - (fits::Y1_ROOT3_AT_DOUBLE[0] as T)) - (fits::Y1_ROOT3_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::Y1_ROOT3_DOUBLE) + (fits::Y1_ROOT3_DOUBLE_HIGH as T))
}
