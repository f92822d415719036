//! Matrices in page-locked memory, which a GPU reads and writes itself.

use bytemuck::Pod;
use tilewright_driver::{PinnedBuffer, PinnedBytes, PinnedBytesMut, PinnedRows};

use super::{Element, Extents, MemorySource, Sink, Source, Stored, Tile, Written, coverage::Coverage};
use crate::Error;
use crate::raw::{SharedRows, copy_line};

/// A matrix row by row, without gaps, in page-locked memory.
#[derive(Clone, Copy, Debug)]
pub struct Locked<'a> {
    /// The memory, which begins with the matrix.
    pub bytes: PinnedBytes<'a>,
    /// Its columns.
    pub columns: usize,
    /// Its elements.
    pub element: Element,
}

impl<'a> Locked<'a> {
    /// Its elements, row by row, of the first rows, where they are of this type: what the CPU reads where it is.
    pub(crate) fn elements<T: Stored + Pod>(&self, rows: usize) -> Option<&'a [T]> {
        let values = bytemuck::try_cast_slice(self.bytes.as_slice()).ok().filter(|_| self.element == T::ELEMENT);
        values?.get(..rows * self.columns)
    }

    /// Where a tile lies.
    pub fn rows(&self, tile: &Tile) -> PinnedRows {
        rows(tile, self.columns, self.element)
    }
}

/// Has a copy queued to rows of page-locked memory.
pub type QueueCopy<'a> = &'a mut dyn FnMut(&mut PinnedBytesMut<'_>, &PinnedRows) -> Result<(), Error>;

/// A sink in page-locked memory.
pub trait LockedSink: Sync {
    /// Has a copy queued to where a tile lies. It counts as written when [`landed`](Self::landed) says so.
    fn land(&self, tile: &Tile, copy: QueueCopy<'_>) -> Result<(), Error>;

    /// The copy to a tile is done.
    fn landed(&self, tile: &Tile);
}

/// A matrix in page-locked memory to read, row by row. Streams copy from there to a GPU at the link's rate, without a thread of the host.
#[derive(Debug)]
pub struct PinnedSource<'a, T: Pod> {
    buffer: &'a PinnedBuffer<T>,
    extents: Extents,
}

impl<'a, T: Stored + Pod> PinnedSource<'a, T> {
    /// [`Error::Shape`] if the memory has not `rows * columns` elements.
    pub fn new(buffer: &'a PinnedBuffer<T>, extents: Extents) -> Result<Self, Error> {
        check::<T>("read", buffer.len(), extents)?;
        Ok(PinnedSource { buffer, extents })
    }
}

impl<T: Stored + Pod> Source for PinnedSource<'_, T> {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        T::ELEMENT
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        MemorySource::from_slice(self.buffer, self.extents)?.read_tile(tile, out)
    }

    fn locked(&self) -> Option<Locked<'_>> {
        Some(Locked { bytes: self.buffer.pinned_bytes(), columns: self.extents.columns, element: T::ELEMENT })
    }
}

/// A matrix in page-locked memory to write, row by row: what [`PinnedSource`] is to read. What it is before the commit is unspecified.
pub struct PinnedSink<'a, T: Pod> {
    rows: SharedRows<'a, T>,
    extents: Extents,
    coverage: Coverage,
}

impl<'a, T: Stored + Pod> PinnedSink<'a, T> {
    /// [`Error::Shape`] if the memory has not `rows * columns` elements.
    pub fn new(buffer: &'a mut PinnedBuffer<T>, extents: Extents) -> Result<Self, Error> {
        check::<T>("write", buffer.len(), extents)?;
        Ok(PinnedSink { rows: SharedRows::new(buffer, extents.rows), extents, coverage: Coverage::default() })
    }

    /// Calls for the bytes of each row of a tile.
    fn for_each_line(&self, tile: &Tile, mut call: impl FnMut(&mut [u8])) {
        let size = T::ELEMENT.bytes();
        let columns = tile.columns.start * size..tile.columns.end * size;
        self.rows.for_each(tile.rows.clone(), |row| call(&mut row[columns.clone()]));
    }
}

impl<T: Stored + Pod> Sink for PinnedSink<'_, T> {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        T::ELEMENT
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, T::ELEMENT, data.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        let mut lines = data.chunks_exact(tile.columns.len() * T::ELEMENT.bytes());
        self.for_each_line(tile, |line| lines.next().into_iter().for_each(|from| copy_line(from, line)));
        self.coverage.add(tile);
        Ok(())
    }

    fn locked(&self) -> Option<&dyn LockedSink> {
        Some(self)
    }

    fn written(&self) -> Option<&dyn Written> {
        Some(self)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        match self.coverage.hole(self.extents) {
            None => Ok(()),
            Some((row, column)) => Err(Error::Incomplete { what: "the page-locked matrix".into(), row, column }),
        }
    }
}

impl<T: Stored + Pod> LockedSink for PinnedSink<'_, T> {
    fn land(&self, tile: &Tile, copy: QueueCopy<'_>) -> Result<(), Error> {
        tile.check("write", self.extents, T::ELEMENT, tile.extents().byte_count(T::ELEMENT)?)?;
        copy(&mut self.rows.all().pinned_bytes_mut(), &rows(tile, self.extents.columns, T::ELEMENT))
    }

    fn landed(&self, tile: &Tile) {
        self.coverage.add(tile);
    }
}

impl<T: Stored + Pod> Written for PinnedSink<'_, T> {
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents, T::ELEMENT, out.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        let mut lines = out.chunks_exact_mut(tile.columns.len() * T::ELEMENT.bytes());
        self.for_each_line(tile, |line| lines.next().into_iter().for_each(|to| to.copy_from_slice(line)));
        Ok(())
    }
}

fn check<T: Stored>(operation: &'static str, got: usize, extents: Extents) -> Result<(), Error> {
    let expected = extents.byte_count(T::ELEMENT)? / T::ELEMENT.bytes();
    let what = "elements of the page-locked memory";
    if got == expected { Ok(()) } else { Err(Error::Shape { operation, what, expected, got }) }
}

/// A tile of a matrix of so many columns.
fn rows(tile: &Tile, columns: usize, element: Element) -> PinnedRows {
    let (size, pitch) = (element.bytes(), columns * element.bytes());
    let begin = tile.rows.start * pitch + tile.columns.start * size;
    PinnedRows { begin, width: tile.columns.len() * size, pitch, count: tile.rows.len() }
}
