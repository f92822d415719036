//! Operands of products of bits, wherever they lie, and where results go.

use crate::bits::BitMatrix;
use crate::bits::gpu::{DeviceBitMatrix, row_bytes};
use crate::budget::Budget;
use crate::dispatch::At;
use crate::matrix::expect;
use crate::{Error, dispatch};
use std::borrow::Cow;
use tilewright_driver::Stream;

/// A matrix of bits to read, in host memory or on a GPU: made of either by `into()`.
#[derive(Clone, Copy, Debug)]
pub struct BitOperand<'a>(pub(super) Bits<'a>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Bits<'a> {
    Host(&'a BitMatrix),
    Gpu(&'a DeviceBitMatrix),
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
        }
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        match self.0 {
            Bits::Host(matrix) => matrix.columns(),
            Bits::Gpu(matrix) => matrix.columns(),
        }
    }

    pub(super) fn in_host_memory(&self) -> Option<&'a BitMatrix> {
        match self.0 {
            Bits::Host(matrix) => Some(matrix),
            Bits::Gpu(_) => None,
        }
    }

    /// Bytes of its rows, padded as they are on a GPU.
    pub(super) fn padded_bytes(&self) -> u64 {
        row_bytes(self.columns()).saturating_mul(self.rows() as u64)
    }

    /// What it is to a job.
    pub(super) fn asked(&self) -> dispatch::Operand {
        let at = if self.in_host_memory().is_some() { At::Pageable } else { At::Gpu };
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
        }
    }

    /// It, or a copy of it, on a GPU.
    pub(super) fn there(&self, stream: &Stream) -> Result<There<'a>, Error> {
        match self.0 {
            Bits::Host(matrix) => DeviceBitMatrix::upload(stream, matrix).map(There::Copy),
            Bits::Gpu(matrix) => Ok(There::Own(matrix)),
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

/// Where a matrix of bits goes: to one in host memory, or to one on a GPU, where it stays. Made of either, `&mut`, by `into()`; what was there is
/// replaced when the result is whole.
#[derive(Debug)]
pub struct BitTarget<'a>(pub(super) Goal<'a>);

#[derive(Debug)]
pub(super) enum Goal<'a> {
    Host(&'a mut BitMatrix),
    Gpu(&'a mut DeviceBitMatrix),
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
    fn as_operand(&self) -> BitOperand<'_> {
        match &self.0 {
            Goal::Host(matrix) => (&**matrix).into(),
            Goal::Gpu(matrix) => (&**matrix).into(),
        }
    }

    pub(super) fn at(&self) -> At {
        self.as_operand().asked().at
    }

    pub(super) fn is_elsewhere(&self, ordinal: Option<usize>) -> bool {
        self.as_operand().is_elsewhere(ordinal)
    }

    /// [`Error::Shape`] for one of another size.
    pub(super) fn expect(&self, operation: &'static str, [rows, columns]: [usize; 2]) -> Result<(), Error> {
        let own = self.as_operand();
        expect(operation, "rows of the result", rows, own.rows())?;
        expect(operation, "columns of the result", columns, own.columns())
    }

    /// Has what the CPU made.
    pub(super) fn put(&mut self, made: BitMatrix) -> Result<(), Error> {
        match &mut self.0 {
            Goal::Host(matrix) => **matrix = made,
            Goal::Gpu(matrix) => matrix.take(&made)?,
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
        }
        Ok(())
    }
}
