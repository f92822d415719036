//! Every unsafe line of the crate stands in this folder: elements of a matrix behind an address and strides, instructions that a processor may
//! lack, stores past its caches, rows that threads share, launches, and what the system is told of pages and asked for.

pub(crate) mod bits;
mod elements;
pub(crate) mod gpu;
mod pages;
mod past_caches;
mod shared;

pub(crate) use elements::{Elements, ElementsMut};
pub(crate) use pages::{bring_pages, in_large_pages};
pub(crate) use past_caches::{copy_line, copy_past_caches, from_now_on_past_caches};
pub(crate) use shared::SharedRows;
