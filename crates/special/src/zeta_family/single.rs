//! Hurwitz's zeta function in f32 for small arguments: the general sum with powers of one base, computed side by side.

use super::{fits, hurwitz};
use crate::power::{exponent_single, power_of_two, reciprocal_single};
use tilewright_expr::extend::scalar_fn;

/// The sum of `(q + k)^-s` of `0 < q <= 16`, `1 < s <= 16`: three terms and Euler's and Maclaurin's value of the others.
#[scalar_fn]
pub(super) fn zeta_single(s: f32, q: f32) -> f32 {
    let (first, first_low) = exponent_single(q, 0.0, s);
    let (second, second_low) = exponent_single(q, 1.0, s);
    let (third, third_low) = exponent_single(q, 2.0, s);
    let (last, last_low) = exponent_single(q, 3.0, s);
    // Powers that are no normal floats, and a `q` that is none.
    if !(first < 126.0 && last > -125.0) {
        return hurwitz(s, q, 1.0);
    }
    let sum = power_of_two(first, first_low) + power_of_two(second, second_low) + power_of_two(third, third_low);
    power_of_two(last, last_low).mul_add(rest_single(s, q + 3.0), sum)
}

/// `w^s` times the sum from `w` on.
#[scalar_fn]
fn rest_single(s: f32, w: f32) -> f32 {
    let r = reciprocal_single(w);
    let t = s * r;
    let mut a = fits::BERNOULLI[4] as f32;
    let mut j: i32 = 4;
    while j > 0 {
        let odd = (2 * j - 1) as f32;
        // (s + 2 j - 1) (s + 2 j) / w^2
        let rising = r.mul_add(odd, t) * r.mul_add(odd + 1.0, t);
        j -= 1;
        a = a.mul_add(rising, fits::BERNOULLI[j] as f32);
    }
    w.mul_add(reciprocal_single(s - 1.0), a.mul_add(t, 0.5))
}
