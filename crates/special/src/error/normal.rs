//! The normal distribution.

use super::erfcx_right;
use tilewright_expr::extend::{Float, scalar_fn};

/// The probability of at most `x` standard deviations above the mean: `erfc(-x / sqrt(2)) / 2`, with all its digits on the left.
/// 0 at -infinity, 1 at infinity.
#[scalar_fn]
pub fn ndtr<T: Float>(x: T) -> T {
    let tail = ndtr_left(x.abs());
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// `ln(ndtr(x))`: -infinity at -infinity, 0 at infinity.
#[scalar_fn]
pub fn log_ndtr<T: Float>(x: T) -> T {
    if x > 0.0 {
        return (-ndtr_left(x)).ln_1p();
    }
    let half = 0.5;
    (half * erfcx_right(-x * T::FRAC_1_SQRT_2)).ln() - half * x * x
}

/// `ndtr(-x)` of `x >= 0`: `e^(-x^2 / 2) erfcx(x / sqrt(2)) / 2`.
#[scalar_fn]
fn ndtr_left<T: Float>(x: T) -> T {
    let half = 0.5 * x;
    if half > 20.0 {
        return 0.0;
    }
    let square = half * x;
    let rest = half.mul_add(x, -square);
    let e = (-square).exp() * (0.5 * erfcx_right(x * T::FRAC_1_SQRT_2));
    e - rest * e
}
