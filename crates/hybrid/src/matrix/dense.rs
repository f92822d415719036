use ndarray::{Array2, ShapeBuilder};

use super::{Columns, Element, MatMut, MatRef, Rows, Shape};
use crate::Error;
use crate::raw::in_large_pages;

/// A matrix that owns its elements, stored column by column without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Dense<T> {
    shape: Shape,
    values: Vec<T>,
}

impl<T: Element> Dense<T> {
    /// All elements 0. More than memory holds is [`Error::TooLarge`].
    pub(crate) fn zeros(shape: Shape) -> Result<Self, Error> {
        let length = shape.length::<T>()?.0;
        // Memory that the system hands out is zeros already.
        let mut values = bytemuck::allocation::try_zeroed_vec(length).map_err(|()| shape.too_large::<T>())?;
        in_large_pages(&mut values);
        Ok(Self { shape, values })
    }

    /// `rows * columns` zeros, by number.
    pub(crate) fn new(rows: usize, columns: usize) -> Result<Self, Error> {
        Self::zeros(Shape::new(Rows(rows), Columns(columns)))
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn rows(&self) -> usize {
        self.shape.rows.0
    }

    pub(crate) fn columns(&self) -> usize {
        self.shape.columns.0
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> T {
        self.values[column * self.rows() + row]
    }

    pub(crate) fn view(&self) -> MatRef<'_, T> {
        let Shape { rows, columns } = self.shape;
        MatRef::column_major(&self.values, rows, columns).unwrap_or_else(|_| unreachable!("its own shape"))
    }

    pub(crate) fn view_mut(&mut self) -> MatMut<'_, T> {
        let Shape { rows, columns } = self.shape;
        MatMut::column_major(&mut self.values, rows, columns).unwrap_or_else(|_| unreachable!("its own shape"))
    }

    /// Each element made anew, with its row and column.
    pub(crate) fn map<S: Element>(&self, mut value: impl FnMut(usize, usize, T) -> S) -> Dense<S> {
        let rows = self.rows().max(1);
        let values = self.values.iter().enumerate().map(|(at, old)| value(at % rows, at / rows, *old)).collect();
        Dense { shape: self.shape, values }
    }

    /// As an array of ndarray's, stored column by column.
    pub(crate) fn into_array(self) -> Array2<T> {
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape;
        Array2::from_shape_vec((rows, columns).f(), self.values).unwrap_or_else(|_| unreachable!("its own shape"))
    }
}
