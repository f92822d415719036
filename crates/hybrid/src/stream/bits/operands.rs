//! What is multiplied, and what becomes of counts.

use super::packing::{self, Packing};
use crate::Error;
use crate::bits::BitMatrix;
use crate::bits::gpu::words_per_row;
use crate::dispatch::{At, ProductExtents};
use crate::store::{Element, NpySource, Sink, Source, Tile};
use crate::stream::Form;
use std::fmt;
use std::ops::Range;

const OPERATION: &str = "a streamed product of bits";

/// A stored matrix of bits, row by row, the first of a row in the lowest bit: bytes (u8), as files of packed bits have, or words (u64), as
/// [`crate::bits::BitMatrix::source`] gives. Bits behind the last column are not looked at.
#[derive(Clone, Copy)]
pub struct Bits<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) packing: Packing,
    columns: usize,
}

impl<'a> Bits<'a> {
    /// Those of so many columns of bits. [`Error::ElementType`] for other elements, [`Error::Shape`] where a row has not as many as they take.
    pub fn new(source: &'a dyn Source, columns: usize) -> Result<Bits<'a>, Error> {
        let packing = Packing::new(source.element(), source.extents().columns, columns)?;
        Ok(Bits { source, packing, columns })
    }

    /// Those of a file, which says itself how many of a row are columns ([`NpySource::columns_of_bits`]). The same errors.
    pub fn of_npy(file: &'a NpySource) -> Result<Bits<'a>, Error> {
        Bits::new(file, file.columns_of_bits())
    }

    /// The bits of a tile, whose columns begin at a multiple of 128, and end there or with the row.
    pub(super) fn tile(&self, tile: &Tile) -> Result<BitMatrix, Error> {
        let (rows, columns) = (tile.rows.len(), tile.columns.len());
        let mut words = vec![0u64; rows * words_per_row(columns) / 2];
        if !words.is_empty() {
            packing::read(self, tile, bytemuck::cast_slice_mut(&mut words))?;
        }
        BitMatrix::from_words(rows, columns, words)
    }

    /// Where it lies.
    pub(crate) fn at(&self) -> At {
        self.source.at()
    }

    /// Some rows, in host memory.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<BitMatrix, Error> {
        self.tile(&Tile { rows, columns: 0..self.columns })
    }

    /// Rows and columns of bits.
    pub fn extents(&self) -> [usize; 2] {
        [self.source.extents().rows, self.columns]
    }
}

impl fmt::Debug for Bits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} bits {:?}", self.source.extents().rows, self.columns, self.source.at())
    }
}

/// Where a matrix of bits is stored, row by row, as [`Bits`] are: in bytes (u8) or words (u64). Zeros stand behind the last bit of a row.
pub(crate) struct BitSink<'a> {
    sink: &'a dyn Sink,
    packing: Packing,
}

impl<'a> BitSink<'a> {
    /// That a sink has room for so many columns of bits. The errors of [`Bits::new`].
    pub(crate) fn check(sink: &dyn Sink, columns: usize) -> Result<(), Error> {
        Packing::new(sink.element(), sink.extents().columns, columns).map(drop)
    }

    /// One of so many columns of bits; the sink is told. The errors of [`Bits::new`].
    pub(crate) fn new(sink: &'a dyn Sink, columns: usize) -> Result<Self, Error> {
        let packing = Packing::new(sink.element(), sink.extents().columns, columns)?;
        sink.holds_bits(columns)?;
        Ok(BitSink { sink, packing })
    }

    /// Writes rows from one on.
    pub(crate) fn write_rows(&self, first: usize, rows: BitMatrix) -> Result<(), Error> {
        self.write(&Tile { rows: first..first + rows.rows(), columns: 0..self.packing.bits }, rows)
    }

    /// Writes a tile, whose columns begin at a multiple of 128, and end there or with the row.
    pub(super) fn write(&self, tile: &Tile, bits: BitMatrix) -> Result<(), Error> {
        let mut words = bits.into_words();
        match words.is_empty() {
            true => Ok(()),
            false => packing::write((self.sink, &self.packing), tile, bytemuck::cast_slice_mut(&mut words)),
        }
    }
}

