//! Factors and solutions of matrices that are larger than the memory of a GPU, or than memory: left-looking, panel by panel.
//!
//! The factors live in a [`Scratch`](crate::store::Scratch) of the matrix's size, in memory or in a file, column by column: its row j is column
//! j. A panel is read from the source, meets all factors to the left of it, is factored over its whole height and written once.
//!
//! `plan.rs` cuts, `schedule.rs` lists what happens, `pipeline.rs` reads and writes, `elimination.rs` has the device do it: a GPU (`gpu.rs`), or in
//! tests one that is as late as marks allow (`late.rs`).

mod cholesky;
mod elimination;
mod factors;
mod gpu;
mod grant;
mod identity;
mod lu;
mod memory;
pub mod on_host;
mod operands;
mod parts;
mod pipeline;
mod plan;
mod schedule;
mod singular;
mod written;

pub use cholesky::{StreamedCholesky, cholesky};
pub(crate) use identity::Identity;
pub(crate) use lu::lu_workspace;
pub use lu::{StreamedLu, inverse, lu, solve};
pub use parts::FactorPart;
pub(crate) use plan::read_together;
pub use plan::{PanelPlan, Pass};

#[cfg(test)]
mod late;
#[cfg(test)]
mod tests;
