//! Modified Bessel functions of orders 0 and 1.

mod first;
mod fits;
mod second;
mod window;

pub use first::{i0, i0e, i1, i1e};
pub use second::{k0, k0e, k1, k1e};
pub use window::kaiser;
