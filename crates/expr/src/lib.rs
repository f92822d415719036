#![doc = include_str!("../README.md")]

pub mod arith;
pub mod bind;
pub mod collective;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod eval;
pub mod explain;
mod fold;
pub mod graph;
pub mod lower;
mod nest;
pub mod plan;
pub mod program;
pub mod reduce;
pub mod sample;
mod special;
mod typed;

pub use dtype::{DType, Element, Rect, Value};
pub use error::Error;
pub use reduce::Reduction;
pub use sample::Centres;
pub use typed::*;
