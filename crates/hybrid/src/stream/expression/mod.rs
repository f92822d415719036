//! Fused expressions over arrays that are larger than the memory of a GPU, or than memory: computed in bands.

mod array;
mod bands;
mod bytes;
mod cut;
mod evaluation;
mod face;
mod folded;
mod gpu;
mod host;
mod job;
mod parts;
mod passes;
mod plan;
mod run;
mod section;
mod shape;
mod split;
mod steps;
mod window;

pub use array::{Array, Operand, Operands, Streams};
pub use evaluation::Evaluation;
pub use face::evaluate;
pub(crate) use face::{evaluate_on_gpu, evaluate_on_host};
pub use plan::{ExpressionPlan, ExpressionTime, OtherPasses};

#[cfg(test)]
mod tests;
