//! Matrices on a GPU that come to the host, or pass through it.

use ndarray::Array2;
use tilewright_driver::blas::Layout;

use super::DeviceRef;
use crate::linear::Scalar;
use crate::matrix::{Columns, Dense, Element, Rows, Shape};
use crate::{Error, MatRef};

/// Bytes of columns that are in host memory together.
const PART: usize = 64 << 20;

impl<T: Element> DeviceRef<'_, T> {
    /// Whether no element of another matrix stands between those of this one.
    fn has_no_gaps(&self) -> bool {
        self.layout.rows == self.layout.leading || self.layout.columns <= 1
    }

    /// A copy in host memory of what is stored of it; nothing where that has gaps.
    fn download_stored(&self) -> Result<Option<Dense<T>>, Error> {
        if self.layout == self.matrix.layout() {
            return self.matrix.download_dense().map(Some);
        }
        if !self.has_no_gaps() {
            return Ok(None);
        }
        let Layout { offset, rows, columns, .. } = self.layout;
        let mut dense = Dense::new(rows, columns)?;
        self.matrix.download_values(offset, dense.values_mut())?;
        Ok(Some(dense))
    }

    /// What is stored of it, if that, in host memory, is all that it takes to read it there.
    pub(crate) fn stored_alone(&self) -> Option<Shape> {
        let stored = Shape::new(Rows(self.layout.rows), Columns(self.layout.columns));
        (self.has_no_gaps() && self.scale == T::ONE).then_some(stored)
    }

    /// What is [stored alone](Self::stored_alone), to as many values in host memory.
    pub(crate) fn bring(&self, values: &mut [T]) -> Result<(), Error> {
        self.matrix.download_values(self.layout.offset, values)
    }

    /// It, where what is [stored alone](Self::stored_alone) is in host memory.
    pub(crate) fn read_from<'h>(&self, values: &'h [T]) -> Result<MatRef<'h, T>, Error> {
        let stored = MatRef::column_major(values, Rows(self.layout.rows), Columns(self.layout.columns))?;
        let turned = if self.transposed { stored.t() } else { stored };
        Ok(if self.conjugated { turned.conj() } else { turned })
    }

    /// Bytes of host memory that [`download`](Self::download) takes: what is stored, and what is made of it.
    pub(crate) fn bytes_of_download(&self) -> Result<u64, Error> {
        let own = self.shape().bytes::<T>()?.0 as u64;
        let is_made = self.has_no_gaps() && (self.transposed || self.conjugated || self.scale != T::ONE);
        Ok(if is_made { own.saturating_mul(2) } else { own })
    }

    /// Bytes of host memory that [`download_whole`](Self::download_whole) takes.
    pub(crate) fn bytes_of_whole(&self) -> Result<u64, Error> {
        let own = self.shape().bytes::<T>()?.0 as u64;
        Ok(match (self.has_no_gaps(), self.transposed) {
            (true, false) => own,
            (true, true) => own.saturating_mul(2),
            (false, _) => own.saturating_add(self.matrix.shape().bytes::<T>()?.0 as u64),
        })
    }

    /// A copy of its values in host memory, stored column by column; where they have gaps all that it is a part of comes there: what no routine
    /// copies on the device.
    pub(crate) fn download_whole(&self) -> Result<Array2<T>, Error> {
        if let Some(stored) = self.download_stored()? {
            return if self.transposed { stored.view().t().to_dense() } else { Ok(stored) }.map(Dense::into_array);
        }
        let Layout { offset, rows, columns, leading } = self.layout;
        let stored = self.matrix.download_dense()?;
        let (top, left) = (offset % leading.max(1), offset / leading.max(1));
        let part = stored.view().part(Rows(top)..Rows(top + rows), Columns(left)..Columns(left + columns))?;
        let values = if self.transposed { part.t() } else { part };
        values.to_dense().map(Dense::into_array)
    }

    /// Columns of a part.
    fn columns_of_part(&self) -> usize {
        (PART / (self.shape().rows.0 * size_of::<T>()).max(1)).max(1)
    }

    /// The first part of [`each_part`](Self::each_part): none is larger.
    fn first_part(&self) -> Result<Self, Error> {
        let Shape { rows, columns: Columns(columns) } = self.shape();
        self.part(Rows(0)..rows, Columns(0)..Columns(columns.min(self.columns_of_part())))
    }

    /// Bytes of host memory that a part takes in [`each_part`](Self::each_part).
    pub(crate) fn bytes_of_part(&self) -> Result<u64, Error> {
        self.first_part()?.bytes_of_download()
    }

    /// Bytes of the GPU's memory that a part takes there: one with gaps is a copy first, and where that is turned twice, two.
    pub(crate) fn bytes_of_part_there(&self) -> Result<u64, Error> {
        let part = self.first_part()?;
        let copies = match part.has_no_gaps() {
            true => 0,
            false if part.is_turned_twice() => 2,
            false => 1,
        };
        Ok((part.shape().bytes::<T>()?.0 as u64).saturating_mul(copies))
    }
}

impl<T: Scalar> DeviceRef<'_, T> {
    /// A copy of its values in host memory, stored column by column.
    pub fn download(&self) -> Result<Array2<T>, Error> {
        self.download_dense().map(Dense::into_array)
    }

    /// What is stored without gaps is turned here: a GPU whose memory is short still gives it away.
    pub(crate) fn download_dense(&self) -> Result<Dense<T>, Error> {
        let Some(stored) = self.download_stored()? else { return self.copied()?.download_dense() };
        if !self.transposed && !self.conjugated && self.scale == T::ONE {
            return Ok(stored);
        }
        let turned = if self.transposed { stored.view().t() } else { stored.view() };
        let values = if self.conjugated { turned.conj() } else { turned };
        values.scaled(self.scale).to_dense()
    }

    /// Has it come to the host, some columns at a time: the number of the first of them, and a copy.
    pub(crate) fn each_part(&self, mut visit: impl FnMut(usize, Dense<T>) -> Result<(), Error>) -> Result<(), Error> {
        let (Shape { rows, columns: Columns(columns) }, each) = (self.shape(), self.columns_of_part());
        (0..columns).step_by(each).try_for_each(|left| {
            let part = self.part(Rows(0)..rows, Columns(left)..Columns(columns.min(left + each)))?;
            visit(left, part.download_dense()?)
        })
    }
}
