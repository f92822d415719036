#![doc = include_str!("../README.md")]

pub mod arith;
pub mod bind;
mod composed;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod eval;
mod fold;
pub mod graph;
mod half_float;
pub mod lower;
pub mod plan;
pub mod program;
pub mod sample;
mod special;
mod typed;

pub use dtype::{DType, Element, Rect, Value};
pub use error::Error;
pub use half::{bf16, f16};
pub use sample::Centres;
pub use typed::*;
