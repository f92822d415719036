use std::{
    ops::DerefMut,
    sync::{PoisonError, RwLock},
};

use super::{
    super::{Element, Extents, Source, Stored, Tile},
    Scratch,
};
use crate::Error;
use crate::raw::{bring_pages, copy_line, in_large_pages};
use bytemuck::{Pod, cast_slice_mut};
use bytes::BytesMut;

/// A scratch in ordinary memory: its own, or somebody else's.
pub struct MemoryScratch<R = BytesMut> {
    extents: Extents,
    element: Element,
    /// Each row by itself, so that threads do not wait for one another; they are parts of one allocation,
    /// which `bytes` divides among owners without unsafe code of ours.
    rows: Vec<RwLock<R>>,
}

impl MemoryScratch {
    /// All zero. The system gives most of the memory when it is written to. [`Error::TooLarge`] for more than addresses count.
    pub fn new(extents: Extents, element: Element) -> Result<Self, Error> {
        Ok(Self::of(zeroed(extents, element)?, extents, element))
    }

    /// The same, all of whose memory the system gives now: to a budget that is measured, what nobody has written to is free.
    pub(crate) fn brought(extents: Extents, element: Element) -> Result<Self, Error> {
        let mut all = zeroed(extents, element)?;
        bring_pages(&mut all);
        Ok(Self::of(all, extents, element))
    }

    fn of(mut all: BytesMut, extents: Extents, element: Element) -> Self {
        let bytes = extents.columns * element.bytes();
        let rows = (0..extents.rows).map(|_| RwLock::new(all.split_to(bytes))).collect();
        Self { extents, element, rows }
    }
}

fn zeroed(extents: Extents, element: Element) -> Result<BytesMut, Error> {
    let mut all = BytesMut::zeroed(extents.byte_count(element)?);
    in_large_pages(&mut all);
    Ok(all)
}

impl<'a> MemoryScratch<&'a mut [u8]> {
    /// Rows of so many elements, where these values lie. They count as never written if they are zero.
    pub(crate) fn over<T: Stored + Pod>(values: &'a mut [T], columns: usize) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let lines = values.chunks_exact_mut(columns.max(1)).map(|line| RwLock::new(cast_slice_mut(line)));
        Self { extents: Extents::new(rows, columns), element: T::ELEMENT, rows: lines.collect() }
    }
}

impl<R> MemoryScratch<R> {
    /// The rows of a tile, and which bytes of each.
    fn part(&self, tile: &Tile) -> (&[RwLock<R>], std::ops::Range<usize>) {
        let size = self.element.bytes();
        (&self.rows[tile.rows.clone()], tile.columns.start * size..tile.columns.end * size)
    }
}

impl<R: DerefMut<Target = [u8]> + Send + Sync> Source for MemoryScratch<R> {
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
            copy_line(&row.read().unwrap_or_else(PoisonError::into_inner)[bytes.clone()], out);
        }
        Ok(())
    }
}

impl<R: DerefMut<Target = [u8]> + Send + Sync> Scratch for MemoryScratch<R> {
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, self.element, data.len())?;
        let (rows, bytes) = self.part(tile);
        for (row, data) in rows.iter().zip(data.chunks_exact(bytes.len().max(1))) {
            row.write().unwrap_or_else(PoisonError::into_inner)[bytes.clone()].copy_from_slice(data);
        }
        Ok(())
    }
}
