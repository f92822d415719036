#![doc = include_str!("../README.md")]
#![no_std]

mod axis;
mod compare;
mod coords;
mod cursor;
mod declare;
mod derived;
mod difference;
mod dim;
mod fold;
mod id;
pub mod lessons;
mod raw;
mod set;
mod slice;
mod subscript;
mod tensor;
mod tuple;
mod vectors;
mod view;

pub use axis::{Axis, AxisInfo, Layout};
#[doc(hidden)]
pub use axis::{Link, Reads};
pub use compare::{Meets, Shared, max, min};
pub use coords::{Coords, NothingNew, Simplify, Sum, Term};
pub use cursor::Cursor;
pub use derived::{Checkerboard, Derive, Index, Through};
pub use difference::{Absent, First, Found, LeftOver, Minus, NoDim, Present, Without};
pub use dim::{Dim, SameDim};
#[doc(hidden)]
pub use fold::floor_div;
pub use fold::{Fold, Unit};
pub use id::{Compare, Digit, Equal, Greater, Less, digit, fnv1a};
pub use raw::Slab;
pub use set::{Merge, Point, Same, Set, Union};
pub use slice::{Cut, SliceError};
pub use subscript::{Additive, NotYet, Rest};
pub use tensor::{Tensor, TensorType, TooShort};
pub use tuple::{Dims, NamedOnce, Over};
pub use vectors::Vectors;
pub use view::{View, ViewMut};
