//! What tests and benchmarks share that is for neither alone: what typed dimensions cost.

pub mod cost;