/// A product of two matrices of bits.
#[derive(Clone, Copy)]
pub struct BitProduct<'a> {
    pub(super) left: Bits<'a>,
    pub(super) right: Bits<'a>,
    form: Form,
}

impl<'a> BitProduct<'a> {
    /// The product of `left`, m x k, and `right`, k x n, bands of which are transposed on the device. [`Error::Shape`] if the two do not have
    /// the same k.
    pub fn of(left: Bits<'a>, right: Bits<'a>) -> Result<BitProduct<'a>, Error> {
        same("rows of the right matrix", left.columns, right.extents()[0])?;
        Ok(BitProduct { left, right, form: Form::Plain })
    }

    /// The product of `left`, m x k, and the transpose of `right`, n x k. The same error.
    pub fn of_rows(left: Bits<'a>, right: Bits<'a>) -> Result<BitProduct<'a>, Error> {
        same("columns of the right matrix", left.columns, right.columns)?;
        Ok(BitProduct { left, right, form: Form::Transposed })
    }

    /// Rows and columns of the result, and pairs of each.
    pub fn extents(&self) -> ProductExtents {
        let [rows, depth] = self.left.extents();
        let columns = if self.transposes() { self.right.columns } else { self.right.extents()[0] };
        ProductExtents { rows, columns, depth }
    }

    /// Whether the right factor has to be transposed.
    pub(super) fn transposes(&self) -> bool {
        self.form == Form::Plain
    }

    /// The part of the right factor as it is stored that these columns of the product need.
    pub(super) fn right_of(&self, columns: Range<usize>) -> Tile {
        let depth = 0..self.left.columns;
        match self.transposes() {
            true => Tile { rows: depth, columns },
            false => Tile { rows: columns, columns: depth },
        }
    }
}

/// What becomes of the count of pairs that are both set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Becomes {
    /// It is stored as i32.
    Counts,
    /// In how many of the places the two differ, instead, stored as i32: Hamming's distance.
    Distances,
    /// A bit: whether it is more than this; with 0 the product over (OR, AND).
    MoreThan(u32),
    /// A bit: whether it is odd: the product over GF(2).
    Parities,
}

impl Becomes {
    /// Whether it is a number, and no bit.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Becomes::Counts | Becomes::Distances)
    }

    /// Bits of an element of the result.
    pub(super) fn element_bits(self) -> usize {
        if self.is_number() { 32 } else { 1 }
    }
}

/// How results are stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stored {
    Counts,
    Bits(Packing),
}

impl Stored {
    /// As a sink has them. [`Error::Shape`], [`Error::ElementType`] where it does not fit the product, [`Error::Unsupported`] for counts that i32
    /// may not hold.
    pub(super) fn of(product: &BitProduct<'_>, becomes: Becomes, sink: &dyn Sink) -> Result<Stored, Error> {
        let (ProductExtents { rows, columns, depth }, extents) = (product.extents(), sink.extents());
        same("rows of the result", rows, extents.rows)?;
        if !becomes.is_number() {
            return Packing::new(sink.element(), extents.columns, columns).map(Stored::Bits);
        }
        same("columns of the result", columns, extents.columns)?;
        if sink.element() != Element::I32 {
            let (operation, expected) = (OPERATION, sink.element().name());
            return Err(Error::ElementType { operation, expected, got: Element::I32.name() });
        }
        if depth > i32::MAX as usize {
            let why = format!("a number of {depth} pairs may not fit, the limit is {}", i32::MAX);
            return Err(Error::Unsupported { operation: OPERATION, element: "i32", place: "CPU and GPU", why });
        }
        Ok(Stored::Counts)
    }

    /// Says to a sink of bits how many a row has.
    pub(super) fn say(&self, sink: &dyn Sink) -> Result<(), Error> {
        match self {
            Stored::Counts => Ok(()),
            Stored::Bits(packing) => sink.holds_bits(packing.bits),
        }
    }
}

fn same(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Shape { operation: OPERATION, what, expected, got }) }
}
