//! Functions of complex numbers, given and returned as real and imaginary part.
//!
//! Signs of zero decide on which side of a cut a number is; zeros and infinities are those of C's annex G where a function says so.

mod hyperbolic;
mod inverse;
mod logarithm;

pub use hyperbolic::{complex_cos, complex_cosh, complex_exp, complex_sin, complex_sinh, complex_tan, complex_tanh};
pub use inverse::{complex_acos, complex_acosh, complex_asin, complex_asinh, complex_atan, complex_atanh};
pub use logarithm::{complex_abs, complex_angle, complex_ln, complex_sqrt};
