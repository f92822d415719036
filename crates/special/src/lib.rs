//! Special functions, written as scalar functions of f32 and f64.

mod circle;
mod entropy;
mod error;
mod float;
mod gamma;

pub use circle::{cos_pi, sin_pi, sinc};
pub use entropy::{entr, logit, xlog1py, xlogy};
pub use error::{erf, erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri};
pub use float::Float;
pub use gamma::{digamma, gamma, lgamma, trigamma};
