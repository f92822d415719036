//! Chebyshev polynomials of `2 x - 1`, which are those of 0..1.

use super::chebyshev::chebyshev_value;
use crate::pair::{pair_times, two_sum};
use tilewright_expr::extend::{Float, scalar_fn};

/// `T_n(2 x - 1)`.
#[scalar_fn]
pub fn shifted_chebyshev_polynomial_t<T: Float>(x: T, n: T) -> T {
    shifted(0, x, n)
}

/// `U_n(2 x - 1)`.
#[scalar_fn]
pub fn shifted_chebyshev_polynomial_u<T: Float>(x: T, n: T) -> T {
    shifted(1, x, n)
}

/// `V_n(2 x - 1)`.
#[scalar_fn]
pub fn shifted_chebyshev_polynomial_v<T: Float>(x: T, n: T) -> T {
    shifted(2, x, n)
}

/// `W_n(2 x - 1)`.
#[scalar_fn]
pub fn shifted_chebyshev_polynomial_w<T: Float>(x: T, n: T) -> T {
    shifted(3, x, n)
}

/// `(2 x - 1)^2 - 1 = 4 x (x - 1)`, and nothing is lost near 0 and 1.
#[scalar_fn]
fn shifted<T: Float>(kind: i32, x: T, n: T) -> T {
    let one = 1.0;
    let (yh, yl) = two_sum(x + x, -one);
    let (ah, al) = two_sum(x, -one);
    let (dh, dl) = pair_times(ah, al, 4.0 * x);
    chebyshev_value(kind, yh, yl, dh, dl, n)
}
