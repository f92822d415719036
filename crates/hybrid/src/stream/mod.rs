//! Data larger than the memory of a GPU: how it is cut, and what that is expected to take.

mod matmul_plan;

pub use matmul_plan::{MatmulPlan, MatmulTime, RESULTS, STAGES};
