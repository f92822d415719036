use std::sync::{PoisonError, RwLock};

use super::{
    super::{Element, Extents, Source, Tile},
    Scratch,
};
use crate::Error;

/// A scratch in ordinary memory.
pub struct MemoryScratch {
    extents: Extents,
    element: Element,
    /// Each row by itself, so that threads do not wait for one another.
    rows: Vec<RwLock<Vec<u8>>>,
}

impl MemoryScratch {
    /// All zero. The system gives most of the memory when it is written to. [`Error::TooLarge`] for more than addresses count.
    pub fn new(extents: Extents, element: Element) -> Result<Self, Error> {
        extents.byte_count(element)?;
        let bytes = extents.columns * element.bytes();
        let rows = (0..extents.rows).map(|_| RwLock::new(vec![0; bytes])).collect();
        Ok(Self { extents, element, rows })
    }

    /// The rows of a tile, and which bytes of each.
    fn part(&self, tile: &Tile) -> (&[RwLock<Vec<u8>>], std::ops::Range<usize>) {
        let size = self.element.bytes();
        (&self.rows[tile.rows.clone()], tile.columns.start * size..tile.columns.end * size)
    }
}

impl Source for MemoryScratch {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        self.element
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents, self.element, out.len())?;
        let (rows, bytes) = self.part(tile);
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(bytes.len().max(1))) {
            out.copy_from_slice(&row.read().unwrap_or_else(PoisonError::into_inner)[bytes.clone()]);
        }
        Ok(())
    }
}

impl Scratch for MemoryScratch {
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, self.element, data.len())?;
        let (rows, bytes) = self.part(tile);
        for (row, data) in rows.iter().zip(data.chunks_exact(bytes.len().max(1))) {
            row.write().unwrap_or_else(PoisonError::into_inner)[bytes.clone()].copy_from_slice(data);
        }
        Ok(())
    }
}
