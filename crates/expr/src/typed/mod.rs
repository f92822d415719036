//! The typed face: expressions whose element type and dimensions are in their Rust type.

mod bitwise;
mod cast;
mod choice;
mod concatenate;
mod expr;
mod floats;
mod functions;
mod gather;
mod integers;
mod iteration;
mod literal;
mod marks;
mod morphology;
mod numbers;
mod operators;
mod reads;
mod reductions;
mod resize;
mod stencils;
mod trace;
mod warp;

pub use choice::Choice;
pub use concatenate::{Concatenated, Parts, concatenate};
pub use expr::{Arg, Expr, In, IntoExpr, Per, Union3, World, constant, coordinate};
pub use gather::{AtPoint, Rest, Rest2};
pub use literal::{Bitwise, Float, Integer, Number, Pixel, Sampled};
pub use marks::{AffineElement, AllStored, BoxElement, Condition, NoExtra, PerspectiveElement, Reducible, SameElement};
pub use reductions::{Reduced, Summed};
pub use stencils::Windowed;
pub use trace::{Out, Outputs, Trace, Traced, eager, trace};
