//! Data larger than the memory of a GPU: cut into tiles or bands, streamed through it, and what that is expected to take. Products, and any fused
//! expression.

pub mod bits;
mod brought;
mod control;
mod direct;
mod eigen;
mod engine;
mod expression;
mod face;
mod factor;
mod flow;
mod gpu;
mod hints;
mod images;
mod matmul;
mod matmul_plan;
mod matvec;
mod matvec_plan;
mod meter;
mod pipeline;
mod residual;
mod slot;
mod stages;
mod staging;
mod strips;
mod turns;
mod verify;

pub use control::{Cancel, Control, Progress};
pub use eigen::{EigenSearch, largest_eigenvalues};
pub(crate) use eigen::{elements_of_search, largest as largest_by_products};
pub use engine::Form;
pub use expression::{
    Array, Evaluation, ExpressionPlan, ExpressionTime, Operand, Operands, OtherPasses, Streams, evaluate,
};
pub use face::{Budgets, matmul, matmul_by, matvec};
pub use factor::{FactorPart, On, PanelPlan, Pass, StreamedCholesky, StreamedLu, cholesky, inverse, lu, solve};
pub use matmul::{Factor, Product, Traffic};
pub use matmul_plan::{MatmulPlan, MatmulTime, RESULTS, STAGES};
pub use matvec_plan::MatvecPlan;
pub use meter::{Meter, Pace};
pub use verify::Verify;

pub(crate) use expression::{evaluate_on_gpu, evaluate_on_host};
pub(crate) use face::multiply;
pub(crate) use factor::{Beside, Identity, beside_on_host, for_panels, lu_workspace, read_together};
pub(crate) use gpu::keeps_slots;
pub(crate) use matmul_plan::largest;
pub(crate) use matvec_plan::Panel;

#[cfg(test)]
mod failing;
#[cfg(test)]
mod heard;
#[cfg(test)]
mod hints_tests;
#[cfg(test)]
mod late;
#[cfg(test)]
mod matmul_tests;
#[cfg(test)]
mod matvec_tests;
#[cfg(test)]
mod residual_tests;
#[cfg(test)]
mod verify_tests;
