use std::ops::Range;

use ndarray::{ArrayBase, Data, Ix1, Ix2};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::{ColumnStride, Columns, Dense, Element, Leading, Length, RowStride, Rows, Shape, expect};
use crate::{Error, linear::Scalar, raw::Elements};

/// Columns that a thread copies at a time: a cache line of each row, at least.
const BAND: usize = 64;
/// Elements below which one thread is as fast as all.
const SHARED: usize = 1 << 18;

/// A matrix to read: elements in memory behind two strides of any sign, conjugated or not, times a number.
///
/// Transposing, conjugating and scaling move nothing. Its value at (i, j) is `scale * conjugate?(memory[i * row_stride + j * column_stride])`.
///
/// ```
/// use tilewright_hybrid::{Columns, MatRef, Rows};
///
/// let a = MatRef::row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], Rows(2), Columns(3))?;
/// assert_eq!(a.t().scaled(10.0).at(Rows(2), Columns(1)), Some(60.0));
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    elements: Elements<'a, T>,
    conjugated: bool,
    scale: T,
}

impl<'a, T: Element> MatRef<'a, T> {
    pub(crate) fn of(elements: Elements<'a, T>) -> Self {
        Self { elements, conjugated: false, scale: T::ONE }
    }

    /// A slice that holds one row after the other. Another length than `rows * columns` is [`Error::Shape`].
    pub fn row_major(slice: &'a [T], rows: Rows, columns: Columns) -> Result<Self, Error> {
        let Length(length) = Shape::new(rows, columns).length::<T>()?;
        expect("a matrix", "length of the slice", length, slice.len())?;
        Self::row_major_leading(slice, rows, columns, Leading(columns.0))
    }

    /// A slice that holds one column after the other. Another length than `rows * columns` is [`Error::Shape`].
    pub fn column_major(slice: &'a [T], rows: Rows, columns: Columns) -> Result<Self, Error> {
        Ok(Self::row_major(slice, Rows(columns.0), Columns(rows.0))?.t())
    }

    /// Rows whose starts are `leading` elements apart. `leading` below `columns`, and a slice that ends too soon, are [`Error::Shape`].
    pub fn row_major_leading(
        slice: &'a [T],
        rows: Rows,
        columns: Columns,
        Leading(leading): Leading,
    ) -> Result<Self, Error> {
        let (operation, what) = ("a matrix", "leading dimension");
        if leading < columns.0 {
            return Err(Error::Shape { operation, what, expected: columns.0, got: leading });
        }
        let stride = isize::try_from(leading).map_err(|_| Shape::new(rows, columns).too_large::<T>())?;
        Self::strided(slice, Length(0), Shape::new(rows, columns), RowStride(stride), ColumnStride(1))
    }

    /// Columns whose starts are `leading` elements apart. `leading` below `rows`, and a slice that ends too soon, are [`Error::Shape`].
    pub fn column_major_leading(slice: &'a [T], rows: Rows, columns: Columns, leading: Leading) -> Result<Self, Error> {
        Ok(Self::row_major_leading(slice, Rows(columns.0), Columns(rows.0), leading)?.t())
    }

    /// Elements of a slice, that of row 0 and column 0 at `origin`. What reaches beyond the slice is [`Error::Shape`].
    pub fn strided(
        slice: &'a [T],
        Length(origin): Length,
        shape: Shape,
        RowStride(row_stride): RowStride,
        ColumnStride(column_stride): ColumnStride,
    ) -> Result<Self, Error> {
        let elements = Elements::new(slice, origin, shape, [row_stride, column_stride]);
        elements.map(Self::of).ok_or_else(|| too_short(slice.len(), shape, [row_stride, column_stride]))
    }

    /// A slice as a matrix of one column.
    pub fn column(slice: &'a [T]) -> Self {
        let shape = Shape::new(Rows(slice.len()), Columns(1));
        Self::of(Elements::new(slice, 0, shape, [1, 0]).unwrap_or_else(|| unreachable!("as long as the slice")))
    }

