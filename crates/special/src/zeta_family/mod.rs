//! The Hurwitz zeta function and the derivatives of digamma, which are its values at integers.

mod derivatives;
mod fits;
mod single;

pub use derivatives::polygamma;

use crate::power::power;
use single::zeta_single;
use tilewright_expr::extend::{Float, scalar_fn};

/// `zeta(s, q)`, the sum of `(q + k)^-s` from `k = 0` on.
///
/// infinity for `s = 1`, NaN for `s < 1`. For `q <= 0`: infinity at integers, else NaN where `s` is no integer. 0 at `q = infinity`.
/// The number of steps does not grow with either argument: at most ten terms, then the formula of Euler and Maclaurin; the
/// terms with negative `q + k` are a difference of two such sums.
#[scalar_fn]
pub fn zeta<T: Float>(s: T, q: T) -> T {
    let one = 1.0;
    if s.is_nan() {
        return s;
    }
    if s <= one {
        return if s < one || q.is_nan() { T::NAN } else { T::INFINITY };
    }
    if q > 0.0 {
        if T::IS_F32 {
            if s <= 16.0 && q <= 16.0 {
                return zeta_single(s as f32, q as f32) as T;
            }
        }
        return hurwitz(s, q, one);
    }
    if q == q.floor() {
        return T::INFINITY;
    }
    if s != s.floor() || s == T::INFINITY {
        return T::NAN;
    }
    hurwitz_left(s, q, one)
}

/// The sum of `(scale (q + k))^-s`, of `q > 0`, `s > 1`; the scale is a power of 2 that keeps it among the floats.
#[scalar_fn]
pub(super) fn hurwitz<T: Float>(s: T, q: T, scale: T) -> T {
    let terms: i32 = if T::IS_F32 { 3 } else { 10 };
    let enough = if T::IS_F32 { 8.0 } else { 24.0 };
    let negligible = if T::IS_F32 { 1e-8 } else { 1e-17 };
    let mut sum = 0.0;
    let mut w = q;
    if q <= s + enough {
        let mut term: T = 0.0;
        let mut k: i32 = 0;
        while k < terms {
            term = power(w * scale, -s);
            sum = sum + term;
            // In f32, looking costs more than it saves.
            if !T::IS_F32 {
                if term <= negligible * sum {
                    return sum;
                }
            }
            w = w + 1.0;
            k += 1;
        }
        if term <= negligible * sum {
            return sum;
        }
    }
    if w > 1e30 {
        return power(w * scale, 1.0 - s) / (scale * (s - 1.0));
    }
    sum + rest(s, w, scale)
}

/// Euler's and Maclaurin's value of the sum from `w` on: `w^(1 - s) (1 / (s - 1) + 1 / (2 w) + s / w^2 (A1 + ..))`.
#[scalar_fn]
fn rest<T: Float>(s: T, w: T, scale: T) -> T {
    let one = 1.0;
    let r = one / w;
    let z = r * r;
    let mut j: i32 = if T::IS_F32 { 4 } else { 11 };
    let mut t = s + ((2 * j - 1) as T);
    let mut a = (fits::BERNOULLI[j]) as T;
    while j > 0 {
        // (s + 2 j - 1) (s + 2 j)
        let rising = t * (t + one) * z;
        t = t - 2.0;
        j -= 1;
        a = a.mul_add(rising, (fits::BERNOULLI[j]) as T);
    }
    let near = (a * s).mul_add(r, 0.5) * r;
    let tail = power(w * scale, one - s) / scale;
    tail / (s - one) + tail * near
}

/// As [`hurwitz`], of a negative `q` that is no integer and an `s` that is one.
#[scalar_fn]
pub(super) fn hurwitz_left<T: Float>(s: T, q: T, scale: T) -> T {
    let one = 1.0;
    let size = -q;
    let part = size - size.floor();
    let negative = hurwitz(s, part, scale) - hurwitz(s, size + one, scale);
    let positive = hurwitz(s, one - part, scale);
    let half = s * 0.5;
    if half == half.floor() { positive + negative } else { positive - negative }
}
