//! Matrices in a device's memory, as rows are there ([`memory`](super::memory)).

use super::memory::{Along, below, copies, is_aligned};
use crate::raw::word::{Element, Vector};
use crate::registers::each;
use core::marker::PhantomData;
use tilewright_dims::{Dim, Meets, Merge, Point, Term, Union};

/// A matrix without gaps, rows along `R` of elements along `C`, to read.
///
/// What a block sees of it from its corner on, as many rows as its tile has times the stride, must be less than 2^31 elements; the
/// launcher refuses more.
pub struct Matrix<'a, T, R, C> {
    first: *const T,
    rows: i32,
    columns: i32,
    stride: i32,
    of: Along<'a, T, (R, C)>,
}

/// A matrix without gaps, to write. See [`RowMut`].
pub struct MatrixMut<'a, T, R, C>(Matrix<'a, T, R, C>);

/// The first `ROWS` rows and `COLUMNS` columns of a matrix, in aligned vectors of `V` elements along `C`, to read.
pub struct Panel<'a, T, R, C, const V: usize, const ROWS: i32, const COLUMNS: i32>(Matrix<'a, T, R, C>);

/// The same, to write.
pub struct PanelMut<'a, T, R, C, const V: usize, const ROWS: i32, const COLUMNS: i32>(
    Panel<'a, T, R, C, V, ROWS, COLUMNS>,
);

