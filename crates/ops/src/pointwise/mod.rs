//! Fused pointwise kernels and the learned model: which configuration (vector width, words of a thread, threads of a block) the kernel of a
//! call gets.
//!
//! Nothing here changes a result: [`Pointwise`] divides points among threads, and each point is computed alike by any of them. Where no model
//! knows the operation, the plan's own choice stands, as it does for kernels with reductions, stages and scatters, for launches of several
//! sections, and on the CPU.
//!
//! Sizes enter the choice by class, powers of two, and another configuration than the plan's own is taken only where a model expects it to
//! save [`WORTH`] of the time and [`WORTH_US`]: so a handle meets few kernels, whatever the sizes of its batches.

mod arithmetic;
mod choice;
mod operation;
mod problem;
mod traffic;

pub use choice::{WORTH, WORTH_US, choose_by};
pub(crate) use choice::{chosen_ahead, chosen_on, load};
pub use operation::PointwiseOperation;
pub use problem::PointwiseProblem;
pub use tilewright_expr::plan::Pointwise;
