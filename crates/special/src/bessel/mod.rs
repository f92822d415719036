//! Bessel functions of orders 0 and 1, and the spherical one of order 0.

mod first;
mod first_fits;
mod hankel;
mod hankel_fits;
mod second;
mod second_fits;

pub use first::{bessel_j0, bessel_j1};
pub use second::{bessel_y0, bessel_y1};

use tilewright_expr::extend::{Float, scalar_fn};

/// `sin(x) / x`: 1 at 0, 0 at infinities.
#[scalar_fn]
pub fn spherical_bessel_j0<T: Float>(x: T) -> T {
    let size = x.abs();
    if size == T::INFINITY {
        return 0.0;
    }
    if size < 1e-5 {
        return (size * (-1.0 / 6.0)).mul_add(size, 1.0);
    }
    size.sin() / size
}
