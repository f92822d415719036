use std::ops::Range;

use ndarray::{ArrayBase, DataMut, Ix1, Ix2};

use super::{ColumnStride, Columns, Element, Leading, Length, MatRef, RowStride, Rows, Shape, expect};
use crate::{Error, raw::ElementsMut};

/// A matrix to write: elements in memory behind two strides of any sign, no two at one address.
#[derive(Debug)]
pub struct MatMut<'a, T> {
    elements: ElementsMut<'a, T>,
}

impl<'a, T: Element> MatMut<'a, T> {
    pub(crate) fn of(elements: ElementsMut<'a, T>) -> Self {
        Self { elements }
    }

    /// A slice that holds one row after the other. Another length than `rows * columns` is [`Error::Shape`].
    pub fn row_major(slice: &'a mut [T], rows: Rows, columns: Columns) -> Result<Self, Error> {
        let Length(length) = Shape::new(rows, columns).length::<T>()?;
        expect("a matrix", "length of the slice", length, slice.len())?;
        Self::row_major_leading(slice, rows, columns, Leading(columns.0))
    }

    /// A slice that holds one column after the other. Another length than `rows * columns` is [`Error::Shape`].
    pub fn column_major(slice: &'a mut [T], rows: Rows, columns: Columns) -> Result<Self, Error> {
        Ok(Self::row_major(slice, Rows(columns.0), Columns(rows.0))?.t())
    }

    /// Rows whose starts are `leading` elements apart. `leading` below `columns`, and a slice that ends too soon, are [`Error::Shape`].
    pub fn row_major_leading(
        slice: &'a mut [T],
        rows: Rows,
        columns: Columns,
        leading: Leading,
    ) -> Result<Self, Error> {
        MatRef::row_major_leading(slice, rows, columns, leading)?;
        let stride = isize::try_from(leading.0).map_err(|_| Shape::new(rows, columns).too_large::<T>())?;
        Self::strided(slice, Length(0), Shape::new(rows, columns), RowStride(stride), ColumnStride(1))
    }

    /// Columns whose starts are `leading` elements apart. `leading` below `rows`, and a slice that ends too soon, are [`Error::Shape`].
    pub fn column_major_leading(
        slice: &'a mut [T],
        rows: Rows,
        columns: Columns,
        leading: Leading,
    ) -> Result<Self, Error> {
        Ok(Self::row_major_leading(slice, Rows(columns.0), Columns(rows.0), leading)?.t())
    }

    /// Elements of a slice, that of row 0 and column 0 at `origin`. What reaches beyond the slice is [`Error::Shape`]; strides by which two
    /// elements could be at one address are [`Error::Aliased`].
    pub fn strided(
        slice: &'a mut [T],
        origin: Length,
        shape: Shape,
        row_stride: RowStride,
        column_stride: ColumnStride,
    ) -> Result<Self, Error> {
        MatRef::strided(slice, origin, shape, row_stride, column_stride)?;
        let elements = ElementsMut::new(slice, origin.0, shape, [row_stride.0, column_stride.0]);
        elements.map(Self::of).ok_or(Error::Aliased { operation: "a matrix to write", operand: "itself" })
    }

    /// The transposed matrix.
    #[must_use]
    pub fn t(self) -> Self {
        Self { elements: self.elements.transposed() }
    }

    /// The same matrix, borrowed for a while.
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { elements: self.elements.reborrow() }
    }

    /// The same matrix, to read for a while.
    pub fn read(&self) -> MatRef<'_, T> {
        MatRef::of(self.elements.read())
    }

    /// The part with these rows and columns. What reaches beyond the matrix is [`Error::Shape`].
    pub fn part(self, rows: Range<Rows>, columns: Range<Columns>) -> Result<Self, Error> {
        self.read().part(rows.clone(), columns.clone())?;
        let part = self.elements.part(rows.start.0..rows.end.0, columns.start.0..columns.end.0);
        Ok(Self { elements: part.unwrap_or_else(|| unreachable!("as the part to read")) })
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.elements.shape()
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.shape().rows.0
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.shape().columns.0
    }

    pub(crate) fn elements(&mut self) -> &mut ElementsMut<'a, T> {
        &mut self.elements
    }
}

impl<'a, T: Element, S: DataMut<Elem = T>> From<&'a mut ArrayBase<S, Ix2>> for MatMut<'a, T> {
    fn from(array: &'a mut ArrayBase<S, Ix2>) -> Self {
        Self::of(ElementsMut::of_array(array.view_mut()))
    }
}

/// A vector is a matrix of one column.
impl<'a, T: Element, S: DataMut<Elem = T>> From<&'a mut ArrayBase<S, Ix1>> for MatMut<'a, T> {
    fn from(array: &'a mut ArrayBase<S, Ix1>) -> Self {
        Self::of(ElementsMut::of_array(array.view_mut().insert_axis(ndarray::Axis(1))))
    }
}
