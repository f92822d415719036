//! The Airy function of the first kind.

mod fits;

use crate::float::Float;

/// `Ai(x)`: 0 at infinities. On the left, errors are relative to the amplitude `1 / (sqrt(pi) |x|^(1/4))`.
///
/// A polynomial from -1.2 to 1, one around each of the first two zeros; beyond, the series in `zeta = 2/3 |x|^(3/2)`, which
/// is a sum of two floats.
pub fn airy_ai<T: Float>(x: T) -> T {
    if x.abs() == T::INFINITY {
        return T::of(0.0);
    }
    if x > T::of(1.0) {
        return right(x);
    }
    if x > T::of(-1.2) {
        if T::IS_F32 {
            return x.polynomial(&fits::NEAR_SINGLE) + T::of(fits::NEAR_SINGLE_HIGH);
        }
        return x.polynomial(&fits::NEAR_DOUBLE) + T::of(fits::NEAR_DOUBLE_HIGH);
    }
    if x > T::of(-3.2) {
        return first_zero(x);
    }
    if x > T::of(-4.8) {
        return second_zero(x);
    }
    left(-x)
}

/// Around the first zero.
fn first_zero<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::ROOT1_AT_SINGLE[0])) - T::of(fits::ROOT1_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::ROOT1_SINGLE) + T::of(fits::ROOT1_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::ROOT1_AT_DOUBLE[0])) - T::of(fits::ROOT1_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::ROOT1_DOUBLE) + T::of(fits::ROOT1_DOUBLE_HIGH))
}

/// Around the second zero.
fn second_zero<T: Float>(x: T) -> T {
    if T::IS_F32 {
        let u = (x - T::of(fits::ROOT2_AT_SINGLE[0])) - T::of(fits::ROOT2_AT_SINGLE[1]);
        return u * (u.polynomial(&fits::ROOT2_SINGLE) + T::of(fits::ROOT2_SINGLE_HIGH));
    }
    let u = (x - T::of(fits::ROOT2_AT_DOUBLE[0])) - T::of(fits::ROOT2_AT_DOUBLE[1]);
    u * (u.polynomial(&fits::ROOT2_DOUBLE) + T::of(fits::ROOT2_DOUBLE_HIGH))
}

/// What `2/3 x sqrt(x)` lacks when it is rounded to `zeta`, with `root` the rounded root and `power` the rounded `x root`.
fn lacking<T: Float>(x: T, root: T, power: T, zeta: T) -> T {
    let third = T::of(0.6666666666666666);
    // 2/3 less the nearest float.
    let low = if T::IS_F32 { T::of(-1.986821492305628e-8) } else { T::of(3.700743415417188e-17) };
    let root_low = (-root).mul_add(root, x) / (root + root);
    let power_low = x.mul_add(root_low, x.mul_add(root, -power));
    power.mul_add(low, power.mul_add(third, -zeta)) + third * power_low
}

/// `e^-zeta P / (2 sqrt(pi) x^(1/4))`, of `x >= 1`.
fn right<T: Float>(x: T) -> T {
    if x > T::of(115.0) {
        return T::of(0.0);
    }
    let root = x.sqrt();
    let power = x * root;
    let zeta = power * T::of(0.6666666666666666);
    let t = (zeta - T::of(2.0)) / (zeta + T::of(2.0));
    let p = if T::IS_F32 {
        t.polynomial(&fits::RIGHT_SINGLE) + T::of(fits::RIGHT_SINGLE_HIGH)
    } else {
        t.polynomial(&fits::RIGHT_DOUBLE) + T::of(fits::RIGHT_DOUBLE_HIGH)
    };
    // 1 / (2 sqrt(pi))
    let scale = T::of(0.28209479177387814) * p / root.sqrt();
    let low = lacking(x, root, power, zeta);
    let e = (-zeta).exp();
    (-low).mul_add(e, e) * scale
}

/// `(P sin(zeta + pi / 4) - Q cos(zeta + pi / 4)) / (sqrt(pi) x^(1/4))` is `Ai(-x)`, of `x >= 4.8`.
fn left<T: Float>(x: T) -> T {
    let root = x.sqrt();
    let power = x * root;
    let zeta = power * T::of(0.6666666666666666);
    let low = lacking(x, root, power, zeta);
    let sine = zeta.sin();
    let cosine = zeta.cos();
    let low_sine = low.sin();
    let low_cosine = low.cos();
    let s = sine.mul_add(low_cosine, cosine * low_sine);
    let c = cosine.mul_add(low_cosine, -(sine * low_sine));
    let r = T::of(1.0) / zeta;
    let z = r * r;
    let p = if T::IS_F32 { z.polynomial(&fits::P_SINGLE) } else { z.polynomial(&fits::P_DOUBLE) };
    let q = if T::IS_F32 { z.polynomial(&fits::Q_SINGLE) } else { z.polynomial(&fits::Q_DOUBLE) };
    let sum = s + c;
    // 1 / sqrt(2 pi)
    let scale = T::of(0.3989422804014327) / root.sqrt();
    scale * (sum + (p * sum - q * r * (c - s)))
}
