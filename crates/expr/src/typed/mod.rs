//! The typed face: expressions whose element type and dimensions are in their Rust type.

mod bitwise;
mod cast;
mod choice;
mod expr;
mod floats;
mod functions;
mod integers;
mod iteration;
mod literal;
mod marks;
mod numbers;
mod operators;
mod reads;
mod reductions;
mod trace;

pub use choice::Choice;
pub use expr::{Arg, Expr, In, IntoExpr, Per, Union3, World, constant, coordinate};
pub use literal::{Bitwise, Float, Integer, Number, Pixel, Sampled};
pub use marks::{AllStored, BoxElement, Condition, NoExtra, Reducible, SameElement};
pub use reductions::{Reduced, Summed};
pub use trace::{Out, Outputs, Trace, Traced, eager, trace};
