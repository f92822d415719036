//! Special functions, written as scalar functions of f32 and f64.

mod airy;
mod bessel;
mod circle;
mod entropy;
mod error;
mod float;
mod gamma;
mod modified;
mod power;
mod zeta;

pub use airy::airy_ai;
pub use bessel::{bessel_j0, bessel_j1, bessel_y0, bessel_y1, spherical_bessel_j0};
pub use circle::{cos_pi, sin_pi, sinc};
pub use entropy::{entr, logit, xlog1py, xlogy};
pub use error::{erf, erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri};
pub use float::Float;
pub use gamma::{digamma, gamma, lgamma, trigamma};
pub use modified::{i0, i0e, i1, i1e, k0, k0e, k1, k1e};
pub use zeta::{polygamma, zeta};
