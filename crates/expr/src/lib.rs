#![doc = include_str!("../README.md")]

pub mod arith;
pub mod bind;
pub mod collective;
mod composed;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod eval;
mod fold;
mod functions;
pub mod graph;
mod half_float;
mod iterate;
pub mod lower;
mod nest;
pub mod plan;
pub mod program;
pub mod reduce;
pub mod sample;
mod typed;

pub use dtype::{DType, Element, Rect, Value};
pub use error::Error;
pub use half::{bf16, f16};
pub use reduce::Reduction;
pub use sample::Centres;
pub use typed::*;
