//! The typed face: expressions whose element type and dimensions are in their Rust type.

mod bitwise;
mod cast;
mod choice;
mod concatenate;
pub mod eager;
mod expr;
mod floats;
mod functions;
mod gather;
mod histogram;
mod integers;
mod iteration;
mod literal;
mod marks;
mod morphology;
mod numbers;
mod operators;
mod promote;
mod reads;
mod reductions;
mod resize;
mod scans;
mod scatter;
mod stencils;
mod trace;
mod warp;

pub use choice::Choice;
pub use concatenate::{Concatenated, Parts, concatenate};
pub(crate) use expr::grown;
pub use expr::{Arg, Expr, In, IntoExpr, Per, Union3, World, constant, coordinate};
pub use gather::{AtPoint, Rest, Rest2};
pub use literal::{Bitwise, Float, Integer, Number, Pixel, Sampled};
pub use marks::{
    AffineElement, AllStored, BoxElement, Condition, Fresh, NoExtra, PerspectiveElement, Reducible, SameElement,
    Scannable, Scatterable,
};
pub use promote::{Adopt, AsReal, Beside, Common, Promote, Promoted, Quotient, Stands, standing};
pub use reductions::{Reduced, Summed};
pub use scatter::{Meet, Scattered, ScatteredPoints, ScatteredTo, meet};
pub use stencils::Windowed;
pub use trace::{Out, Outputs, Trace, Traced, trace};
pub(crate) use trace::{Traceable, name};
