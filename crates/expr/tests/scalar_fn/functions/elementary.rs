//! Elementary functions.

use tilewright_expr::extend::{Float, scalar_fn};

#[scalar_fn]
pub(crate) fn powers<T: Float>(x: T, y: T) -> (T, T, T, T) {
    (x.exp() + x.exp2(), x.exp10() - x.exp_m1(), x.powf(y), x.cbrt() * x.hypot(y))
}

#[scalar_fn]
pub(crate) fn logarithms<T: Float>(x: T) -> (T, T, T, T) {
    (x.ln(), x.log2(), x.log10(), x.ln_1p())
}

#[scalar_fn]
pub(crate) fn circle<T: Float>(x: T, y: T) -> (T, T, T, T) {
    (x.sin() + x.cos(), x.tan(), x.asin() + x.acos() * x.atan(), y.atan2(x))
}

#[scalar_fn]
pub(crate) fn hyperbola<T: Float>(x: T) -> (T, T, T, T) {
    (x.sinh() - x.cosh(), x.tanh() + x.atanh(), x.asinh(), x.acosh())
}

#[scalar_fn]
pub(crate) fn statistics<T: Float>(x: T) -> (T, T, T, T) {
    (x.sigmoid(), x.softplus(), x.erf(), x.erfc())
}
