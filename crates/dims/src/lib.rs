#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod axis;
mod compare;
mod coords;
mod difference;
mod dim;
mod fold;
mod id;
mod set;
mod tensor;
mod tuple;

#[doc(hidden)]
pub use axis::Link;
pub use axis::{Axis, AxisInfo, Layout};
pub use compare::{Meets, Shared};
pub use coords::{Coords, NothingNew, Simplify, Sum, Term};
pub use difference::{Absent, First, Found, LeftOver, Minus, NoDim, Present, Without};
pub use dim::{Dim, SameDim};
pub use fold::{Fold, Unit};
pub use id::{Compare, Digit, Equal, Greater, Less, digit, fnv1a};
pub use set::{Merge, Same, Set, Union};
pub use tensor::{Cursor, Tensor, TooShort, View, ViewMut};
pub use tuple::{Dims, NamedOnce};
