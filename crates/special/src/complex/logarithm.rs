//! Modulus, angle, logarithm and root.

use crate::pair::two_sum;
use tilewright_expr::extend::{Float, scalar_fn};

/// `|x + i y|`, infinity where either part is.
#[scalar_fn]
pub fn complex_abs<T: Float>(x: T, y: T) -> T {
    x.hypot(y)
}

/// The angle of `x + i y`, from -pi to pi.
#[scalar_fn]
pub fn complex_angle<T: Float>(x: T, y: T) -> T {
    y.atan2(x)
}

/// `ln(x + i y)`, cut along the negative axis. Near the circle of radius 1, the real part keeps its digits.
#[scalar_fn]
pub fn complex_ln<T: Float>(x: T, y: T) -> (T, T) {
    (ln_modulus(x, y), y.atan2(x))
}

/// `ln |x + i y|`.
#[scalar_fn]
pub(super) fn ln_modulus<T: Float>(x: T, y: T) -> T {
    let first = x.abs();
    let second = y.abs();
    let large = if first > second { first } else { second };
    let small = if first > second { second } else { first };
    if large > 0.5 && large < 1.5 {
        // x^2 + y^2 - 1, exact but for the smallest parts
        let p = large * large;
        let p_low = large.mul_add(large, -p);
        let q = small * small;
        let q_low = small.mul_add(small, -q);
        let (a, a_low) = two_sum(p, -1.0);
        let (b, b_low) = two_sum(a, q);
        let rest = a_low + b_low + (p_low + q_low);
        let (h, l) = two_sum(b, rest);
        if h > -0.75 {
            return 0.5 * (h.ln_1p() + l / (1.0 + h));
        }
    }
    // Powers of 2 that keep the modulus within the floats: 2^-2, and 2^30 or 2^60.
    if large > 0.25 * T::MAX {
        return (large * 0.25).hypot(small * 0.25).ln() + 2.0 * T::LN_2;
    }
    if large < (if T::IS_F32 { 1e-30 } else { 1e-290 }) {
        let up = if T::IS_F32 { 1073741824.0 } else { 1152921504606846976.0 };
        let bits = if T::IS_F32 { 30.0 } else { 60.0 };
        return (large * up).hypot(small * up).ln() - bits * T::LN_2;
    }
    large.hypot(small).ln()
}

/// The root with a real part that is not negative; its imaginary part has the sign of `y`.
#[scalar_fn]
pub fn complex_sqrt<T: Float>(x: T, y: T) -> (T, T) {
    let size = x.abs();
    let other = y.abs();
    if other == T::INFINITY {
        return (other, y);
    }
    if size == T::INFINITY {
        // 0 times y keeps its sign, and is NaN if y is.
        let none = 0.0 * y;
        if x > 0.0 {
            return (x, none);
        }
        return (none.abs(), if y.is_nan() { size } else { size.copysign(y) });
    }
    if size == 0.0 && other == 0.0 {
        return (0.0, y);
    }
    let large = size > 0.125 * T::MAX || other > 0.125 * T::MAX;
    let tiny = if T::IS_F32 { 1e-30 } else { 1e-290 };
    let small = size < tiny && other < tiny;
    // Even powers of 2, so that the root is scaled by one too: 2^-4 and 2^100.
    let scale = if large { 0.0625 } else { 1.0 };
    let scale = if small { 1.2676506002282294e30 } else { scale };
    let back = if large { 4.0 } else { 1.0 };
    let back = if small { 8.881784197001252e-16 } else { back };
    let a = size * scale;
    let b = other * scale;
    let root = (0.5 * (a + a.hypot(b))).sqrt();
    let t = root * back;
    let s = 0.5 * (b / root) * back;
    if x >= 0.0 {
        return (t, s.copysign(y));
    }
    (s, t.copysign(y))
}
