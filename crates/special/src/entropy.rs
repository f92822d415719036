//! Products with logarithms.

use tilewright_expr::extend::{Float, scalar_fn};

/// `-x ln(x)`: 0 at 0, -infinity below and at infinity.
#[scalar_fn]
pub fn entr<T: Float>(x: T) -> T {
    if x < 0.0 {
        return -T::INFINITY;
    }
    if x == 0.0 {
        return 0.0;
    }
    -x * x.ln()
}

/// `x ln(y)`, 0 where `x` is 0 and `y` is a number.
#[scalar_fn]
pub fn xlogy<T: Float>(x: T, y: T) -> T {
    if x == 0.0 {
        return if y.is_nan() { y } else { 0.0 };
    }
    x * y.ln()
}

/// `x ln(1 + y)`, 0 where `x` is 0 and `y` is a number.
#[scalar_fn]
pub fn xlog1py<T: Float>(x: T, y: T) -> T {
    if x == 0.0 {
        return if y.is_nan() { y } else { 0.0 };
    }
    x * y.ln_1p()
}

/// `ln(p / (1 - p))`: infinities at 0 and 1, NaN beyond, all digits near 1/2.
#[scalar_fn]
pub fn logit<T: Float>(p: T) -> T {
    let one = 1.0;
    let rest = one - p;
    if p > 0.25 {
        if p < 0.75 {
            // p / (1 - p) = 1 + (2 p - 1) / (1 - p)
            // The difference is exact.
            return (2.0 * (p - 0.5) / rest).ln_1p();
        }
    }
    (p / rest).ln()
}
