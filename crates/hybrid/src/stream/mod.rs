//! Data larger than the memory of a GPU: cut into tiles, streamed through it, and what that is expected to take.

mod control;
mod engine;
mod face;
mod gpu;
mod matmul;
mod matmul_plan;

pub use control::{Cancel, Control, Progress};
pub use engine::Form;
pub use face::{Budgets, matmul};
pub use matmul::{Factor, Product, Traffic};
pub use matmul_plan::{MatmulPlan, MatmulTime, RESULTS, STAGES};

#[cfg(test)]
mod late;
#[cfg(test)]
mod matmul_tests;
