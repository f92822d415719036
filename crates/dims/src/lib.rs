#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod coords;
mod difference;
mod dim;
mod id;
mod set;
mod tuple;

pub use coords::{Coords, NothingNew, Simplify, Sum, Term};
pub use difference::{Absent, First, Found, LeftOver, Minus, NoDim, Present, Without};
pub use dim::{Dim, SameDim};
pub use id::{Compare, Digit, Equal, Greater, Less, digit, fnv1a};
pub use set::{Merge, Same, Set, Union};
pub use tuple::{Dims, NamedOnce};
