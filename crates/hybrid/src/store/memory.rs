//! Matrices in memory, of any layout.

use std::sync::{Mutex, PoisonError};

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use super::{
    Element, Extents, Sink, Source, Stored, Tile, Written,
    coverage::Coverage,
    transposition::{Lines, transpose},
};
use crate::Error;
use crate::raw::copy_line;

/// A matrix in memory to read: a view of any strides.
pub struct MemorySource<'a, T> {
    view: ArrayView2<'a, T>,
}

impl<'a, T: Stored> MemorySource<'a, T> {
    /// Reads from a view.
    pub fn new(view: ArrayView2<'a, T>) -> Self {
        Self { view }
    }

    /// Reads from values that lie row by row; [`Error::Shape`] if there are not `rows * columns` of them.
    pub fn from_slice(values: &'a [T], extents: Extents) -> Result<Self, Error> {
        let expected = extents.byte_count(T::ELEMENT)? / T::ELEMENT.bytes();
        let view = ArrayView2::from_shape((extents.rows, extents.columns), values);
        let wrong = |_| Error::Shape { operation: "read", what: "elements of the slice", expected, got: values.len() };
        view.map(Self::new).map_err(wrong)
    }
}

impl<T: Stored> Source for MemorySource<'_, T> {
    fn extents(&self) -> Extents {
        Extents::new(self.view.nrows(), self.view.ncols())
    }

    fn element(&self) -> Element {
        T::ELEMENT
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents(), T::ELEMENT, out.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        let view = self.view.slice(s![tile.rows.clone(), tile.columns.clone()]);
        let (size, pitch) = (T::ELEMENT.bytes(), view.ncols() * T::ELEMENT.bytes());
        if view.strides()[0] == 1 && view.strides()[1] != 1 {
            from_columns(&view, out, pitch);
            return Ok(());
        }
        for (row, out) in view.rows().into_iter().zip(out.chunks_exact_mut(pitch)) {
            match row.as_slice() {
                Some(row) => copy_line(T::bytes(row), out),
                None => row.iter().zip(out.chunks_exact_mut(size)).for_each(|(value, out)| {
                    out.copy_from_slice(T::bytes(std::slice::from_ref(value)));
                }),
            }
        }
        Ok(())
    }
}

/// Rows that are filled together from columns: as many as a cache holds the lines of.
const FILLED: usize = 32;

/// Columns without gaps become parts of rows.
fn from_columns<T: Stored>(view: &ArrayView2<'_, T>, out: &mut [u8], pitch: usize) {
    let size = T::ELEMENT.bytes();
    for (out, rows) in out.chunks_mut(FILLED * pitch).zip(view.axis_chunks_iter(Axis(0), FILLED)) {
        for (index, column) in rows.columns().into_iter().enumerate() {
            let Some(column) = column.as_slice() else { continue };
            let from = Lines { bytes: T::bytes(column), pitch: 0 };
            transpose(from, Lines { bytes: &mut out[index * size..], pitch }, 1, column.len(), size);
        }
    }
}

/// Rows that are locked together while one thread writes to them.
const BAND: usize = 64;

/// A matrix in memory to write: a view of any strides.
pub struct MemorySink<'a, T> {
    extents: Extents,
    bands: Vec<Mutex<ArrayViewMut2<'a, T>>>,
    coverage: Coverage,
}

impl<'a, T: Stored> MemorySink<'a, T> {
    /// Writes to a view. What it is before the commit is unspecified.
    pub fn new(mut view: ArrayViewMut2<'a, T>) -> Self {
        let extents = Extents::new(view.nrows(), view.ncols());
        let mut bands = Vec::new();
        while view.nrows() > 0 {
            let (band, rest) = view.split_at(Axis(0), BAND.min(extents.rows - bands.len() * BAND));
            bands.push(Mutex::new(band));
            view = rest;
        }
        Self { extents, bands, coverage: Coverage::default() }
    }
}

impl<T: Stored> Sink for MemorySink<'_, T> {
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
        let pitch = tile.columns.len() * T::ELEMENT.bytes();
        // Of rows that are no slices.
        let mut line = vec![T::default(); tile.columns.len()];
        let mut lines = data.chunks_exact(pitch);
        for band in tile.rows.start / BAND..=(tile.rows.end - 1) / BAND {
            let mut view = self.bands[band].lock().unwrap_or_else(PoisonError::into_inner);
            let first = tile.rows.start.saturating_sub(band * BAND);
            let last = (tile.rows.end - band * BAND).min(view.nrows());
            let mut part = view.slice_mut(s![first..last, tile.columns.clone()]);
            for (mut row, from) in part.rows_mut().into_iter().zip(&mut lines) {
                let mut copy = |bytes: &mut [u8]| {
                    copy_line(from, bytes);
                    Ok(())
                };
                match row.as_slice_mut() {
                    Some(row) => T::fill(row, &mut copy)?,
                    None => {
                        T::fill(&mut line, &mut copy)?;
                        row.iter_mut().zip(&line).for_each(|(value, from)| *value = *from);
                    }
                }
            }
        }
        self.coverage.add(tile);
        Ok(())
    }

    fn written(&self) -> Option<&dyn Written> {
        Some(self)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        match self.coverage.hole(self.extents) {
            None => Ok(()),
            Some((row, column)) => Err(Error::Incomplete { what: "the matrix in memory".into(), row, column }),
        }
    }
}

impl<T: Stored> Written for MemorySink<'_, T> {
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read back", self.extents, T::ELEMENT, out.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        let pitch = tile.columns.len() * T::ELEMENT.bytes();
        let mut rest = out;
        for band in tile.rows.start / BAND..=(tile.rows.end - 1) / BAND {
            let view = self.bands[band].lock().unwrap_or_else(PoisonError::into_inner);
            let rows = tile.rows.start.saturating_sub(band * BAND)..(tile.rows.end - band * BAND).min(view.nrows());
            let (lines, after) = rest.split_at_mut(rows.len() * pitch);
            MemorySource::new(view.view()).read_tile(&Tile { rows, columns: tile.columns.clone() }, lines)?;
            rest = after;
        }
        Ok(())
    }
}
