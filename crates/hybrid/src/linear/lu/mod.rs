//! LU factorisation with partial pivoting, and what follows from it.

mod condition;
mod determinant;
mod factor;
mod inverse;
mod refine;
mod singular;
mod solve;

pub use condition::reciprocal_condition;
pub use determinant::{LogDeterminant, determinant, log_determinant};
pub use factor::Lu;
pub use inverse::inverse;
pub(crate) use refine::refined;
pub use refine::{Refinable, Refined, Refinement, solve_refined};
pub use solve::solve;

pub(crate) use determinant::log_of_product;
pub(crate) use singular::{Line, Suspicion, are_dependent, suspicion};
pub(crate) use solve::Equation;
