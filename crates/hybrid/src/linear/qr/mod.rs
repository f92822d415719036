//! QR factorisation by Householder's reflections, and least squares.

mod factor;
mod reflections;
mod solve;

pub use factor::Qr;
pub use solve::least_squares;
