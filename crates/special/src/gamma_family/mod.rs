//! The gamma function's family.

mod betas;
mod factorial;
mod fits;
mod log_gamma;
mod psi;
mod psi_fits;
mod psi_slope;

pub use betas::{beta, log_beta};
pub use factorial::gamma;
pub use log_gamma::lgamma;
pub use psi::digamma;
pub use psi_slope::trigamma;
