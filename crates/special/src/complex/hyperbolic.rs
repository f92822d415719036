//! The exponential and the functions of circle and hyperbola.

use tilewright_expr::extend::{Float, scalar_fn};

/// `e^x (cos(y) + i sin(y))`.
#[scalar_fn]
pub fn complex_exp<T: Float>(x: T, y: T) -> (T, T) {
    if y == 0.0 {
        return (x.exp(), y);
    }
    if y.abs() == T::INFINITY || y.is_nan() {
        if x == -T::INFINITY {
            return (0.0, 0.0);
        }
        return (if x == T::INFINITY { x } else { T::NAN }, T::NAN);
    }
    let c = y.cos();
    let s = y.sin();
    if x > (if T::IS_F32 { 88.0 } else { 709.0 }) {
        // Past the largest float alone, not yet times the cosine.
        let root = (0.5 * x).exp();
        return (root * c * root, root * s * root);
    }
    let e = x.exp();
    (e * c, e * s)
}

/// `sinh(x) cos(y) + i cosh(x) sin(y)`.
#[scalar_fn]
pub fn complex_sinh<T: Float>(x: T, y: T) -> (T, T) {
    if y == 0.0 {
        return (x.sinh(), y);
    }
    if y.abs() == T::INFINITY || y.is_nan() {
        return (if x == 0.0 || x.abs() == T::INFINITY { x } else { T::NAN }, T::NAN);
    }
    let c = y.cos();
    let s = y.sin();
    if x.abs() > (if T::IS_F32 { 88.0 } else { 709.0 }) {
        let root = (0.5 * x.abs()).exp();
        let half = 0.5 * root;
        let sign = if x > 0.0 { 1.0 } else { -1.0 };
        return (sign * (half * c * root), half * s * root);
    }
    (x.sinh() * c, x.cosh() * s)
}

/// `cosh(x) cos(y) + i sinh(x) sin(y)`.
#[scalar_fn]
pub fn complex_cosh<T: Float>(x: T, y: T) -> (T, T) {
    if y == 0.0 {
        return (x.cosh(), if x.is_sign_negative() && !x.is_nan() { -y } else { y });
    }
    if y.abs() == T::INFINITY || y.is_nan() {
        if x == 0.0 {
            return (T::NAN, 0.0);
        }
        return (if x.abs() == T::INFINITY { x.abs() } else { T::NAN }, T::NAN);
    }
    let c = y.cos();
    let s = y.sin();
    if x.abs() > (if T::IS_F32 { 88.0 } else { 709.0 }) {
        let root = (0.5 * x.abs()).exp();
        let half = 0.5 * root;
        let sign = if x > 0.0 { 1.0 } else { -1.0 };
        return (half * c * root, sign * (half * s * root));
    }
    (x.cosh() * c, x.sinh() * s)
}

/// After Kahan: with `t = tan(y)`, `s = sinh(x)` and `d = 1 + (1 + t^2) s^2`,
/// `(1 + t^2) s cosh(x) / d + i t / d`. 1 and -1 at real infinities.
#[scalar_fn]
pub fn complex_tanh<T: Float>(x: T, y: T) -> (T, T) {
    let size = x.abs();
    let one = 1.0;
    if x.is_nan() {
        return (x, if y == 0.0 { y } else { x });
    }
    let bounded = y.abs() < T::INFINITY;
    if size > (if T::IS_F32 { 11.0 } else { 22.0 }) {
        let turn: T = if bounded { y.sin() * y.cos() } else { 0.0 };
        let e = (-size).exp();
        return (one.copysign(x), 4.0 * turn * e * e);
    }
    if !bounded {
        return (if x == 0.0 { x } else { T::NAN }, T::NAN);
    }
    let t = y.tan();
    let s = x.sinh();
    let beta = t.mul_add(t, one);
    let d = (beta * s).mul_add(s, one);
    (beta * s * x.cosh() / d, t / d)
}

/// `sin(x) cosh(y) + i cos(x) sinh(y)`.
#[scalar_fn]
pub fn complex_sin<T: Float>(x: T, y: T) -> (T, T) {
    let (a, b) = complex_sinh(y, x);
    (b, a)
}

/// `cos(x) cosh(y) - i sin(x) sinh(y)`.
#[scalar_fn]
pub fn complex_cos<T: Float>(x: T, y: T) -> (T, T) {
    let (a, b) = complex_cosh(-y, x);
    (a, b)
}

/// As [`complex_tanh`], a quarter turned.
#[scalar_fn]
pub fn complex_tan<T: Float>(x: T, y: T) -> (T, T) {
    let (a, b) = complex_tanh(y, x);
    (b, a)
}