    /// The transposed matrix.
    #[must_use]
    pub fn t(self) -> Self {
        Self { elements: self.elements.transposed(), ..self }
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
        let (shape, operation) = (self.shape(), "a part of a matrix");
        let [rows, columns] = [rows.start.0..rows.end.0, columns.start.0..columns.end.0];
        if let Some(elements) = self.elements.part(rows.clone(), columns.clone()) {
            return Ok(Self { elements, ..self });
        }
        Err(match rows.start > rows.end || rows.end > shape.rows.0 {
            true => Error::Shape { operation, what: "end of the rows", expected: shape.rows.0, got: rows.end },
            false => {
                Error::Shape { operation, what: "end of the columns", expected: shape.columns.0, got: columns.end }
            }
        })
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

    /// Elements from a row, and from a column, to the next.
    pub fn strides(&self) -> (RowStride, ColumnStride) {
        let [rows, columns] = self.elements.strides();
        (RowStride(rows), ColumnStride(columns))
    }

    /// Whether elements are conjugated on the way.
    pub fn is_conjugated(&self) -> bool {
        self.conjugated
    }

    /// The number that each element is multiplied by.
    pub fn scale(&self) -> T {
        self.scale
    }

    /// The value at a place; `None` outside.
    pub fn at(&self, Rows(row): Rows, Columns(column): Columns) -> Option<T> {
        (row < self.rows() && column < self.columns()).then(|| self.value(self.elements.at(row, column)))
    }

    /// Whether elements of a row are nearer to one another than those of a column.
    pub(crate) fn lies_by_rows(&self) -> bool {
        let [row, column] = self.elements.strides().map(isize::unsigned_abs);
        column < row
    }

    pub(crate) fn elements(&self) -> Elements<'a, T> {
        self.elements
    }

    /// The same elements, times 1.
    pub(crate) fn unscaled(self) -> Self {
        Self { scale: T::ONE, ..self }
    }

    /// The values as they lie, where they stand column by column without gaps.
    pub(crate) fn as_columns(self) -> Option<&'a [T]> {
        self.elements.as_columns().filter(|_| !self.conjugated && self.scale == T::ONE)
    }

    fn value(&self, stored: T) -> T {
        let value = if self.conjugated { stored.conjugate() } else { stored };
        if self.scale == T::ONE { value } else { self.scale.times(value) }
    }

    /// A copy of the values, column by column; of many by all threads.
    pub(crate) fn to_dense(self) -> Result<Dense<T>, Error> {
        let mut dense = Dense::zeros(self.shape())?;
        self.copy_to(dense.values_mut());
        Ok(dense)
    }

    /// The values, column by column, to as many others; many by all threads.
    pub(crate) fn copy_to(self, values: &mut [T]) {
        match self.bands() {
            None => self.fill_columns(values),
            Some(bands) => {
                let parts: Vec<_> = bands.zip(values.chunks_mut(BAND * self.rows())).collect();
                parts.into_par_iter().for_each(|(band, values)| band.fill_columns(values));
            }
        }
    }

    /// The values column by column, by this thread.
    pub(crate) fn fill_columns(self, values: &mut [T]) {
        self.elements.each(|index, stored| values[index] = self.value(stored));
    }

    /// Parts of so many columns that threads may share; `None` where it is too small to be shared.
    pub(crate) fn bands(self) -> Option<impl Iterator<Item = Self>> {
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape();
        let part = move |left: usize| {
            let elements = self.elements.part(0..rows, left..columns.min(left + BAND));
            Self { elements: elements.unwrap_or_else(|| unreachable!("columns of its own")), ..self }
        };
        (rows.saturating_mul(columns) >= SHARED).then(|| (0..columns).step_by(BAND).map(part))
    }

    /// Goes through all values, with the index that each has when they are stored column by column.
    pub(crate) fn each(&self, mut visit: impl FnMut(usize, T)) {
        self.elements.each(|index, stored| visit(index, self.value(stored)));
    }

    /// The same, with row and column.
    pub(crate) fn each_at(&self, mut visit: impl FnMut(usize, usize, T)) {
        self.elements.each_at(|row, column, stored| visit(row, column, self.value(stored)));
    }
}

impl<T: Scalar> MatRef<'_, T> {
    /// Each element times a number.
    #[must_use]
    pub fn scaled(self, by: T) -> Self {
        Self { scale: by.times(self.scale), ..self }
    }
}

fn too_short(got: usize, shape: Shape, strides: [isize; 2]) -> Error {
    let last = |extent: usize, stride: isize| extent.saturating_sub(1).saturating_mul(stride.unsigned_abs());
    let reach = last(shape.rows.0, strides[0]).saturating_add(last(shape.columns.0, strides[1]));
    Error::Shape { operation: "a matrix", what: "length of the slice", expected: reach.saturating_add(1), got }
}

impl<'a, T: Element, S: Data<Elem = T>> From<&'a ArrayBase<S, Ix2>> for MatRef<'a, T> {
    fn from(array: &'a ArrayBase<S, Ix2>) -> Self {
        Self::of(Elements::of_array(array.view()))
    }
}

/// A vector is a matrix of one column.
impl<'a, T: Element, S: Data<Elem = T>> From<&'a ArrayBase<S, Ix1>> for MatRef<'a, T> {
    fn from(array: &'a ArrayBase<S, Ix1>) -> Self {
        Self::of(Elements::of_array(array.view().insert_axis(ndarray::Axis(1))))
    }
}
