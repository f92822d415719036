//! Operands of products of bits, wherever they lie, and where results go.

use super::asked::passing;
use super::stored::Kept;
use crate::bits::BitMatrix;
use crate::bits::gpu::{DeviceBitMatrix, row_bytes};
use crate::budget::Budget;
use crate::dispatch::At;
use crate::matrix::expect;
use crate::store::{MemorySource, Sink};
use crate::stream::bits::{BitSink, Bits as StoredBits};
use crate::{Error, dispatch};
use std::borrow::Cow;
use std::ops::Range;
use tilewright_driver::Stream;

/// A matrix of bits to read, in host memory, on a GPU or stored ([`Bits`](crate::stream::bits::Bits), as those of a file): made of either by `into()`. What is stored is read when the
/// result is computed, as often as that takes, and may be larger than memory.
#[derive(Clone, Copy, Debug)]
pub struct BitOperand<'a>(pub(super) Bits<'a>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Bits<'a> {
    Host(&'a BitMatrix),
    Gpu(&'a DeviceBitMatrix),
    Stored(StoredBits<'a>),
}

/// A matrix of bits as a source of tiles.
pub(super) enum BitSource<'a> {
    Words(MemorySource<'a, u64>, usize),
    Stored(StoredBits<'a>),
}

impl BitSource<'_> {
    pub(super) fn bits(&self) -> Result<StoredBits<'_>, Error> {
        match self {
            BitSource::Words(source, columns) => StoredBits::new(source, *columns),
            BitSource::Stored(bits) => Ok(*bits),
        }
    }
}

impl<'a> From<StoredBits<'a>> for BitOperand<'a> {
    fn from(bits: StoredBits<'a>) -> Self {
        BitOperand(Bits::Stored(bits))
    }
}

impl<'a> From<&'a BitMatrix> for BitOperand<'a> {
    fn from(matrix: &'a BitMatrix) -> Self {
        BitOperand(Bits::Host(matrix))
    }
}

impl<'a> From<&'a DeviceBitMatrix> for BitOperand<'a> {
    fn from(matrix: &'a DeviceBitMatrix) -> Self {
        BitOperand(Bits::Gpu(matrix))
    }
}

impl<'a> BitOperand<'a> {
    /// Rows.
    pub fn rows(&self) -> usize {
        match self.0 {
            Bits::Host(matrix) => matrix.rows(),
            Bits::Gpu(matrix) => matrix.rows(),
            Bits::Stored(bits) => bits.extents()[0],
        }
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        match self.0 {
            Bits::Host(matrix) => matrix.columns(),
            Bits::Gpu(matrix) => matrix.columns(),
            Bits::Stored(bits) => bits.extents()[1],
        }
    }

    pub(super) fn in_host_memory(&self) -> Option<&'a BitMatrix> {
        match self.0 {
            Bits::Host(matrix) => Some(matrix),
            Bits::Gpu(_) | Bits::Stored(_) => None,
        }
    }

    pub(super) fn is_stored(&self) -> bool {
        matches!(self.0, Bits::Stored(_))
    }

    /// It as a source; nothing for what lies on a GPU.
    pub(super) fn source(&self) -> Option<BitSource<'a>> {
        match self.0 {
            Bits::Host(matrix) => Some(BitSource::Words(matrix.source(), matrix.columns())),
            Bits::Stored(bits) => Some(BitSource::Stored(bits)),
            Bits::Gpu(_) => None,
        }
    }

    /// Some rows of what is not on a GPU, in host memory.
    pub(super) fn rows_here(&self, rows: Range<usize>) -> Result<BitMatrix, Error> {
        match self.0 {
            Bits::Host(matrix) => matrix.row_range(rows.start, rows.len()),
            Bits::Stored(bits) => bits.rows(rows),
            Bits::Gpu(matrix) => matrix.download()?.row_range(rows.start, rows.len()),
        }
    }

    /// Bytes of its rows, padded as they are on a GPU.
    pub(super) fn padded_bytes(&self) -> u64 {
        row_bytes(self.columns()).saturating_mul(self.rows() as u64)
    }

    /// What it is to a job.
    pub(super) fn asked(&self) -> dispatch::Operand {
        let at = match self.0 {
            Bits::Host(_) => At::Pageable,
            Bits::Gpu(_) => At::Gpu,
            Bits::Stored(bits) => passing(bits.at()),
        };
        dispatch::Operand { bytes: self.padded_bytes(), at }
    }

    /// Whether it lies on another GPU than this one.
    pub(super) fn is_elsewhere(&self, ordinal: Option<usize>) -> bool {
        matches!(self.0, Bits::Gpu(matrix) if Some(matrix.stream().device().ordinal()) != ordinal)
    }

    /// It, or a copy of it, in host memory.
    pub(super) fn here(&self) -> Result<Cow<'a, BitMatrix>, Error> {
        match self.0 {
            Bits::Host(matrix) => Ok(Cow::Borrowed(matrix)),
            Bits::Gpu(matrix) => matrix.download().map(Cow::Owned),
            Bits::Stored(bits) => bits.rows(0..bits.extents()[0]).map(Cow::Owned),
        }
    }

    /// It, or a copy of it, on a GPU.
    pub(super) fn there(&self, stream: &Stream) -> Result<There<'a>, Error> {
        match self.0 {
            Bits::Host(matrix) => DeviceBitMatrix::upload(stream, matrix).map(There::Copy),
            Bits::Gpu(matrix) => Ok(There::Own(matrix)),
            Bits::Stored(_) => DeviceBitMatrix::upload(stream, &*self.here()?).map(There::Copy),
        }
    }
}

