//! Pointwise kernels: the problems that a model is trained on and judged by, and how their configurations are timed.
//!
//! `crates/perf/data/pointwise_training.csv` and `pointwise_held_out.csv` list the problems, and say how they were chosen: a body, which is one
//! of [`bodies`], and sizes.

pub mod bodies;
pub mod case;
mod list;
mod plan;

pub use case::{Case, Sizes};
pub use list::{Problem, held_out, training};
pub use plan::{PointwiseGroup, planned};
