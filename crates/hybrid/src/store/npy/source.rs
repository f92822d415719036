use std::{
    fmt,
    fs::File,
    path::{Path, PathBuf},
};

use rustix::fs::Advice;

use super::{
    super::{
        Element, Extents, Source, Tile,
        files::{Files, Step},
        temporary::Temporary,
        transposition::{Lines, transpose},
    },
    Order,
    grid::{Grid, Part},
    header::{self, Header},
};
use crate::Error;
use crate::dispatch::At;

/// Bytes that are read at once where a tile is put together from parts of lines.
const SCRATCH: usize = 1 << 20;
/// Gaps between parts of lines are read too if no more than this is read for a byte of the tile ...
const MOST_WASTE: usize = 4;
/// ... and lines are so short: otherwise each part is a read of its own.
const SHORT_LINE: usize = 16 << 10;

/// An NPY file, read only: tiles are read as they are asked for, by `pread`, and nothing is mapped.
///
/// Files of the other order of bytes are converted. A file whose length is not what its header says is [`Error::Corrupt`].
pub struct NpySource {
    files: Files,
    file: File,
    path: PathBuf,
    header: Header,
    grid: Grid,
}

impl NpySource {
    /// Opens a file and reads its header. [`Error::Io`] if it cannot be read, [`Error::Corrupt`] if it is not what it says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(Files::default(), path.as_ref())
    }

    pub(in crate::store) fn open_with(files: Files, path: &Path) -> Result<Self, Error> {
        let corrupt = |why: String| Error::Corrupt { path: path.into(), chunk: None, why };
        let file = files.open(path).map_err(Step::Open.failed(path))?;
        let bytes = files.bytes(&file).map_err(Step::Stat.failed(path))?;
        let read = |range: std::ops::Range<usize>| {
            let mut content = vec![0; range.len()];
            files.read(&file, &mut content, range.start as u64).map_err(Step::Read.failed(path)).map(|()| content)
        };
        let start = read(0..(bytes as usize).min(header::FIXED))?;
        let text = header::text_range(&start).map_err(corrupt)?;
        if text.end as u64 > bytes {
            return Err(corrupt(format!("it ends within its header: expected {} bytes, got {bytes}", text.end)));
        }
        let header = Header::parse(&read(text.clone())?).map_err(corrupt)?;
        let too_large = || corrupt(format!("its shape {:?} is more than addresses reach", header.shape));
        let grid = Grid::new(&header, text.end as u64).ok_or_else(too_large)?;
        let expected = grid.end().ok_or_else(too_large)?;
        if bytes != expected {
            let (shape, element) = (&header.shape, header.element.name());
            let why = format!("{shape:?} of {element} makes a file of {expected} bytes, and it has {bytes}");
            return Err(corrupt(why));
        }
        let row = grid.extents.columns.saturating_mul(8 * grid.element.bytes());
        if usize::from(header.unused_bits) > row {
            return Err(corrupt(format!(
                "{} bits of a row are not used, it says, and a row has {row}",
                header.unused_bits
            )));
        }
        Ok(Self { files, file, path: path.into(), header, grid })
    }

    /// Reads what has been written so far to a file that has no name yet.
    pub(super) fn of_temporary(temporary: &Temporary, header: Header, grid: Grid) -> Result<Self, Error> {
        let path = temporary.path();
        let file = temporary.file.try_clone().map_err(Step::Open.failed(path))?;
        Ok(Self { files: temporary.files.clone(), file, path: path.into(), header, grid })
    }

    /// Takes the elements for others of the same size: [`Element::Bf16`] for [`Element::U16`], which is how files hold it.
    /// [`Error::ElementType`] for those of another size, and for `bool`, which not every byte is.
    pub fn reinterpret(mut self, element: Element) -> Result<Self, Error> {
        let own = self.grid.element;
        if own.bytes() != element.bytes() || own.word_bytes() != element.word_bytes() || element == Element::Bool {
            let (expected, got) = (own.name(), element.name());
            return Err(Error::ElementType { operation: "reinterpret", expected, got });
        }
        self.grid.element = element;
        Ok(self)
    }

    /// All extents of the array.
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Columns of a matrix of packed bits: those that [`Sink::holds_bits`](crate::store::Sink::holds_bits) said, or as many as a row's elements have bits.
    pub fn columns_of_bits(&self) -> usize {
        let all = self.grid.extents.columns.saturating_mul(8 * self.grid.element.bytes());
        all.saturating_sub(self.header.unused_bits.into())
    }

    /// The order of its elements.
    pub fn order(&self) -> Order {
        self.header.order
    }

    fn read_bytes(&self, out: &mut [u8], offset: u64) -> Result<(), Error> {
        self.files.read(&self.file, out, offset).map_err(Step::Read.failed(&self.path))
    }

    /// Reads parts of lines, one after the other.
    fn read_part(&self, part: &Part, out: &mut [u8]) -> Result<(), Error> {
        let (pitch, width) = (self.grid.pitch(), part.width());
        if width == pitch || part.lines.len() == 1 {
            return self.read_bytes(out, self.grid.at(part.lines.start, part.bytes.start));
        }
        if pitch > SHORT_LINE || pitch / MOST_WASTE > width {
            let lines = part.lines.clone().zip(out.chunks_exact_mut(width));
            return lines
                .into_iter()
                .try_for_each(|(line, out)| self.read_bytes(out, self.grid.at(line, part.bytes.start)));
        }
        let mut scratch = Vec::new();
        for (block, out) in part.blocks(pitch, SCRATCH).zip(out.chunks_mut((SCRATCH / pitch).max(1) * width)) {
            scratch.resize((block.lines.len() - 1) * pitch + width, 0);
            self.read_bytes(&mut scratch, self.grid.at(block.lines.start, part.bytes.start))?;
            for (line, out) in scratch.chunks(pitch).zip(out.chunks_exact_mut(width)) {
                out.copy_from_slice(&line[..width]);
            }
        }
        Ok(())
    }

    /// Reads columns that lie one after the other, and makes them rows.
    fn read_columns(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        let (size, part) = (self.grid.element.bytes(), self.grid.part(tile));
        let (height, pitch) = (tile.rows.len(), tile.columns.len() * size);
        let mut scratch = Vec::new();
        for block in part.blocks(part.width(), SCRATCH) {
            scratch.resize(block.lines.len() * part.width(), 0);
            self.read_part(&block, &mut scratch)?;
            let left = (block.lines.start - part.lines.start) * size;
            let from = Lines { bytes: &scratch[..], pitch: part.width() };
            transpose(from, Lines { bytes: &mut out[left..], pitch }, block.lines.len(), height, size);
        }
        Ok(())
    }

    /// A hint about all lines of a tile; what lies between parts of short lines is included.
    fn advise(&self, tile: &Tile, advice: Advice) -> Result<(), Error> {
        tile.check("advise", self.extents(), self.element(), tile.extents().byte_count(self.element())?)?;
        if tile.is_empty() {
            return Ok(());
        }
        let (part, pitch) = (self.grid.part(tile), self.grid.pitch());
        // A call for each line costs readers a tenth where all is there.
        let is_there = |line, byte| self.files.is_cached(&self.file, self.grid.at(line, byte));
        let (first, last) = ((part.lines.start, part.bytes.start), (part.lines.end - 1, part.bytes.end - 1));
        if advice == Advice::WillNeed && is_there(first.0, first.1) && is_there(last.0, last.1) {
            return Ok(());
        }
        let together = if pitch <= SHORT_LINE || part.width() == pitch { usize::MAX } else { 1 };
        for block in part.blocks(1, together) {
            let begin = self.grid.at(block.lines.start, part.bytes.start);
            let end = self.grid.at(block.lines.end - 1, part.bytes.end);
            self.files.advise(&self.file, begin, end - begin, advice).map_err(Step::Advise.failed(&self.path))?;
        }
        Ok(())
    }

    fn check_bools(&self, tile: &Tile, values: &[u8]) -> Result<(), Error> {
        let Some(at) = values.iter().position(|value| *value > 1) else { return Ok(()) };
        let (row, column) = (tile.rows.start + at / tile.columns.len(), tile.columns.start + at % tile.columns.len());
        let why = format!("the bool at row {row}, column {column} is {}, expected 0 or 1", values[at]);
        Err(Error::Corrupt { path: self.path.clone(), chunk: None, why })
    }
}

impl Source for NpySource {
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

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents(), self.element(), out.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        match self.grid.order {
            Order::C => self.read_part(&self.grid.part(tile), out)?,
            Order::Fortran => self.read_columns(tile, out)?,
        }
        if self.header.big_endian {
            out.chunks_exact_mut(self.grid.element.word_bytes()).for_each(<[u8]>::reverse);
        }
        if self.grid.element == Element::Bool { self.check_bools(tile, out) } else { Ok(()) }
    }

    fn prefetch(&self, tile: &Tile) -> Result<(), Error> {
        self.advise(tile, Advice::WillNeed)
    }

    fn release(&self, tile: &Tile) -> Result<(), Error> {
        self.advise(tile, Advice::DontNeed)
    }
}

impl fmt::Debug for NpySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, element, path) = (&self.header.shape, self.grid.element.name(), self.path.display());
        write!(f, "NpySource {shape:?} of {element} in {path}")
    }
}
