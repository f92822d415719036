#![doc = include_str!("../README.md")]

pub mod arith;
pub mod bind;
pub mod colour;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod eval;
mod fold;
pub mod graph;
pub mod lower;
pub mod plan;
pub mod program;
pub mod sample;
mod special;
mod typed;

pub use dtype::{DType, Element, Rect, Value};
pub use error::Error;
pub use sample::Centres;
pub use typed::*;
