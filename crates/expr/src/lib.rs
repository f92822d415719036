#![doc = include_str!("../README.md")]

pub mod arith;
pub mod bind;
pub mod collective;
pub mod colour;
mod composed;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod eval;
pub mod explain;
mod fold;
mod functions;
pub mod graph;
mod half_float;
mod inst;
mod iterate;
pub mod join;
pub mod lower;
mod matrix;
mod nest;
pub mod plan;
pub mod program;
pub mod reads;
pub mod reduce;
pub mod sections;
mod sizes;
pub mod stage;
pub mod stencils;
mod typed;

pub use dtype::{DType, Element, Rect, Value};
pub use error::Error;
pub use half::{bf16, f16};
pub use matrix::{Affine, Perspective};
pub use reads::{Aspect, Border, Centres, Deinterlace, Edge, Filter, PlaneOrder, Sampling};
pub use reduce::Reduction;
pub use typed::*;
