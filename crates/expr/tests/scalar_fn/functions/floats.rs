//! Floats: operators, methods, constants and casts.

use tilewright_expr::extend::{Float, scalar_fn};

#[scalar_fn]
pub(crate) fn arithmetic<T: Float>(x: T, y: T) -> (T, T, T, T) {
    // Rounded twice, and once.
    (x * y + 0.1, x.mul_add(y, 0.1), (x - y) / (x + 1e-3), x % y)
}

#[scalar_fn]
pub(crate) fn rounded<T: Float>(x: T) -> (T, T, T, T) {
    (x.floor() + x.ceil(), x.trunc() - x.round(), x.round_ties_even(), x.fract())
}

#[scalar_fn]
pub(crate) fn chosen<T: Float>(x: T, y: T) -> (T, T, T, T) {
    (x.min(y), x.max(y), x.clamp(-1.5, T::PI), (-x).copysign(y))
}

#[scalar_fn]
pub(crate) fn asked<T: Float>(x: T, y: T) -> (bool, bool, bool, bool) {
    (x.is_nan() | y.is_infinite(), x.is_finite(), x.is_sign_negative() != y.is_sign_positive(), !(x < y) && x >= -y)
}

#[scalar_fn]
pub(crate) fn made<T: Float>(x: T, y: T) -> (T, T, T, T) {
    let limits = if y > 0.0 { T::MAX * T::EPSILON } else { T::MIN + T::MIN_POSITIVE };
    let ends = if x.abs() > 1.0 {
        T::INFINITY
    } else if x == 0.0 {
        T::NEG_INFINITY
    } else {
        x
    };
    (x.recip() + limits, ends, x.to_degrees().to_radians(), x.abs().sqrt() * T::LN_2 + T::FRAC_1_SQRT_2 - T::TAU / T::E)
}

#[scalar_fn]
pub(crate) fn cast<T: Float>(x: T, n: i64, m: u8) -> (T, f64, f32, i32) {
    let precise = if T::IS_F32 { 3 } else { 4 };
    (n as T + m as T, x as f64 * 2.0, x as f32 + 0.5, x as i32 + precise)
}

#[scalar_fn]
pub(crate) fn sums<T: Float>(x: T, n: i32) -> (T, T) {
    const TERMS: [f64; 4] = [1.0, -0.5, 1.0 / 3.0, -0.25];
    const STEPS: [i32; 3] = [7, -2, 1 << 20];
    (x.polynomial(&TERMS) + x.polynomial(&[0.1, 0.2, -0.3]), STEPS[n] as T * TERMS[(n & 3) as usize] as T)
}