copies!(['a, T: Element, R: Dim, C: Dim, const V: usize, const ROWS: i32, const COLUMNS: i32]
    Panel<'a, T, R, C, V, ROWS, COLUMNS>);
copies!(['a, T: Element, R: Dim, C: Dim, const V: usize, const ROWS: i32, const COLUMNS: i32]
    PanelMut<'a, T, R, C, V, ROWS, COLUMNS>);
copies!(['a, T: Element, R: Dim, C: Dim] Matrix<'a, T, R, C>);
copies!(['a, T: Element, R: Dim, C: Dim] MatrixMut<'a, T, R, C>);

impl<'a, T: Element, R: Dim, C: Dim> Matrix<'a, T, R, C>
where
    (R, ()): Merge<(C, ())>,
{
    /// # Safety
    /// The address is good for reading `rows * columns` elements for `'a`.
    #[inline(always)]
    pub unsafe fn new(first: *const T, rows: i32, columns: i32) -> Self {
        Matrix { first, rows, columns, stride: columns, of: PhantomData }
    }

    /// How many rows there are.
    #[inline(always)]
    pub fn rows(self) -> R {
        R::new(self.rows)
    }

    /// How many columns there are.
    #[inline(always)]
    pub fn columns(self) -> C {
        C::new(self.columns)
    }

    /// The part from these coordinates on; dimensions that the matrix lacks are ignored, those that are missing are zero.
    #[inline(always)]
    pub fn corner(self, at: impl Term) -> Self {
        let (row, column) = place::<R, C>(at);
        let (row, column) = (row.max(0).min(self.rows), column.max(0).min(self.columns));
        let offset = row as i64 * self.stride as i64 + column as i64;
        // SAFETY: inside of the matrix, or at its end.
        let first = unsafe { self.first.offset(offset as isize) };
        Matrix { first, rows: self.rows - row, columns: self.columns - column, ..self }
    }

    /// The element at these coordinates, if there is one.
    #[inline(always)]
    pub fn get(self, at: impl Meets<Union<(R, ()), (C, ())>>) -> Option<T> {
        let (row, column) = place::<R, C>(at);
        self.element(row, column)
    }

    /// `V` elements of a row from these coordinates on, a multiple of `V`; zeros where there are none. They are one access where rows
    /// hold whole vectors and are aligned.
    #[inline(always)]
    pub fn vector<const V: usize>(self, at: impl Meets<Union<(R, ()), (C, ())>>) -> [T; V]
    where
        Vector<T, V>: Element,
    {
        let (row, column) = place::<R, C>(at);
        let whole = (self.columns | self.stride | column) & (V as i32 - 1) == 0;
        if !whole || !is_aligned::<T, Vector<T, V>>(self.first) {
            return each(|i| self.element(row, column + i as i32).unwrap_or_default());
        }
        if !self.contains(row, column) {
            return [T::default(); V];
        }
        // SAFETY: the first element is inside, so the vector is: columns are a multiple of `V`, and so is this one. It is aligned.
        unsafe { Vector::read(self.first.offset(self.offset(row, column)).cast()) }.0
    }

    /// The first `ROWS` rows and `COLUMNS` columns, if there are so many, and rows are of whole vectors of `V` elements that are aligned.
    #[inline(always)]
    pub fn panel<const V: usize, const ROWS: i32, const COLUMNS: i32>(
        self,
    ) -> Option<Panel<'a, T, R, C, V, ROWS, COLUMNS>>
    where
        Vector<T, V>: Element,
    {
        const { assert!(COLUMNS % V as i32 == 0, "a panel's rows are of whole vectors") };
        let enough = self.rows >= ROWS && self.columns >= COLUMNS;
        let aligned = self.stride & (V as i32 - 1) == 0 && is_aligned::<T, Vector<T, V>>(self.first);
        (enough && aligned).then_some(Panel(self))
    }

    #[inline(always)]
    fn element(self, row: i32, column: i32) -> Option<T> {
        // SAFETY: inside of the matrix.
        self.contains(row, column).then(|| unsafe { T::read(self.first.offset(self.offset(row, column))) })
    }

    #[inline(always)]
    fn contains(self, row: i32, column: i32) -> bool {
        below(row, self.rows) & below(column, self.columns)
    }

    #[inline(always)]
    fn offset(self, row: i32, column: i32) -> isize {
        (row * self.stride + column) as isize
    }
}

impl<'a, T: Element, R: Dim, C: Dim> MatrixMut<'a, T, R, C>
where
    (R, ()): Merge<(C, ())>,
{
    /// # Safety
    /// The address is good for reading and writing `rows * columns` elements for `'a`, and nothing but matrices made here accesses
    /// them.
    #[inline(always)]
    pub unsafe fn new(first: *mut T, rows: i32, columns: i32) -> Self {
        // SAFETY: as the caller promises.
        MatrixMut(unsafe { Matrix::new(first, rows, columns) })
    }

    /// [`Matrix::corner`].
    #[inline(always)]
    pub fn corner(self, at: impl Term) -> Self {
        MatrixMut(self.0.corner(at))
    }

    /// How many rows there are.
    #[inline(always)]
    pub fn rows(self) -> R {
        self.0.rows()
    }

    /// How many columns there are.
    #[inline(always)]
    pub fn columns(self) -> C {
        self.0.columns()
    }

    /// [`Matrix::panel`], to write.
    #[inline(always)]
    pub fn panel<const V: usize, const ROWS: i32, const COLUMNS: i32>(
        self,
    ) -> Option<PanelMut<'a, T, R, C, V, ROWS, COLUMNS>>
    where
        Vector<T, V>: Element,
    {
        self.0.panel().map(PanelMut)
    }

    /// Writes the element at these coordinates, if there is one.
    #[inline(always)]
    pub fn set(self, at: impl Meets<Union<(R, ()), (C, ())>>, value: T) {
        let (row, column) = place::<R, C>(at);
        if self.0.contains(row, column) {
            // SAFETY: inside of the matrix.
            unsafe { T::write(self.0.first.cast_mut().offset(self.0.offset(row, column)), value) }
        }
    }
}

impl<T: Element, R: Dim, C: Dim, const V: usize, const ROWS: i32, const COLUMNS: i32>
    Panel<'_, T, R, C, V, ROWS, COLUMNS>
where
    (R, ()): Merge<(C, ())>,
    Vector<T, V>: Element,
{
    /// The vector that begins at these coordinates; zeros where there is none.
    #[inline(always)]
    pub fn get(self, at: impl Meets<Union<(R, ()), (C, ())>>) -> [T; V] {
        match self.begin(at) {
            // SAFETY: inside of the panel, and aligned.
            Some(vector) => unsafe { Vector::read(vector) }.0,
            None => [T::default(); V],
        }
    }

    /// Where the vector at these coordinates begins, if there is one.
    #[inline(always)]
    fn begin(self, at: impl Meets<Union<(R, ()), (C, ())>>) -> Option<*mut Vector<T, V>> {
        let (row, column) = place::<R, C>(at);
        let inside = below(row, ROWS) & below(column, COLUMNS) & (column & (V as i32 - 1) == 0);
        // SAFETY: inside of the matrix.
        inside.then(|| unsafe { self.0.first.offset(self.0.offset(row, column)) }.cast_mut().cast())
    }
}

impl<T: Element, R: Dim, C: Dim, const V: usize, const ROWS: i32, const COLUMNS: i32>
    PanelMut<'_, T, R, C, V, ROWS, COLUMNS>
where
    (R, ()): Merge<(C, ())>,
    Vector<T, V>: Element,
{
    /// Writes the vector that begins at these coordinates, if there is one.
    #[inline(always)]
    pub fn set(self, at: impl Meets<Union<(R, ()), (C, ())>>, values: [T; V]) {
        if let Some(vector) = self.0.begin(at) {
            // SAFETY: inside of the panel, and aligned.
            unsafe { Vector::write(vector, Vector(values)) }
        }
    }
}

#[inline(always)]
fn place<R: Dim, C: Dim>(at: impl Term) -> (i32, i32) {
    let at = at.parts();
    (at.value::<R>(), at.value::<C>())
}
