//! Factors and solutions of matrices that are larger than the memory of a GPU, or than memory: left-looking, panel by panel, on a GPU or on the CPU.
//!
//! The factors live in a [`Scratch`](crate::store::Scratch) of the matrix's size, in memory or in a file, column by column: its row j is column
//! j. A panel is read from the source, meets all factors to the left of it, is factored over its whole height and written once.
//!
//! `plan.rs` cuts, `schedule.rs` lists what happens, `pipeline.rs` reads and writes, `elimination.rs` has the device do it: a GPU (`gpu.rs`), the CPU
//! (`host.rs`), or in tests one that is as late as marks allow (`late.rs`). What a device takes besides, and leave to take it, is in `on.rs`.

mod cholesky;
mod elimination;
mod factors;
mod gpu;
mod host;
mod identity;
mod lu;
mod memory;
mod on;
mod operands;
mod parts;
mod pipeline;
mod plan;
mod schedule;
mod singular;
mod written;

pub use cholesky::{StreamedCholesky, cholesky};
pub(crate) use identity::Identity;
pub use lu::{StreamedLu, inverse, lu, solve};
pub use on::On;
pub(crate) use on::{beside_on_host, for_panels, lu_workspace};
pub use parts::FactorPart;
pub(crate) use plan::{Beside, read_together};
pub use plan::{PanelPlan, Pass};

#[cfg(test)]
mod late;
#[cfg(test)]
mod tests;
