//! Matrices that are written and read again: where factors live while they are made and used.

mod file;
mod memory;

pub use file::FileScratch;
pub use memory::MemoryScratch;

use super::{Source, Tile};
use crate::Error;

/// A matrix that is written tile by tile, in any order and by several threads, and read again. What was never written is zero. Nothing of it
/// is a result: it is gone with its owner.
pub trait Scratch: Source {
    /// Writes a tile, which lies row by row and without gaps. The same errors as [`Source::read_tile`]. Tiles that are read at the same time
    /// must not overlap it.
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error>;
}
