//! Copies of matrices between the memory of the host and that of a GPU. What lies in ordinary memory passes through page-locked memory that is kept, which
//! threads fill or empty; the driver has one thread for that, and one page after the other.

use super::locked::Pieces;
use super::matrix::expect_shape;
use super::{DeviceMat, Gpu};
use crate::dispatch;
use crate::linear::Scalar;
use crate::matrix::{Dense, Element, copied, copied_for_a_device};
use crate::raw::bring_pages;
use crate::store::Extents;
use crate::{Columns, Error, MatMut, MatRef, Rows};
use ndarray::Array2;
use tilewright_driver::blas::{Layout, Matrix, MatrixMut, Operation};
use tilewright_driver::{DeviceBuffer, Error as DriverError, Stream};

/// Bytes from which on what goes to the GPU is faster through memory that threads fill.
pub(crate) const FILLED: usize = 2 << 20;
/// Bytes from which on what comes from there is faster through memory that is there.
pub(crate) const EMPTIED: usize = 32 << 10;
/// Bytes of a part that is turned on its way and lies in page-locked memory, or is little.
const PART: usize = 16 << 20;

impl<T: Element> DeviceMat<T> {
    /// A copy of a matrix in host memory.
    pub fn upload(gpu: &Gpu, matrix: MatRef<'_, T>) -> Result<Self, Error> {
        let mut copy = Self::uninitialised(gpu, matrix.shape())?;
        copy.take(matrix)?;
        Ok(copy)
    }

    /// Has the values of a matrix in host memory.
    pub(crate) fn take(&mut self, matrix: MatRef<'_, T>) -> Result<(), Error> {
        expect_shape("a matrix on the GPU", matrix.shape(), self)?;
        let gpu = self.gpu().clone();
        if let Some(values) = matrix.as_columns() {
            return bring(&gpu, values, &mut self.buffer);
        }
        let Some(mut pieces) = filled::<T>(&gpu, self.buffer.len(), None) else {
            return bring(&gpu, matrix.to_dense()?.values(), &mut self.buffer);
        };
        dispatch::to_gpu(matrix.shape().bytes::<T>()?.0);
        // Row by row, the transposed matrix is the matrix column by column.
        let whole = Extents::new(matrix.columns(), matrix.rows()).whole();
        let mut at = 0;
        for (number, tile) in whole.parts(pieces.elements(), Extents::new(1, 1)).enumerate() {
            let (piece, count) = (pieces.of(number), tile.count());
            let columns = Columns(tile.rows.start)..Columns(tile.rows.end);
            matrix.part(Rows(tile.columns.start)..Rows(tile.columns.end), columns)?.copy_to(&mut piece[..count]);
            self.buffer.copy_from_pinned_at(gpu.stream(), at, piece.buffer(), count)?;
            at += count;
        }
        Ok(())
    }

    /// A copy of it in host memory, stored column by column.
    pub fn download(&self) -> Result<Array2<T>, Error> {
        self.download_dense().map(Dense::into_array)
    }

    /// Its values, to a matrix of its shape in host memory.
    pub(crate) fn download_to(&self, mut to: MatMut<'_, T>) -> Result<(), Error> {
        if let Some(values) = to.elements().as_columns() {
            return self.download_values(0, values);
        }
        let dense = self.download_dense()?;
        to.elements().fill(|index| dense.values()[index]);
        Ok(())
    }

    pub(crate) fn download_dense(&self) -> Result<Dense<T>, Error> {
        let mut dense = Dense::zeros(self.shape())?;
        self.download_values(0, dense.values_mut())?;
        Ok(dense)
    }

    /// The values from one on.
    pub(super) fn download_values(&self, first: usize, values: &mut [T]) -> Result<(), Error> {
        fetch(self.gpu(), &self.buffer, first, values)
    }
}

impl<T: Scalar> DeviceMat<T> {
    /// As [`upload`](Self::upload); a matrix that is stored row by row, as arrays of ndarray's are, is turned on the GPU, part by part, for
    /// which a CPU takes far longer.
    pub fn bring(gpu: &Gpu, matrix: MatRef<'_, T>) -> Result<Self, Error> {
        let lying = MatRef::of(matrix.t().elements());
        let Some(values) = lying.as_columns().filter(|_| matrix.as_columns().is_none() && matrix.scale() == T::ONE)
        else {
            return Self::upload(gpu, matrix);
        };
        dispatch::to_gpu(size_of_val(values));
        let operation = if matrix.is_conjugated() && T::COMPLEX { Operation::Adjoint } else { Operation::Transposed };
        let (leading, stream) = (matrix.rows(), gpu.stream());
        let mut pieces = filled(gpu, values.len(), Some(values));
        let each = pieces.as_ref().map_or(values.len().min(PART / size_of::<T>()), Pieces::elements);
        let mut whole = Self::uninitialised(gpu, matrix.shape())?;
        let mut part = largest_part(stream, each)?;
        let each = part.len();
        let mut rest = values;
        let tiles = Extents::new(matrix.rows(), matrix.columns()).whole().parts(each, Extents::new(1, 1));
        for (number, tile) in tiles.enumerate() {
            let (own, others) = rest.split_at(tile.count());
            rest = others;
            match &mut pieces {
                Some(pieces) => {
                    let piece = pieces.of(number);
                    copied_for_a_device(own, &mut piece[..own.len()]);
                    part.copy_from_pinned_at(stream, 0, piece.buffer(), own.len())?;
                }
                None => part.copy_from_slice_at(stream, 0, own)?,
            }
            let [rows, columns] = [tile.rows.len(), tile.columns.len()];
            let target = Layout { offset: tile.columns.start * leading + tile.rows.start, rows, columns, leading };
            let (from, to) = (Layout::dense(columns, rows), MatrixMut::new(&mut whole.buffer, target)?);
            gpu.blas()?.copy_scaled(T::ONE, (operation, Matrix::new(&part, from)?), to)?;
        }
        Ok(whole)
    }
}

