//! Every unsafe line of the crate stands in this folder: elements of a matrix behind an address and strides, instructions that a processor may
//! lack, launches, and what the system is told of pages and asked for.

pub(crate) mod bits;
mod elements;
pub(crate) mod gpu;
mod pages;

pub(crate) use elements::{Elements, ElementsMut};
pub(crate) use pages::{bring_pages, in_large_pages};
