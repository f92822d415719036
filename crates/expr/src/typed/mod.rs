//! The typed face: expressions whose element type and dimensions are in their Rust type.

mod expr;
mod gather;
mod literal;
mod marks;
mod operators;
mod reads;
mod reductions;
mod resize;
mod trace;
mod warp;

pub use expr::{Arg, Expr, In, IntoExpr, Per, Union3, World, constant, coordinate};
pub use gather::{AtPoint, Rest, Rest2};
pub use literal::{Float, Number, Pixel, Sampled};
pub use marks::{AffineElement, AllStored, BoxElement, Condition, NoExtra, PerspectiveElement, Reducible, SameElement};
pub use reductions::{Reduced, Summed};
pub use trace::{Out, Outputs, Trace, Traced, eager, trace};
