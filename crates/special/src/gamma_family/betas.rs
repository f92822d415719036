//! The beta function and its logarithm.

use super::factorial::{gamma, stirling_ratio};
use super::fits;
use super::log_gamma::lgamma;
use crate::pair::two_sum;
use tilewright_expr::extend::{Float, scalar_fn};

/// `B(a, b) = gamma(a) gamma(b) / gamma(a + b)`.
///
/// infinity where either is 0. Where one is negative, the quotient of gamma functions, with their poles, as long as these are floats.
#[scalar_fn]
pub fn beta<T: Float>(a: T, b: T) -> T {
    let zero = 0.0;
    let eight = 8.0;
    let low = if a < b { a } else { b };
    let high = if a < b { b } else { a };
    if low == zero {
        return if high.is_nan() { high } else { T::INFINITY };
    }
    let (sum, lost) = two_sum(low, high);
    if !(low > zero) || high < eight {
        let value = gamma(a) * gamma(b) / gamma(sum);
        // The sum's second part counts psi(sum) times, about its logarithm; below 2 that is little.
        return if sum > 2.0 { value - value * (lost * sum.ln()) } else { value };
    }
    if high == T::INFINITY {
        return zero;
    }
    let factors = stirling_ratio(high) / stirling_ratio(sum);
    let far = low < 0.02 * high;
    let scaled = if far { exponent_rest(low, high, sum).exp() } else { quotient_power(high, sum, lost, high - 0.5) };
    if low < eight {
        // gamma(high) / gamma(sum) by Stirling's series: e^low (high / sum)^(high - 1/2) sum^-low
        let share = if far { scaled } else { scaled * low.exp() };
        let power = sum.powf(-low);
        let power = power - power * (low * (lost / sum));
        return gamma(low) * (share * factors) * power;
    }
    let share = if far { scaled * (-low).exp() } else { scaled };
    let other = quotient_power(low, sum, lost, low - 0.5);
    // sqrt(2 pi / sum)
    let root = 2.5066282746310007 / sum.sqrt();
    other * (share * (root * (factors * stirling_ratio(low))))
}

/// `low + (high - 1/2) ln(high / sum)`, whose largest parts cancel: with `z = low / sum`, `z (low + 1/2)` and
/// `(high - 1/2) (ln(1 - z) + z)`.
#[scalar_fn]
fn exponent_rest<T: Float>(low: T, high: T, sum: T) -> T {
    let half = 0.5;
    let z = low / sum;
    let p = if T::IS_F32 {
        z.polynomial(&fits::LOG_REST_SINGLE) + (fits::LOG_REST_SINGLE_HIGH as T)
    } else {
        z.polynomial(&fits::LOG_REST_DOUBLE) + (fits::LOG_REST_DOUBLE_HIGH as T)
    };
    z * (low + half) + (high - half) * z * (z * p)
}

/// `(x / (sum + lost))^y`: what the rounded quotient lacks counts `y` times.
#[scalar_fn]
fn quotient_power<T: Float>(x: T, sum: T, lost: T, y: T) -> T {
    let q = x / sum;
    let rest = ((-q).mul_add(sum, x) - q * lost) / sum;
    let power = q.powf(y);
    power.mul_add((y * (rest / q)).exp_m1(), power)
}

/// `ln |B(a, b)|`. Errors are relative to the larger of 1 and the value; past the range of [`beta`], to the largest of the three
/// logarithms of gamma.
#[scalar_fn]
pub fn log_beta<T: Float>(a: T, b: T) -> T {
    let value = beta(a, b).abs();
    if value >= T::MIN_POSITIVE {
        if value <= T::MAX {
            return value.ln();
        }
    }
    let low = if a < b { a } else { b };
    if low == 0.0 {
        return value;
    }
    let high = if a < b { b } else { a };
    if low > 0.0 {
        if high == T::INFINITY {
            return -T::INFINITY;
        }
        if high > 8.0 {
            return log_beta_far(low, high);
        }
    }
    lgamma(a) + lgamma(b) - lgamma(a + b)
}

/// Of `0 < low <= high`, `high > 8`: `low ln(low / sum) + high ln(high / sum)` and what Stirling's series adds.
#[scalar_fn]
fn log_beta_far<T: Float>(low: T, high: T) -> T {
    let half = 0.5;
    let sum = low + high;
    let share = (high - half) * (-(low / sum)).ln_1p();
    let factors = (stirling_ratio(high) / stirling_ratio(sum)).ln();
    if low < 8.0 {
        return lgamma(low) + (low + share + factors - low * sum.ln());
    }
    let other = (low - half) * (low / sum).ln();
    // ln(2 pi) / 2
    other + share + (factors + stirling_ratio(low).ln() + 0.9189385332046727 - half * sum.ln())
}
