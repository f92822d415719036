//! The only unsafe code of the crate.

pub(crate) mod bits;
pub(crate) mod gpu;
