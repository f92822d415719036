//! Bit matrices: one bit an element, packed, and their products.
//!
//! A [`BitMatrix`] holds 64 elements a word. [`Product`] multiplies two: as counts, as paths (AND-OR), as parities (XOR, GF(2)) or as
//! distances (Hamming). [`closure`] has transitive closure and reduction, [`causal`] chains. [`gpu`] has the same on a device.
//!
//! ```
//! use tilewright_hybrid::bits::{BitMatrix, Product};
//!
//! let step = BitMatrix::from_fn(4, 4, |row, column| column == row + 1)?; // 0 -> 1 -> 2 -> 3
//! let two_steps = Product::of(&step, &step)?.paths()?;
//! assert_eq!(two_steps, BitMatrix::from_fn(4, 4, |row, column| column == row + 2)?);
//! assert_eq!(Product::of(&step, &step)?.counts()?[[0, 2]], 1);
//! # Ok::<(), tilewright_hybrid::Error>(())
//! ```

pub mod causal;
pub mod closure;
mod count;
mod elementwise;
pub mod gpu;
mod matrix;
mod npy;
mod pack;
mod picture;
mod product;
mod random;
pub(crate) mod squares;
mod transpose;
mod verify;

pub use matrix::BitMatrix;
#[cfg(test)]
pub(crate) use npy::write;
pub use npy::{read_npy, write_npy};
pub(crate) use product::{Join, as_array, join_into};
pub use product::{Path, Product};
pub(crate) use verify::check_counts;
