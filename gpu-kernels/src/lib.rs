#![doc = include_str!("../README.md")]
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch, stdarch_nvptx))]
#![cfg_attr(all(target_arch = "nvptx64", feature = "by-hand"), feature(core_float_math))]

mod block;
pub mod body;
mod declaration;
pub mod dims;
#[cfg(not(target_arch = "nvptx64"))]
mod image;
pub mod raw;
mod registers;
mod tile;

pub use block::Block;
#[cfg(not(target_arch = "nvptx64"))]
pub use image::{Image, image_for};
pub use raw::matrix::{Matrix, MatrixMut};
pub use raw::memory::{Row, RowMut};
#[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
pub use raw::simulator::{simulate, simulated};
pub use raw::word::{Element, Vector};
pub use tile::Tile;
