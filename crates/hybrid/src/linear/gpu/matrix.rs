use std::ops::Range;

use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::{Layout, Matrix, MatrixMut, Operation};

use super::Gpu;
use crate::linear::Scalar;
use crate::matrix::{Columns, Element, Rows, Shape, expect};
use crate::{Error, MatRef};

/// A matrix in the memory of a GPU, stored column by column without gaps.
#[derive(Debug)]
pub struct DeviceMat<T: Element> {
    gpu: Gpu,
    pub(super) buffer: DeviceBuffer<T>,
    shape: Shape,
}

/// A matrix on a GPU, to read: a part of a [`DeviceMat`], transposed, conjugated or scaled.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRef<'a, T: Element> {
    pub(super) matrix: &'a DeviceMat<T>,
    /// Of what is stored.
    pub(super) layout: Layout,
    pub(super) transposed: bool,
    pub(super) conjugated: bool,
    pub(super) scale: T,
}

impl<T: Element> DeviceMat<T> {
    /// A matrix whose elements are unspecified.
    pub fn uninitialised(gpu: &Gpu, shape: Shape) -> Result<Self, Error> {
        let buffer = gpu.stream().alloc(shape.length::<T>()?.0)?;
        Ok(Self { gpu: gpu.clone(), buffer, shape })
    }

    pub(super) fn of_buffer(gpu: &Gpu, buffer: DeviceBuffer<T>, shape: Shape) -> Self {
        Self { gpu: gpu.clone(), buffer, shape }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The GPU that it is on.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// It, to read.
    pub fn view(&self) -> DeviceRef<'_, T> {
        DeviceRef { matrix: self, layout: self.layout(), transposed: false, conjugated: false, scale: T::ONE }
    }

    /// Floats whose bits are all set are NaN.
    pub(super) fn fill_with_nan(&self) -> Result<(), Error> {
        Ok(self.buffer.fill_bytes(0xff)?)
    }

    pub(super) fn fill_with_zeros(&self) -> Result<(), Error> {
        Ok(self.buffer.fill_bytes(0)?)
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::dense(self.shape.rows.0, self.shape.columns.0)
    }

    pub(super) fn matrix(&self) -> Result<Matrix<'_, T>, Error> {
        Ok(Matrix::new(&self.buffer, self.layout())?)
    }

    pub(super) fn matrix_mut(&mut self) -> Result<MatrixMut<'_, T>, Error> {
        let layout = self.layout();
        Ok(MatrixMut::new(&mut self.buffer, layout)?)
    }
}

/// What a matrix is multiplied by to find elements that are not finite: far from both ends of the range, so that no other sum leaves it.
const PROBE: f64 = 1e-30;

impl<T: Scalar> DeviceMat<T> {
    /// Ones on the diagonal, zeros elsewhere.
    pub(super) fn identity(gpu: &Gpu, side: usize) -> Result<Self, Error> {
        let shape = Shape::new(Rows(side), Columns(side));
        let buffer = gpu.stream().alloc_zeroed(shape.length::<T>()?.0)?;
        let mut identity = Self { gpu: gpu.clone(), buffer, shape };
        identity.put_diagonal(&vec![T::ONE; side])?;
        Ok(identity)
    }

    /// The diagonal.
    pub(super) fn diagonal(&self) -> Result<Vec<T>, Error> {
        let length = self.shape.rows.0.min(self.shape.columns.0);
        let mut diagonal = Self::uninitialised(&self.gpu, Shape::new(Rows(length), Columns(1)))?;
        self.gpu.blas()?.diagonal(self.matrix()?, diagonal.matrix_mut()?)?;
        Ok(diagonal.download_dense()?.values().to_vec())
    }

