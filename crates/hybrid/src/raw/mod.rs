//! Every unsafe line of the crate stands in this folder: elements of a matrix behind an address and strides, instructions that a processor may
//! lack, and launches.

pub(crate) mod bits;
mod elements;
pub(crate) mod gpu;

pub(crate) use elements::{Elements, ElementsMut};
