//! The Airy function of the first kind.

mod fits;

use tilewright_expr::extend::{Float, scalar_fn};

/// `Ai(x)`: 0 at infinities. On the left, errors are relative to the amplitude `1 / (sqrt(pi) |x|^(1/4))`.
///
/// A polynomial from -1.2 to 1, one around each of the first two zeros; beyond, the series in `zeta = 2/3 |x|^(3/2)`, which
/// is a sum of two floats.
#[scalar_fn]
pub fn airy_ai<T: Float>(x: T) -> T {
    if x.abs() == T::INFINITY {
        return 0.0;
    }
    if x > 1.0 {
        return right(x);
    }
    if x > -1.2 {
        if T::IS_F32 {
            return x.polynomial(&fits::NEAR_SINGLE) + (fits::NEAR_SINGLE_HIGH as T);
        }
        return x.polynomial(&fits::NEAR_DOUBLE) + (fits::NEAR_DOUBLE_HIGH as T);
    }
    if x > -3.2 {
        return first_zero(x);
    }
    if x > -4.8 {
        return second_zero(x);
    }
    left(-x)
}

/// Around the first zero.
#[scalar_fn]
fn first_zero<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::ROOT1_AT_SINGLE[0] as T)) - (fits::ROOT1_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::ROOT1_SINGLE) + (fits::ROOT1_SINGLE_HIGH as T));
    }
    let u = (x - (fits::ROOT1_AT_DOUBLE[0] as T)) - (fits::ROOT1_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::ROOT1_DOUBLE) + (fits::ROOT1_DOUBLE_HIGH as T))
}

/// Around the second zero.
#[scalar_fn]
fn second_zero<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - (fits::ROOT2_AT_SINGLE[0] as T)) - (fits::ROOT2_AT_SINGLE[1] as T);
        return u * (u.polynomial(&fits::ROOT2_SINGLE) + (fits::ROOT2_SINGLE_HIGH as T));
    }
    let u = (x - (fits::ROOT2_AT_DOUBLE[0] as T)) - (fits::ROOT2_AT_DOUBLE[1] as T);
    u * (u.polynomial(&fits::ROOT2_DOUBLE) + (fits::ROOT2_DOUBLE_HIGH as T))
}

/// What `2/3 x sqrt(x)` lacks when it is rounded to `zeta`, with `root` the rounded root and `power` the rounded `x root`.
#[scalar_fn]
fn lacking<T: Float>(x: T, root: T, power: T, zeta: T) -> T {
    let third = 0.6666666666666666;
    // 2/3 less the nearest float.
    let low = if T::IS_F32 { -1.986821492305628e-8 } else { 3.700743415417188e-17 };
    let root_low = (-root).mul_add(root, x) / (root + root);
    let power_low = x.mul_add(root_low, x.mul_add(root, -power));
    power.mul_add(low, power.mul_add(third, -zeta)) + third * power_low
}

/// `e^-zeta P / (2 sqrt(pi) x^(1/4))`, of `x >= 1`.
#[scalar_fn]
fn right<T: Float>(x: T) -> T {
    if x > 115.0 {
        return 0.0;
    }
    let root = x.sqrt();
    let power = x * root;
    let zeta = power * 0.6666666666666666;
    let t = (zeta - 2.0) / (zeta + 2.0);
    let p = if T::IS_F32 {
        t.polynomial(&fits::RIGHT_SINGLE) + (fits::RIGHT_SINGLE_HIGH as T)
    } else {
        t.polynomial(&fits::RIGHT_DOUBLE) + (fits::RIGHT_DOUBLE_HIGH as T)
    };
    // 1 / (2 sqrt(pi))
    let scale = 0.28209479177387814 * p / root.sqrt();
    let low = lacking(x, root, power, zeta);
    let e = (-zeta).exp();
    (-low).mul_add(e, e) * scale
}

/// `(P sin(zeta + pi / 4) - Q cos(zeta + pi / 4)) / (sqrt(pi) x^(1/4))` is `Ai(-x)`, of `x >= 4.8`.
#[scalar_fn]
fn left<T: Float>(x: T) -> T {
    let root = x.sqrt();
    let power = x * root;
    let zeta = power * 0.6666666666666666;
    let low = lacking(x, root, power, zeta);
    let sine = zeta.sin();
    let cosine = zeta.cos();
    let low_sine = low.sin();
    let low_cosine = low.cos();
    let s = sine.mul_add(low_cosine, cosine * low_sine);
    let c = cosine.mul_add(low_cosine, -(sine * low_sine));
    let r = 1.0 / zeta;
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::P_SINGLE) } else { z.polynomial(&fits::P_DOUBLE) };
    let q = if T::IS_F32 { z.polynomial(&fits::Q_SINGLE) } else { z.polynomial(&fits::Q_DOUBLE) };
    let sum = s + c;
    // 1 / sqrt(2 pi)
    let scale = 0.3989422804014327 / root.sqrt();
    scale * (sum + (p * sum - q * r * (c - s)))
}