/// Room for so many elements that are turned together, or, where memory is short, for fewer.
fn largest_part<T: Element>(stream: &Stream, most: usize) -> Result<DeviceBuffer<T>, Error> {
    match stream.alloc(most) {
        Err(DriverError::OutOfMemory { .. }) if most > 1 => largest_part(stream, most / 2),
        part => Ok(part?),
    }
}

/// Memory through which so many elements go there, where that is faster: not what lies in page-locked memory already.
fn filled<T: Element>(gpu: &Gpu, count: usize, lying: Option<&[T]>) -> Option<Pieces<T>> {
    let is_pinned = |values: &[T]| gpu.stream().device().is_pinned(values);
    let passes = count * size_of::<T>() >= FILLED && !lying.is_some_and(is_pinned);
    passes.then(|| Pieces::to_fill(gpu, count)).flatten()
}

/// Copies values to a buffer of as many, whose stream is the GPU's.
pub(super) fn bring<T: Element>(gpu: &Gpu, values: &[T], to: &mut DeviceBuffer<T>) -> Result<(), Error> {
    dispatch::to_gpu(size_of_val(values));
    let Some(mut pieces) = filled(gpu, values.len(), Some(values)) else { return Ok(to.copy_from_slice(values)?) };
    let each = pieces.elements();
    for (number, part) in values.chunks(each).enumerate() {
        let piece = pieces.of(number);
        copied_for_a_device(part, &mut piece[..part.len()]);
        to.copy_from_pinned_at(gpu.stream(), number * each, piece.buffer(), part.len())?;
    }
    Ok(())
}

/// Copies the elements of a buffer from one on, when all is done that the GPU's stream had before.
pub(super) fn fetch<T: Element>(
    gpu: &Gpu,
    from: &DeviceBuffer<T>,
    first: usize,
    values: &mut [T],
) -> Result<(), Error> {
    dispatch::to_host(size_of_val(values));
    let (stream, count) = (gpu.stream(), values.len());
    let passes = size_of_val(values) >= EMPTIED && !stream.device().is_pinned(values);
    let Some(mut pieces) = passes.then(|| Pieces::to_empty(gpu, count)).flatten() else {
        // While the GPU still computes, for a copy waits for that.
        bring_pages(values);
        return Ok(from.copy_to_slice_at(stream, first, values)?);
    };
    let (each, ahead) = (pieces.elements(), pieces.count());
    let queue = |pieces: &mut Pieces<T>, number: usize| -> Result<(), Error> {
        let (at, left) = (first + number * each, count.saturating_sub(number * each));
        Ok(from.copy_to_pinned_at(stream, at, pieces.of(number).buffer_mut(), left.min(each))?)
    };
    (0..ahead).try_for_each(|number| queue(&mut pieces, number))?;
    bring_pages(values);
    for (number, part) in values.chunks_mut(each).enumerate() {
        copied(&pieces.of(number)[..part.len()], part);
        queue(&mut pieces, number + ahead)?;
    }
    // Whether all copies were made, the stream says, and not the memory that they went to.
    Ok(stream.synchronize()?)
}

/// An operand from host memory: what is stored, and how cuBLAS is to read it.
pub(super) fn uploaded<T: Element>(
    gpu: &Gpu,
    operand: MatRef<'_, T>,
    is_complex: bool,
) -> Result<(Operation, DeviceMat<T>), Error> {
    let (elements, turned) = (MatRef::of(operand.elements()), MatRef::of(operand.t().elements()));
    let is_adjoint = operand.is_conjugated() && is_complex;
    let turn = if is_adjoint { Operation::Adjoint } else { Operation::Transposed };
    let (operation, stored) = match (is_adjoint, elements.as_columns(), turned.as_columns()) {
        (true, ..) | (false, None, Some(_)) => (turn, turned),
        (false, ..) => (Operation::Plain, elements),
    };
    Ok((operation, DeviceMat::upload(gpu, stored)?))
}
