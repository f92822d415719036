use std::{fmt, path::Path};

use super::{
    super::{
        Element, Extents, Sink, Source, Tile, Written,
        coverage::Coverage,
        files::Files,
        temporary::Temporary,
        transposition::{Lines, transpose},
    },
    NpySource, Order,
    grid::{Grid, Part},
    header::Header,
};
use crate::Error;
use crate::dispatch::At;

/// Bytes that are transposed and written at once.
const SCRATCH: usize = 1 << 20;

/// An NPY file to be, written tile by tile in any order.
///
/// All of its room is reserved at the beginning. It appears under its name when it is committed; an older file of that name stays as
/// it is until then, and those who have it open keep what they opened. A symbolic link of that name is replaced, not followed.
pub struct NpySink {
    temporary: Temporary,
    shape: Vec<usize>,
    grid: Grid,
    coverage: Coverage,
}

impl NpySink {
    /// A new file for an array of this shape, in C order or in Fortran order. [`Error::StorageFull`] when there is no room for it,
    /// [`Error::TooLarge`] for what cannot be counted, [`Error::Io`] for the rest.
    pub fn create(path: impl AsRef<Path>, shape: &[usize], element: Element, order: Order) -> Result<Self, Error> {
        Self::create_with(Files::default(), path.as_ref(), shape, element, order)
    }

    pub(in crate::store) fn create_with(
        files: Files,
        path: &Path,
        shape: &[usize],
        element: Element,
        order: Order,
    ) -> Result<Self, Error> {
        let header = Header { element, big_endian: false, order, shape: shape.into(), unused_bits: 0 };
        let text = header.print();
        let too_large = || Error::TooLarge {
            rows: shape.iter().rev().skip(1).fold(1, |product, extent| product.saturating_mul(*extent)),
            columns: shape.last().copied().unwrap_or(1),
            element_bits: element.bytes() * 8,
        };
        let grid = Grid::new(&header, text.len() as u64).ok_or_else(too_large)?;
        let temporary = Temporary::create(files, path, grid.end().ok_or_else(too_large)?)?;
        temporary.write(&text, 0)?;
        Ok(Self { temporary, shape: header.shape, grid, coverage: Coverage::default() })
    }

    /// All extents of the array.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn header(&self, unused_bits: u8) -> Header {
        let Grid { element, order, .. } = self.grid;
        Header { element, big_endian: false, order, shape: self.shape.clone(), unused_bits }
    }

    fn write_part(&self, part: &Part, data: &[u8]) -> Result<(), Error> {
        let width = part.width();
        if width == self.grid.pitch() || part.lines.len() == 1 {
            return self.temporary.write(data, self.grid.at(part.lines.start, part.bytes.start));
        }
        let lines = part.lines.clone().zip(data.chunks_exact(width));
        lines.into_iter().try_for_each(|(line, data)| self.temporary.write(data, self.grid.at(line, part.bytes.start)))
    }

    fn write_columns(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        let (size, part) = (self.grid.element.bytes(), self.grid.part(tile));
        let (height, pitch) = (tile.rows.len(), tile.columns.len() * size);
        let mut scratch = Vec::new();
        for block in part.blocks(part.width(), SCRATCH) {
            scratch.resize(block.lines.len() * part.width(), 0);
            let left = (block.lines.start - part.lines.start) * size;
            let to = Lines { bytes: &mut scratch[..], pitch: part.width() };
            transpose(Lines { bytes: &data[left..], pitch }, to, height, block.lines.len(), size);
            self.write_part(&block, &scratch)?;
        }
        Ok(())
    }
}

impl Sink for NpySink {
    fn extents(&self) -> Extents {
        self.grid.extents
    }

    fn at(&self) -> At {
        At::Disk
    }

    fn element(&self) -> Element {
        self.grid.element
    }

    fn grain(&self) -> Extents {
        self.grid.grain()
    }

    /// The header says it, so that one file has all.
    fn holds_bits(&self, columns: usize) -> Result<(), Error> {
        let all = self.grid.extents.columns.saturating_mul(8 * self.grid.element.bytes());
        let unused = all.checked_sub(columns).and_then(|unused| u8::try_from(unused).ok());
        let what = "columns of bits in a row";
        let unused = unused.ok_or(Error::Shape { operation: "holds_bits", what, expected: all, got: columns })?;
        self.temporary.write(&self.header(unused).print(), 0)
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents(), self.element(), data.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        match self.grid.order {
            Order::C => self.write_part(&self.grid.part(tile), data)?,
            Order::Fortran => self.write_columns(tile, data)?,
        }
        self.coverage.add(tile);
        Ok(())
    }

    fn written(&self) -> Option<&dyn Written> {
        Some(self)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        if let Some((row, column)) = self.coverage.hole(self.grid.extents) {
            return Err(Error::Incomplete { what: self.temporary.path().display().to_string(), row, column });
        }
        self.temporary.publish()
    }
}

impl Written for NpySink {
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        NpySource::of_temporary(&self.temporary, self.header(0), self.grid)?.read_tile(tile, out)
    }
}

impl fmt::Debug for NpySink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (element, path) = (self.grid.element.name(), self.temporary.path().display());
        write!(f, "NpySink {:?} of {element} for {path}", self.shape)
    }
}
