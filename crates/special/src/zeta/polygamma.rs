//! Derivatives of digamma.

use super::{hurwitz, hurwitz_left};
use crate::float::Float;
use crate::gamma::{digamma, trigamma};

/// The derivative of order `n` of digamma, `(-1)^(n + 1) n! zeta(n + 1, x)`.
///
/// NaN where `n` is negative or no integer, or above 170 (34 in f32), where `n!` is past the largest float. At 0 and at negative
/// integers -infinity for even `n`, +infinity for odd. 0 at infinity. On the left, errors are relative to the larger of the
/// sums over positive and over negative terms.
pub fn polygamma<T: Float>(n: T, x: T) -> T {
    let most = if T::IS_F32 { T::of(34.0) } else { T::of(170.0) };
    if !(n >= T::of(0.0)) || n > most || n != n.floor() {
        return T::NAN;
    }
    if n == T::of(0.0) {
        return digamma(x);
    }
    if n == T::of(1.0) {
        return trigamma(x);
    }
    let half = n * T::of(0.5);
    let even = half == half.floor();
    let size = derivative_size(n, x);
    if even { -size } else { size }
}

/// `n! zeta(n + 1, x)`.
fn derivative_size<T: Float>(n: T, x: T) -> T {
    if x.is_nan() {
        return x;
    }
    if x.abs() == T::INFINITY {
        return if x > T::of(0.0) { T::of(0.0) } else { T::NAN };
    }
    if x <= T::of(0.0) {
        if x == x.floor() {
            return T::INFINITY;
        }
    }
    let one = T::of(1.0);
    let s = n + one;
    // Powers of x itself may be past either end where the product with n! is not.
    let mut exponent = T::of(0.0);
    if x > one {
        exponent = x.log2().floor();
    }
    if x > T::of(0.0) {
        if x < T::of(0.5) {
            exponent = x.log2().floor();
        }
    }
    let scale = (-exponent).exp2();
    let sum = if x > T::of(0.0) { hurwitz(s, x, scale) } else { hurwitz_left(s, x, scale) };
    let mut factorial = one;
    let mut k = T::of(2.0);
    while k <= n {
        factorial = factorial * k;
        k = k + one;
    }
    shifted(sum * factorial, -(exponent * s))
}

/// `2^e v`, in three steps.
fn shifted<T: Float>(v: T, e: T) -> T {
    let most = if T::IS_F32 { T::of(120.0) } else { T::of(1000.0) };
    let e = e.clamp(T::of(-3.0) * most, T::of(3.0) * most);
    let first = e.clamp(-most, most);
    let second = (e - first).clamp(-most, most);
    let third = e - first - second;
    // The last step alone may round, if the first bring the value towards 1.
    v * third.exp2() * second.exp2() * first.exp2()
}
