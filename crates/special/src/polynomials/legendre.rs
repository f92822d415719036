//! Legendre's and Laguerre's polynomials by their recurrences in differences, in sums of two floats.

use super::MOST;
use crate::pair::{pair_over, pair_product, pair_sum, pair_times, two_sum};
use tilewright_expr::extend::{Float, scalar_fn};

/// Legendre's `P_n(x)`: `(k + 1) (P_(k+1) - x P_k) = k (x P_k - P_(k-1))`. 1 at 1; NaN for `n` above 10,000.
#[scalar_fn]
pub fn legendre_polynomial_p<T: Float>(x: T, n: T) -> T {
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
    let mut before_h = one;
    let mut before_l = zero;
    let mut h = x;
    let mut l = zero;
    let mut k = one;
    while k < last {
        let (ph, pl) = pair_times(h, l, x);
        let (dh, dl) = pair_sum(ph, pl, -before_h, -before_l);
        let (dh, dl) = pair_times(dh, dl, k);
        let (dh, dl) = pair_over(dh, dl, k + one);
        let (rh, rl) = pair_sum(ph, pl, dh, dl);
        if !(rh.abs() <= T::MAX) {
            return unbounded(x, last);
        }
        before_h = h;
        before_l = l;
        h = rh;
        l = rl;
        k = k + one;
    }
    h + l
}

/// Laguerre's `L_n(x)`: `(k + 1) (L_(k+1) - L_k) = k (L_k - L_(k-1)) - x L_k`. 1 at 0; NaN for `n` above 10,000.
#[scalar_fn]
pub fn laguerre_polynomial_l<T: Float>(x: T, n: T) -> T {
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
    let mut step_h = -x;
    let mut step_l = zero;
    let (first_h, first_l) = two_sum(one, -x);
    let mut h = first_h;
    let mut l = first_l;
    let mut k = one;
    while k < last {
        let (ph, pl) = pair_times(step_h, step_l, k);
        let (qh, ql) = pair_product(h, l, -x, zero);
        let (dh, dl) = pair_sum(ph, pl, qh, ql);
        let (dh, dl) = pair_over(dh, dl, k + one);
        let (rh, rl) = pair_sum(h, l, dh, dl);
        if !(rh.abs() <= T::MAX) {
            // Left of 0 all terms are positive; far on the right the highest power decides.
            return if x < zero { T::INFINITY } else { unbounded(-x, last) };
        }
        step_h = dh;
        step_l = dl;
        h = rh;
        l = rl;
        k = k + one;
    }
    h + l
}

/// Past the largest float, with the sign of `x^n`.
#[scalar_fn]
fn unbounded<T: Float>(x: T, n: T) -> T {
    if x.is_nan() {
        return x;
    }
    let half = n * 0.5;
    if x > 0.0 || half == half.floor() { T::INFINITY } else { -T::INFINITY }
}