    /// Puts others on the diagonal of a square matrix.
    fn put_diagonal(&mut self, values: &[T]) -> Result<(), Error> {
        if values.is_empty() {
            return Ok(());
        }
        let (gpu, columns) = (self.gpu.clone(), values.len());
        let values = Self::upload(&gpu, MatRef::column(values))?;
        // As one row, whose columns are a row and a column apart.
        let layout = Layout { offset: 0, rows: 1, columns, leading: self.shape.rows.0 + 1 };
        let target = MatrixMut::new(&mut self.buffer, layout)?;
        Ok(gpu.blas()?.copy_scaled(T::ONE, (Operation::Transposed, values.matrix()?), target)?)
    }

    /// Zeros above the diagonal of a square matrix, by twice the root of so many calls as it has columns: superdiagonals one by one, up to as many as a band
    /// of columns is wide, and then what is above the blocks of each band.
    pub(crate) fn clear_above_diagonal(&mut self) -> Result<(), Error> {
        let side = self.shape.rows.0;
        let width = side.isqrt().max(1);
        let blas = self.gpu.blas()?;
        // The elements of a superdiagonal are a row and a column apart.
        let diagonals = (1..width.min(side)).map(|k| (k * side, 1, side - k, side + 1));
        let blocks = (width..side).step_by(width).map(|left| (left * side, left, width.min(side - left), side));
        for (offset, rows, columns, leading) in diagonals.chain(blocks) {
            blas.scale(T::ZERO, MatrixMut::new(&mut self.buffer, Layout { offset, rows, columns, leading })?)?;
        }
        Ok(())
    }

    /// Without imaginary parts on the diagonal of a square matrix.
    pub(crate) fn make_diagonal_real(&mut self) -> Result<(), Error> {
        if !T::COMPLEX || self.shape.is_empty() {
            return Ok(());
        }
        let real: Vec<T> = self.diagonal()?.into_iter().map(|value| T::from_f64(value.wide().re)).collect();
        self.put_diagonal(&real)
    }

    /// Whether all elements are numbers other than infinity: those that are not come out of sums.
    pub(crate) fn is_finite(&self) -> Result<bool, Error> {
        if self.shape.is_empty() {
            return Ok(true);
        }
        let Shape { rows, columns: Columns(columns) } = self.shape;
        let probe = Self::upload(&self.gpu, MatRef::column(&vec![T::from_f64(PROBE); columns]))?;
        let mut sums = Self::uninitialised(&self.gpu, Shape::new(rows, Columns(1)))?;
        let matrix = (Operation::Plain, self.matrix()?);
        self.gpu.blas()?.gemv(T::ONE, matrix, probe.matrix()?, T::ZERO, sums.matrix_mut()?)?;
        Ok(sums.download_dense()?.values().iter().all(|sum| sum.is_finite()))
    }

    /// Has the values of another matrix of the same GPU.
    pub(crate) fn assign(&mut self, from: &Self) -> Result<(), Error> {
        expect_shape("a matrix on the GPU", from.shape, self)?;
        if self.shape.is_empty() {
            return Ok(());
        }
        let gpu = self.gpu.clone();
        Ok(gpu.blas()?.copy_scaled(T::ONE, (Operation::Plain, from.matrix()?), self.matrix_mut()?)?)
    }
}

impl<'a, T: Element> DeviceRef<'a, T> {
    /// The transposed matrix.
    #[must_use]
    pub fn t(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    /// The complex conjugate of each element.
    #[must_use]
    pub fn conj(self) -> Self {
        Self { conjugated: !self.conjugated, scale: self.scale.conjugate(), ..self }
    }

    /// The conjugated and transposed matrix.
    #[must_use]
    pub fn h(self) -> Self {
        self.t().conj()
    }

    /// The part with these rows and columns. What reaches beyond the matrix is [`Error::Shape`].
    pub fn part(self, rows: Range<Rows>, columns: Range<Columns>) -> Result<Self, Error> {
        let (rows, columns) = match self.transposed {
            false => (rows.start.0..rows.end.0, columns.start.0..columns.end.0),
            true => (columns.start.0..columns.end.0, rows.start.0..rows.end.0),
        };
        let check = |what, range: &Range<usize>, extent: usize| match range.start <= range.end && range.end <= extent {
            true => Ok(()),
            false => Err(Error::Shape { operation: "a part of a matrix", what, expected: extent, got: range.end }),
        };
        check("end of the rows", &rows, self.layout.rows)?;
        check("end of the columns", &columns, self.layout.columns)?;
        let offset = self.layout.offset + columns.start * self.layout.leading + rows.start;
        // A part without elements may begin behind the last.
        let offset = if rows.is_empty() || columns.is_empty() { 0 } else { offset };
        let layout = Layout { offset, rows: rows.len(), columns: columns.len(), ..self.layout };
        Ok(Self { layout, ..self })
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        let stored = Shape::new(Rows(self.layout.rows), Columns(self.layout.columns));
        if self.transposed { stored.transposed() } else { stored }
    }

    /// The GPU that it is on.
    pub fn gpu(&self) -> &'a Gpu {
        &self.matrix.gpu
    }