/// A matrix of bits on a GPU, its own or brought there.
pub(super) enum There<'a> {
    Own(&'a DeviceBitMatrix),
    Copy(DeviceBitMatrix),
}

impl There<'_> {
    pub(super) fn matrix(&self) -> &DeviceBitMatrix {
        match self {
            There::Own(matrix) => matrix,
            There::Copy(matrix) => matrix,
        }
    }
}

/// Where a matrix of bits goes: to one in host memory, or to one on a GPU, where it stays, each made of `&mut` by `into()`, or to a sink of bytes (u8) or words (u64), as a file, which is told
/// how many of a row are columns ([`Sink::holds_bits`]) and committed. What was there is replaced when the result is whole.
#[derive(Debug)]
pub struct BitTarget<'a>(pub(super) Goal<'a>);

#[derive(Debug)]
pub(super) enum Goal<'a> {
    Host(&'a mut BitMatrix),
    Gpu(&'a mut DeviceBitMatrix),
    Stored(Kept<'a>),
}

impl<'a, S: Sink + 'a> From<S> for BitTarget<'a> {
    fn from(sink: S) -> Self {
        BitTarget(Goal::Stored(Kept { sink: Some(Box::new(sink)), added: None }))
    }
}

impl<'a> From<&'a mut BitMatrix> for BitTarget<'a> {
    fn from(matrix: &'a mut BitMatrix) -> Self {
        BitTarget(Goal::Host(matrix))
    }
}

impl<'a> From<&'a mut DeviceBitMatrix> for BitTarget<'a> {
    fn from(matrix: &'a mut DeviceBitMatrix) -> Self {
        BitTarget(Goal::Gpu(matrix))
    }
}

impl BitTarget<'_> {
    pub(super) fn at(&self) -> At {
        match &self.0 {
            Goal::Host(_) => At::Pageable,
            Goal::Gpu(_) => At::Gpu,
            Goal::Stored(kept) => kept.sink.as_ref().map_or(At::Pageable, |sink| passing(sink.at())),
        }
    }

    pub(super) fn is_stored(&self) -> bool {
        matches!(self.0, Goal::Stored(_))
    }

    pub(super) fn is_elsewhere(&self, ordinal: Option<usize>) -> bool {
        matches!(&self.0, Goal::Gpu(matrix) if BitOperand::from(&**matrix).is_elsewhere(ordinal))
    }

    /// [`Error::Shape`] for one of another size.
    pub(super) fn expect(&self, operation: &'static str, [rows, columns]: [usize; 2]) -> Result<(), Error> {
        let own = match &self.0 {
            Goal::Host(matrix) => [matrix.rows(), matrix.columns()],
            Goal::Gpu(matrix) => [matrix.rows(), matrix.columns()],
            Goal::Stored(kept) => {
                let Some(sink) = &kept.sink else { return Ok(()) };
                BitSink::check(&**sink, columns)?;
                [sink.extents().rows, columns]
            }
        };
        expect(operation, "rows of the result", rows, own[0])?;
        expect(operation, "columns of the result", columns, own[1])
    }

    /// Has what the CPU made.
    pub(super) fn put(&mut self, made: BitMatrix) -> Result<(), Error> {
        match &mut self.0 {
            Goal::Host(matrix) => **matrix = made,
            Goal::Gpu(matrix) => matrix.take(&made)?,
            Goal::Stored(kept) => {
                let columns = made.columns();
                if let Some(sink) = &kept.sink {
                    BitSink::new(&**sink, columns)?.write_rows(0, made)?;
                }
                kept.commit()?;
            }
        }
        Ok(())
    }

    /// Has what the GPU made, which passes through so much host memory where it is wanted there.
    pub(super) fn put_there(&mut self, made: DeviceBitMatrix, host: &Budget) -> Result<(), Error> {
        match &mut self.0 {
            Goal::Host(matrix) => {
                let _host = host.try_acquire(BitOperand::from(&made).padded_bytes())?;
                **matrix = made.download()?;
            }
            Goal::Gpu(matrix) => **matrix = made,
            Goal::Stored(_) => {
                let _host = host.try_acquire(BitOperand::from(&made).padded_bytes())?;
                self.put(made.download()?)?;
            }
        }
        Ok(())
    }
}
