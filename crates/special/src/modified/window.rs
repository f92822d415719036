//! The Kaiser window.

use super::first::{i0_near, i0e};
use crate::pair::{fast_sum, pair_over, pair_times};
use tilewright_expr::extend::{Float, scalar_fn};

/// `I0(beta sqrt(1 - x^2)) / I0(beta)` for `|x| <= 1`, 0 outside.
///
/// `x` is the place in the window from -1 to 1: a window of `n` samples has `2 k / (n - 1) - 1`. From 4 on computed as the quotient of
/// scaled functions times `e^(-beta (1 - sqrt(1 - x^2)))`, whose exponent is a sum of two floats.
#[scalar_fn]
pub fn kaiser<T: Float>(x: T, beta: T) -> T {
    let one = 1.0;
    let size = x.abs();
    if size > one {
        return 0.0;
    }
    let beta = beta.abs();
    let square = x * x;
    let square_low = x.mul_add(x, -square);
    // 1 - x^2, its root, and 1 plus that
    let (under, under_low) = fast_sum(one, -square);
    let under_low = under_low - square_low;
    if beta < 4.0 {
        let end = beta * beta;
        return i0_near(end * (under + under_low)) / i0_near(end);
    }
    let root = (under + under_low).sqrt();
    let (sum, sum_low) = fast_sum(one, root);
    let root_low = if root > 0.0 { ((-root).mul_add(root, under) + under_low) / (root + root) } else { 0.0 };
    let sum_low = sum_low + root_low;
    // beta x^2 / (1 + root)
    let (high, low) = pair_over(square, square_low, sum);
    let low = low - high * (sum_low / sum);
    let (high, low) = pair_times(high, low, beta);
    let e = (-high).exp();
    (-low).mul_add(e, e) * (i0e(beta * root) / i0e(beta))
}
