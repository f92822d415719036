//! The typed face: expressions whose element type and dimensions are in their Rust type.

mod expr;
mod functions;
mod literal;
mod marks;
mod operators;
mod reads;
mod reductions;
mod trace;

pub use expr::{Arg, Expr, In, IntoExpr, Per, Union3, World, constant, coordinate};
pub use literal::{Float, Number, Pixel, Sampled};
pub use marks::{AllStored, BoxElement, Condition, NoExtra, Reducible, SameElement};
pub use reductions::{Reduced, Summed};
pub use trace::{Out, Outputs, Trace, Traced, eager, trace};
