#![doc = include_str!("../README.md")]

pub mod bits;
pub mod budget;
mod cores;
mod device;
pub mod dispatch;
mod error;
pub mod faults;
mod kernel;
pub mod linear;
mod matrix;
mod raw;
mod side;
pub mod store;
pub mod stream;

pub use device::{BitOperand, BitTarget, Device, Factored, Multiplicand, Operand, Pivots, Streamed, Target};
pub use error::{Class, Error};
pub use matrix::{Bytes, ColumnStride, Columns, Element, Leading, Length, MatMut, MatRef, RowStride, Rows, Shape};
/// Complex numbers of two f32 (c64) and of two f64 (c128).
pub use num_complex::{Complex32, Complex64};
pub use side::Side;
