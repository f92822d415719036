//! Hermite polynomials by their recurrences, in sums of two floats with an exponent of their own, so that what is past the
//! largest float has its sign.

use super::MOST;
use crate::pair::{pair_sum, pair_times};
use tilewright_expr::extend::{Float, scalar_fn};

/// The physicist's `H_n(x)`: `H_(n+1) = 2 x H_n - 2 n H_(n-1)`. NaN for `n` above 10,000.
#[scalar_fn]
pub fn hermite_polynomial_h<T: Float>(x: T, n: T) -> T {
    hermite_value(x, 2.0, n)
}

/// The probabilist's `He_n(x)`: `He_(n+1) = x He_n - n He_(n-1)`. NaN for `n` above 10,000.
#[scalar_fn]
pub fn hermite_polynomial_he<T: Float>(x: T, n: T) -> T {
    hermite_value(x, 1.0, n)
}

/// `p_(k+1) = scale (x p_k - k p_(k-1))`.
#[scalar_fn]
fn hermite_value<T: Float>(x: T, scale: T, n: T) -> T {
    let zero = 0.0;
    let one = 1.0;
    if n <= -one {
        return zero;
    }
    if n < one {
        return one;
    }
    if !(n <= MOST as T) {
        return T::NAN;
    }
    let last = n.trunc();
    let factor = scale * x;
    // The square is past the largest float.
    let wide = x.abs() > (if T::IS_F32 { 1.85e19 } else { 1.4e154 });
    if wide {
        let half = last * 0.5;
        let infinity = if half == half.floor() { T::INFINITY } else { T::INFINITY.copysign(x) };
        return if last > one { infinity } else { factor };
    }
    // Powers of 2: 2^40 and 2^60, 2^300 and 2^500.
    let large = if T::IS_F32 { 1099511627776.0 } else { 2.037035976334486e90 };
    let up = if T::IS_F32 { 1.152921504606847e18 } else { 3.273390607896142e150 };
    let down = one / up;
    let mut shifts: i32 = 0;
    let mut before_h = one;
    let mut before_l = zero;
    let mut h = factor;
    let mut l = zero;
    let mut k = one;
    while k < last {
        let (ph, pl) = pair_times(h, l, factor);
        let (qh, ql) = pair_times(before_h, before_l, -(scale * k));
        let (rh, rl) = pair_sum(ph, pl, qh, ql);
        before_h = h;
        before_l = l;
        h = rh;
        l = rl;
        // Twice at most.
        while h.abs() > large && h.abs() <= T::MAX {
            before_h = before_h * down;
            before_l = before_l * down;
            h = h * down;
            l = l * down;
            shifts += 1;
        }
        k = k + one;
    }
    let mut value = h + l;
    // A few times, or as often as there were shifts for a value of 0.
    while shifts > 0 && value.abs() <= T::MAX {
        value = value * up;
        shifts -= 1;
    }
    value
}
