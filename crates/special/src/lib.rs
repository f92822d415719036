//! Special functions, written as scalar functions of f32 and f64.

mod airy;
mod bessel;
mod circle;
mod entropy;
mod error;
mod gamma_family;
mod integers;
mod modified;
mod pair;
mod polynomials;
mod power;
mod zeta_family;

pub use airy::airy_ai;
pub use bessel::{bessel_j0, bessel_j1, bessel_y0, bessel_y1, spherical_bessel_j0};
pub use circle::{cos_pi, sin_pi, sinc};
pub use entropy::{entr, logit, xlog1py, xlogy};
pub use error::{erf, erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri};
pub use gamma_family::{beta, digamma, gamma, lgamma, log_beta, trigamma};
pub use integers::{
    gcd_i8, gcd_i16, gcd_i32, gcd_i64, gcd_u8, gcd_u16, gcd_u32, gcd_u64, lcm_i8, lcm_i16, lcm_i32, lcm_i64, lcm_u8,
    lcm_u16, lcm_u32, lcm_u64,
};
pub use modified::{i0, i0e, i1, i1e, k0, k0e, k1, k1e, kaiser};
pub use polynomials::{
    chebyshev_polynomial_t, chebyshev_polynomial_u, chebyshev_polynomial_v, chebyshev_polynomial_w,
    hermite_polynomial_h, hermite_polynomial_he, laguerre_polynomial_l, legendre_polynomial_p,
    shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
};
pub use zeta_family::{polygamma, zeta};
