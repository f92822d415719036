//! Inverses of the functions of circle and hyperbola: sine and cosine after Hull, Fairgrieve and Tang (ACM TOMS 23, 1997, the
//! method), tangents by logarithm and angle.

use super::logarithm::ln_modulus;
use tilewright_expr::extend::{Float, scalar_fn};

/// The inverse sine, cut along the real axis beyond -1 and 1.
#[scalar_fn]
pub fn complex_asin<T: Float>(x: T, y: T) -> (T, T) {
    if x.is_nan() || y.is_nan() {
        let height = if y.abs() == T::INFINITY { y } else { T::NAN };
        let height = if x.abs() == T::INFINITY { T::INFINITY } else { height };
        return (if x == 0.0 { x } else { T::NAN }, height);
    }
    let (angle, rest, height) = first_quadrant(x.abs(), y.abs());
    let value = angle.atan2(rest);
    (value.copysign(x), height.copysign(y))
}

/// The inverse cosine, cut along the real axis beyond -1 and 1.
#[scalar_fn]
pub fn complex_acos<T: Float>(x: T, y: T) -> (T, T) {
    if x.is_nan() || y.is_nan() {
        let height = if y.abs() == T::INFINITY { -y } else { T::NAN };
        let height = if x.abs() == T::INFINITY { -T::INFINITY } else { height };
        return (if x == 0.0 { 0.5 * T::PI } else { T::NAN }, height);
    }
    let (angle, rest, height) = first_quadrant(x.abs(), y.abs());
    // The angle's complement; on the left the angle itself is turned.
    let sided = angle.copysign(x);
    (rest.atan2(sided), height.copysign(-y))
}

/// The inverse hyperbolic sine, cut along the imaginary axis beyond -i and i.
#[scalar_fn]
pub fn complex_asinh<T: Float>(x: T, y: T) -> (T, T) {
    let (a, b) = complex_asin(y, x);
    (b, a)
}

/// The inverse hyperbolic cosine with a real part that is not negative, cut along the real axis below 1.
#[scalar_fn]
pub fn complex_acosh<T: Float>(x: T, y: T) -> (T, T) {
    let (a, b) = complex_acos(x, y);
    (b.abs(), if y.is_nan() { a } else { a.copysign(y) })
}

/// For `x, y >= 0`: sides of a right angle whose angle is the real part of `asin(x + i y)`, and its imaginary part.
///
/// With the distances `r` and `s` from -1 and 1 and their mean `a`: `x` over `sqrt(a^2 - x^2)`, and `ln(a + sqrt(a^2 - 1))`,
/// the differences made of parts that do not cancel.
#[scalar_fn]
fn first_quadrant<T: Float>(x: T, y: T) -> (T, T, T) {
    let one = 1.0;
    let far = if T::IS_F32 { 1e8 } else { 1e17 };
    if x > far || y > far {
        // Both at infinity: an eighth of a turn.
        let both = x == T::INFINITY && y == T::INFINITY;
        let p = if both { one } else { x };
        let q = if both { one } else { y };
        return (p, q, ln_modulus(x, y) + T::LN_2);
    }
    let r = (x + one).hypot(y);
    let s = (x - one).hypot(y);
    let a = 0.5 * (r + s);
    // a - 1 and a - x, with y^2 / (r + x + 1) for r - (x + 1), and so on
    let outer = y * (y / (r + (x + one)));
    let inside = x < one;
    let inner_sum: T = if inside { s + (one - x) } else { s + (x - one) };
    let inner: T = if inner_sum == 0.0 { 0.0 } else { y * (y / inner_sum) };
    let above_one = 0.5 * (outer + (if inside { inner } else { inner_sum }));
    let above_x = 0.5 * (outer + (if inside { inner_sum } else { inner }));
    // y alone is beyond its square.
    let lost = y > 0.0 && above_one < T::MIN_POSITIVE && inside;
    if lost {
        let root = ((one - x) * (one + x)).sqrt();
        return (x, root, y / root);
    }
    // Beyond 1, y is taken out of the root: its square may be nothing.
    let rest: T = if x > one {
        y * (0.5 * (a + x) * (1.0 / (r + (x + one)) + 1.0 / inner_sum)).sqrt()
    } else {
        (above_x * (a + x)).sqrt()
    };
    let height: T =
        if a < 1.5 { (above_one + (above_one * (a + one)).sqrt()).ln_1p() } else { (a + (a * a - one).sqrt()).ln() };
    (x, rest, height)
}

/// The inverse hyperbolic tangent, cut along the real axis beyond -1 and 1:
/// `ln(((1 + x)^2 + y^2) / ((1 - x)^2 + y^2)) / 4` and half the angle of `(1 - x)(1 + x) - y^2 + 2 i y`.
#[scalar_fn]
pub fn complex_atanh<T: Float>(x: T, y: T) -> (T, T) {
    let one = 1.0;
    if x.is_nan() || y.is_nan() {
        if y.abs() == T::INFINITY {
            return (0.0, (0.5 * T::PI).copysign(y));
        }
        let none = 0.0;
        return (if x.abs() == T::INFINITY || x == 0.0 { none.copysign(x) } else { T::NAN }, T::NAN);
    }
    let size = x.abs();
    let height = y.abs();
    let far = if T::IS_F32 { 1e8 } else { 1e17 };
    if size > far || height > far {
        let large = if size > height { size } else { height };
        let p: T = if large == T::INFINITY { 0.0 } else { x / large };
        let q: T = if large == T::INFINITY { 0.0 } else { y / large };
        let sum: T = if large == T::INFINITY { one } else { p * p + q * q };
        return ((p / sum / large).abs().copysign(x), (0.5 * T::PI).copysign(y));
    }
    let gap = one - size;
    let square = gap * gap + height * height;
    let tiny = if T::IS_F32 { 1e-30 } else { 1e-290 };
    let real: T =
        if square < tiny { 0.5 * (T::LN_2 - ln_modulus(gap, height)) } else { 0.25 * (4.0 * size / square).ln_1p() };
    let product = gap * (one + size);
    let imaginary = 0.5 * (height + height).atan2((-height).mul_add(height, product));
    (real.copysign(x), imaginary.copysign(y))
}

/// The inverse tangent, cut along the imaginary axis beyond -i and i.
#[scalar_fn]
pub fn complex_atan<T: Float>(x: T, y: T) -> (T, T) {
    let (a, b) = complex_atanh(-y, x);
    (b, -a)
}
