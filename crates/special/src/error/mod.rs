//! The error function's family.

mod fits;
mod inverse;
mod normal;

pub use inverse::{erfinv, ndtri};
pub use normal::{log_ndtr, ndtr};

use tilewright_expr::extend::{Float, scalar_fn};

/// `erf(x) = 2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.
#[scalar_fn]
pub fn erf<T: Float>(x: T) -> T {
    x.erf()
}

/// `1 - erf(x)`, with all its digits on the right; 2 at -infinity, 0 at infinity.
#[scalar_fn]
pub fn erfc<T: Float>(x: T) -> T {
    x.erfc()
}

/// `e^(x^2) erfc(x)`: infinity at -infinity (and from -26.63 on in f64, from -9.38 in f32), 0 at infinity.
#[scalar_fn]
pub fn erfcx<T: Float>(x: T) -> T {
    if x >= 0.0 {
        return erfcx_right(x);
    }
    if x < -27.0 {
        return T::INFINITY;
    }
    // The square has a second part that the exponential would lose.
    let square = x * x;
    let rest = x.mul_add(x, -square);
    let e = square.exp() * 2.0;
    if e == T::INFINITY {
        return e;
    }
    rest.mul_add(e, e) - erfcx_right(-x)
}

/// Of `x >= 0`, after Shepherd and Laframboise, Math. Comp. 36, 1981: `(1 + 2 x) erfcx(x)` is a polynomial in
/// `(x - k) / (x + k)`, and 2 / sqrt(pi) at infinity.
#[scalar_fn]
pub(crate) fn erfcx_right<T: Float>(x: T) -> T {
    let k = if T::IS_F32 { 2.0 } else { 3.0 };
    let one = 1.0;
    let under = x.mul_add(2.0, one);
    if x > 1e15 {
        // 1 / (x sqrt(pi)); the quotient would be infinity over infinity at the end.
        return 0.5641895835477563 / x;
    }
    let t = (x - k) / (x + k);
    let p = if T::IS_F32 {
        t.polynomial(&fits::ERFCX_SINGLE) + (fits::ERFCX_SINGLE_HIGH as T)
    } else {
        t.polynomial(&fits::ERFCX_DOUBLE) + (fits::ERFCX_DOUBLE_HIGH as T)
    };
    p / under
}