    pub(super) fn stored(&self) -> Result<Matrix<'a, T>, Error> {
        Ok(Matrix::new(&self.matrix.buffer, self.layout)?)
    }

    pub(super) fn scale(&self) -> T {
        self.scale
    }

    pub(crate) fn is_transposed(&self) -> bool {
        self.transposed
    }

    pub(crate) fn is_conjugated(&self) -> bool {
        self.conjugated
    }

    /// Whether it is a conjugate that is not transposed.
    pub(super) fn is_turned_twice(&self) -> bool {
        let is_complex = T::NAME.starts_with('c');
        is_complex && self.conjugated && !self.transposed
    }

    /// Bytes that it takes on the GPU to be read by cuBLAS, which knows no scales, and no conjugate that is not transposed: that one is turned twice.
    pub(crate) fn bytes_to_be_read(&self) -> Result<u64, Error> {
        let copies = if self.is_turned_twice() { 2 } else { u64::from(self.scale != T::ONE) };
        Ok((self.shape().bytes::<T>()?.0 as u64).saturating_mul(copies))
    }
}

impl<T: Scalar> DeviceRef<'_, T> {
    /// Each element times a number.
    #[must_use]
    pub fn scaled(self, by: T) -> Self {
        Self { scale: by.times(self.scale), ..self }
    }

    /// How cuBLAS is to read it; `None` where it has to be a copy first, since it knows no conjugate that is not transposed.
    pub(super) fn operation(&self) -> Option<Operation> {
        match (self.transposed, self.conjugated && T::COMPLEX) {
            (false, false) => Some(Operation::Plain),
            (true, false) => Some(Operation::Transposed),
            (true, true) => Some(Operation::Adjoint),
            (false, true) => None,
        }
    }

    /// A copy that is stored as its values are, scale included.
    pub(crate) fn copied(&self) -> Result<DeviceMat<T>, Error> {
        let gpu = self.matrix.gpu();
        let mut copy = DeviceMat::uninitialised(gpu, self.shape())?;
        if self.shape().is_empty() {
            return Ok(copy);
        }
        let blas = gpu.blas()?;
        match self.operation() {
            Some(operation) => blas.copy_scaled(self.scale, (operation, self.stored()?), copy.matrix_mut()?)?,
            None => {
                // Transposed and conjugated, and transposed again.
                let mut turned = DeviceMat::uninitialised(gpu, self.shape().transposed())?;
                blas.copy_scaled(self.scale, (Operation::Adjoint, self.stored()?), turned.matrix_mut()?)?;
                let turned = turned.matrix()?;
                blas.copy_scaled(T::ONE, (Operation::Transposed, turned), copy.matrix_mut()?)?;
            }
        }
        Ok(copy)
    }
}

/// Refuses a matrix of another shape.
pub(super) fn expect_shape<T: Element>(
    operation: &'static str,
    expected: Shape,
    got: &DeviceMat<T>,
) -> Result<(), Error> {
    expect(operation, "rows of c", expected.rows.0, got.shape.rows.0)?;
    expect(operation, "columns of c", expected.columns.0, got.shape.columns.0)
}
