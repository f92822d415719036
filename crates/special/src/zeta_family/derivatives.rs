//! Derivatives of digamma.

use super::{hurwitz, hurwitz_left};
use crate::gamma_family::{digamma, trigamma};
use tilewright_expr::extend::{Float, scalar_fn};

/// The derivative of order `n` of digamma, `(-1)^(n + 1) n! zeta(n + 1, x)`.
///
/// NaN where `n` is negative or no integer, or above 170 (34 in f32), where `n!` is past the largest float. At 0 and at negative
/// integers -infinity for even `n`, +infinity for odd. 0 at infinity. On the left, errors are relative to the larger of the
/// sums over positive and over negative terms.
#[scalar_fn]
pub fn polygamma<T: Float>(n: T, x: T) -> T {
    let most = if T::IS_F32 { 34.0 } else { 170.0 };
    if !(n >= 0.0) || n > most || n != n.floor() {
        return T::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    if n == 1.0 {
        return trigamma(x);
    }
    let half = n * 0.5;
    let even = half == half.floor();
    let size = derivative_size(n, x);
    if even { -size } else { size }
}

/// `n! zeta(n + 1, x)`.
#[scalar_fn]
fn derivative_size<T: Float>(n: T, x: T) -> T {
    if x.is_nan() {
        return x;
    }
    if x.abs() == T::INFINITY {
        return if x > 0.0 { 0.0 } else { T::NAN };
    }
    if x <= 0.0 {
        if x == x.floor() {
            return T::INFINITY;
        }
    }
    let one = 1.0;
    let s = n + one;
    // Powers of x itself may be past either end where the product with n! is not.
    let mut exponent = 0.0;
    if x > one {
        exponent = x.log2().floor();
    }
    if x > 0.0 {
        if x < 0.5 {
            exponent = x.log2().floor();
        }
    }
    let scale = (-exponent).exp2();
    let sum = if x > 0.0 { hurwitz(s, x, scale) } else { hurwitz_left(s, x, scale) };
    let mut factorial = one;
    let mut k = 2.0;
    while k <= n {
        factorial = factorial * k;
        k = k + one;
    }
    shifted(sum * factorial, -(exponent * s))
}

/// `2^e v`, in three steps.
#[scalar_fn]
fn shifted<T: Float>(v: T, e: T) -> T {
    let most = if T::IS_F32 { 120.0 } else { 1000.0 };
    let e = e.clamp(-3.0 * most, 3.0 * most);
    let first = e.clamp(-most, most);
    let second = (e - first).clamp(-most, most);
    let third = e - first - second;
    // The last step alone may round, if the first bring the value towards 1.
    v * third.exp2() * second.exp2() * first.exp2()
}
