#![doc = include_str!("../README.md")]

pub mod bits;
pub mod budget;
pub mod dispatch;
mod error;
pub mod faults;
mod raw;
pub mod store;
pub mod stream;

pub use error::{Class, Error};
