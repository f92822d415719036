#![doc = include_str!("../README.md")]

pub mod budget;
pub mod dispatch;
mod error;
pub mod faults;
pub mod store;
pub mod stream;

pub use error::{Class, Error};
