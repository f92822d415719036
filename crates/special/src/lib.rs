//! Special functions of f32 and f64, as scalar functions: each is a Rust function, and a part of expressions, with the same bits on
//! the CPU and in kernels.
//!
//! | family | functions |
//! |---|---|
//! | gamma | [`gamma`](gamma()), [`lgamma`], [`digamma`], [`trigamma`], [`polygamma`], [`beta`], [`log_beta`], [`zeta`] |
//! | error | [`erf`], [`erfc`], [`erfcx`], [`erfinv`], [`ndtr`], [`log_ndtr`], [`ndtri`] |
//! | logarithms | [`entr`], [`xlogy`], [`xlog1py`], [`logit`] |
//! | circle | [`sin_pi`], [`cos_pi`], [`sinc`] |
//! | Bessel | [`bessel_j0`] and its kin, [`spherical_bessel_j0`], [`i0`] to [`k1e`], [`kaiser`], [`airy_ai`] |
//! | polynomials | [`chebyshev_polynomial_t`] to [`shifted_chebyshev_polynomial_w`], [`hermite_polynomial_h`], [`legendre_polynomial_p`], [`laguerre_polynomial_l`] |
//! | integers | [`gcd_i64`], [`lcm_i64`] and those of the other types |
//! | complex | [`complex_exp`] and its kin, of real and imaginary part |
//!
//! ```
//! use tilewright_dims::dims;
//! use tilewright_expr::{In, trace};
//! use tilewright_special as special;
//! dims! { X }
//!
//! // On the CPU, of one number.
//! assert!((special::digamma(1.0f64) + 0.577_215_664_901_532_9).abs() < 1e-16);
//!
//! // In an expression, at every point.
//! let t = trace(|x: In<f32, (X,)>| (special::lgamma::of(x + 1.0) * 2.0).store::<(X,)>());
//! # t.graph.check().unwrap();
//! ```
//!
//! Of f16, bf16, integers and `bool` they compute in f32: `digamma::of(x.wide()).to::<f16>()`.
//!
//! Errors are at most 8 ulp in f64 and 4 in f32 on the points of the tests, and mostly below 2; docs/notes/special.md has the table, and says
//! what errors of oscillating functions are relative to. No number of steps grows with an argument.

mod airy;
mod bessel;
mod circle;
mod complex;
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
pub use complex::{
    complex_abs, complex_acos, complex_acosh, complex_angle, complex_asin, complex_asinh, complex_atan, complex_atanh,
    complex_cos, complex_cosh, complex_exp, complex_ln, complex_sin, complex_sinh, complex_sqrt, complex_tan,
    complex_tanh,
};
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
