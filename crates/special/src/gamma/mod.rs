//! The gamma function's family.

mod beta;
mod digamma;
mod digamma_fits;
mod factorial;
mod fits;
mod log_gamma;
mod trigamma;

pub use beta::{beta, log_beta};
pub use digamma::digamma;
pub use factorial::gamma;
pub use log_gamma::lgamma;
pub use trigamma::trigamma;
