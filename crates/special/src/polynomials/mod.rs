//! Orthogonal polynomials of degree `n`, an integer in a float: its fraction is cut off, below 0 the value is 0, as in PyTorch.

mod chebyshev;
mod hermite;
mod legendre;
mod shifted;

pub use chebyshev::{chebyshev_polynomial_t, chebyshev_polynomial_u, chebyshev_polynomial_v, chebyshev_polynomial_w};
pub use hermite::{hermite_polynomial_h, hermite_polynomial_he};
pub use legendre::{laguerre_polynomial_l, legendre_polynomial_p};
pub use shifted::{
    shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
};

/// Steps of a recurrence, and so the largest degree of those that have no other way.
const MOST: f64 = 10_000.0;
