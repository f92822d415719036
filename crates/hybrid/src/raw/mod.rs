//! The only unsafe code of the crate.

pub(crate) mod bits;
