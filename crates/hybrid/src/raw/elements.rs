//! Elements at `start + i * row_stride + j * column_stride`, `i` below `rows`, `j` below `columns`.
//!
//! What makes an access sound is checked when the elements are made: all of these addresses lie in one borrowed slice, or the caller of an
//! unsafe constructor vouched for them. So no product of an index and a stride wraps.

use std::{marker::PhantomData, ops::Range};

use ndarray::{ArrayView2, ArrayViewMut2};

use crate::matrix::{Columns, Element, Rows, Shape};
use crate::{ColumnStride, Error, MatMut, MatRef, RowStride};

/// Side of the squares that a copy goes through, so that both sides stay in the cache.
const TILE: usize = 32;

/// Elements to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a, T> {
    start: *const T,
    shape: Shape,
    row_stride: isize,
    column_stride: isize,
    life: PhantomData<&'a [T]>,
}

/// Elements to read and to write; no two of them are at one address.
#[derive(Debug)]
pub(crate) struct ElementsMut<'a, T> {
    start: *mut T,
    shape: Shape,
    row_stride: isize,
    column_stride: isize,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: a shared borrow of elements, which may be shared where they may.
unsafe impl<T: Sync> Send for Elements<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Elements<'_, T> {}
// SAFETY: an exclusive borrow of elements, which may be sent where they may.
unsafe impl<T: Send> Send for ElementsMut<'_, T> {}
// SAFETY: a shared reference to this gives out copies of elements alone.
unsafe impl<T: Sync> Sync for ElementsMut<'_, T> {}

/// The lowest and the highest offset of an element from the first, in elements; `None` where an offset has no number.
fn reach(shape: Shape, row_stride: isize, column_stride: isize) -> Option<(isize, isize)> {
    let last = |extent: usize, stride: isize| isize::try_from(extent.checked_sub(1)?).ok()?.checked_mul(stride);
    let ends = [last(shape.rows.0, row_stride)?, last(shape.columns.0, column_stride)?];
    let sum = |pick: fn(isize, isize) -> isize| pick(ends[0], 0).checked_add(pick(ends[1], 0));
    Some((sum(isize::min)?, sum(isize::max)?))
}

/// Whether all elements lie in `length` elements, the first of them at `origin`.
fn fits(length: usize, origin: usize, shape: Shape, row_stride: isize, column_stride: isize) -> bool {
    if shape.is_empty() {
        return true;
    }
    let (Some((low, high)), Ok(origin)) = (reach(shape, row_stride, column_stride), isize::try_from(origin)) else {
        return false;
    };
    let inside = |offset: isize| origin.checked_add(offset).is_some_and(|at| at >= 0 && (at as usize) < length);
    inside(low) && inside(high)
}

impl<'a, T: Element> Elements<'a, T> {
    /// Elements of a slice, the first at `origin`; `None` where they reach beyond it.
    pub(crate) fn new(slice: &'a [T], origin: usize, shape: Shape, strides: [isize; 2]) -> Option<Self> {
        let [row_stride, column_stride] = strides;
        fits(slice.len(), origin, shape, row_stride, column_stride).then(|| Self {
            start: slice.as_ptr().wrapping_add(origin),
            shape,
            row_stride,
            column_stride,
            life: PhantomData,
        })
    }

    pub(crate) fn of_array(view: ArrayView2<'a, T>) -> Self {
        let (rows, columns) = view.dim();
        let &[row_stride, column_stride] = view.strides() else { unreachable!("two dimensions") };
        let shape = Shape::new(Rows(rows), Columns(columns));
        Self { start: view.as_ptr(), shape, row_stride, column_stride, life: PhantomData }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn strides(&self) -> [isize; 2] {
        [self.row_stride, self.column_stride]
    }

    pub(crate) fn transposed(self) -> Self {
        let (row_stride, column_stride) = (self.column_stride, self.row_stride);
        Self { shape: self.shape.transposed(), row_stride, column_stride, ..self }
    }

    /// The part with these rows and columns; `None` where it reaches beyond the whole.
    pub(crate) fn part(self, rows: Range<usize>, columns: Range<usize>) -> Option<Self> {
        let inside = |range: &Range<usize>, extent| range.start <= range.end && range.end <= extent;
        if !inside(&rows, self.shape.rows.0) || !inside(&columns, self.shape.columns.0) {
            return None;
        }
        let shape = Shape::new(Rows(rows.len()), Columns(columns.len()));
        let start = if shape.is_empty() { self.start } else { self.address(rows.start, columns.start) };
        Some(Self { start, shape, ..self })
    }

    /// The same elements as far as they go, without a borrow that could end.
    pub(crate) fn overlap_range(&self) -> Option<Range<usize>> {
        if self.shape.is_empty() {
            return None;
        }
        let (low, high) = reach(self.shape, self.row_stride, self.column_stride)?;
        let at = |offset: isize| self.start.wrapping_offset(offset) as usize;
        Some(at(low)..at(high) + size_of::<T>())
    }

    fn address(&self, row: usize, column: usize) -> *const T {
        self.start.wrapping_offset(row as isize * self.row_stride + column as isize * self.column_stride)
    }

    /// The element in memory, neither conjugated nor scaled.
    #[inline]
    pub(crate) fn at(&self, row: usize, column: usize) -> T {
        assert!(row < self.shape.rows.0 && column < self.shape.columns.0, "inside the matrix");
        // SAFETY: both indices are below their extents, so the address is one of those that were checked.
        unsafe { *self.address(row, column) }
    }

    /// Goes through all elements, in squares, with the index that each has when they are stored column by column.
    #[inline]
    pub(crate) fn each(&self, mut visit: impl FnMut(usize, T)) {
        let rows = self.shape.rows.0;
        self.each_at(|row, column, stored| visit(column * rows + row, stored));
    }

    /// The same, with row and column.
    #[inline]
    pub(crate) fn each_at(&self, mut visit: impl FnMut(usize, usize, T)) {
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape;
        for left in (0..columns).step_by(TILE) {
            for top in (0..rows).step_by(TILE) {
                for column in left..columns.min(left + TILE) {
                    for row in top..rows.min(top + TILE) {
                        // SAFETY: both indices are below their extents.
                        visit(row, column, unsafe { *self.address(row, column) });
                    }
                }
            }
        }
    }

    /// All elements as a slice, where they stand column by column without gaps.
    pub(crate) fn as_columns(&self) -> Option<&'a [T]> {
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape;
        let dense = are_columns(self.shape, [self.row_stride, self.column_stride]);
        // SAFETY: these are the addresses of the elements, all of them, one after the other.
        dense.then(|| unsafe { std::slice::from_raw_parts(self.start, rows * columns) })
    }

    /// As a matrix of faer's.
    pub(crate) fn faer(&self) -> faer::MatRef<'a, T> {
        let Shape { rows, columns } = self.shape;
        // SAFETY: all addresses were checked, and are borrowed for 'a.
        unsafe { faer::MatRef::from_raw_parts(self.start, rows.0, columns.0, self.row_stride, self.column_stride) }
    }
}

impl<'a, T: Element> ElementsMut<'a, T> {
    /// Elements of a slice, the first at `origin`; `None` where they reach beyond it, or where two could be at one address.
    pub(crate) fn new(slice: &'a mut [T], origin: usize, shape: Shape, strides: [isize; 2]) -> Option<Self> {
        let [row_stride, column_stride] = strides;
        let inside = fits(slice.len(), origin, shape, row_stride, column_stride);
        (inside && is_injective(shape, row_stride, column_stride)).then(|| Self {
            start: slice.as_mut_ptr().wrapping_add(origin),
            shape,
            row_stride,
            column_stride,
            life: PhantomData,
        })
    }

    pub(crate) fn of_array(mut view: ArrayViewMut2<'a, T>) -> Self {
        let (rows, columns) = view.dim();
        let &[row_stride, column_stride] = view.strides() else { unreachable!("two dimensions") };
        let shape = Shape::new(Rows(rows), Columns(columns));
        Self { start: view.as_mut_ptr(), shape, row_stride, column_stride, life: PhantomData }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn transposed(self) -> Self {
        let (row_stride, column_stride) = (self.column_stride, self.row_stride);
        Self { shape: self.shape.transposed(), row_stride, column_stride, ..self }
    }

    pub(crate) fn reborrow(&mut self) -> ElementsMut<'_, T> {
        let Self { start, shape, row_stride, column_stride, .. } = *self;
        ElementsMut { start, shape, row_stride, column_stride, life: PhantomData }
    }

    /// To read meanwhile.
    pub(crate) fn read(&self) -> Elements<'_, T> {
        let Self { start, shape, row_stride, column_stride, .. } = *self;
        Elements { start, shape, row_stride, column_stride, life: PhantomData }
    }

    /// The part with these rows and columns; `None` where it reaches beyond the whole.
    pub(crate) fn part(self, rows: Range<usize>, columns: Range<usize>) -> Option<Self> {
        let part = self.read().part(rows, columns)?;
        let (start, shape) = (part.start.cast_mut(), part.shape);
        Some(Self { start, shape, ..self })
    }

    /// Puts `next(index, element)` in place of each element, with the index that it has when they are stored column by column.
    #[inline]
    pub(crate) fn update(&mut self, mut next: impl FnMut(usize, T) -> T) {
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape;
        for left in (0..columns).step_by(TILE) {
            for top in (0..rows).step_by(TILE) {
                for column in left..columns.min(left + TILE) {
                    for row in top..rows.min(top + TILE) {
                        let address = self.read().address(row, column).cast_mut();
                        // SAFETY: both indices are below their extents; the borrow is exclusive.
                        unsafe { *address = next(column * rows + row, *address) };
                    }
                }
            }
        }
    }

    /// As [`update`](Self::update), where nothing is read: what is there may be anything.
    #[inline]
    pub(crate) fn fill(&mut self, mut value: impl FnMut(usize) -> T) {
        self.update(|index, _| value(index));
    }

    /// All elements as a slice, where they stand column by column without gaps.
    pub(crate) fn as_columns(&mut self) -> Option<&mut [T]> {
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape;
        let dense = are_columns(self.shape, [self.row_stride, self.column_stride]);
        // SAFETY: these are the addresses of the elements, all of them, one after the other, and they are borrowed exclusively.
        dense.then(|| unsafe { std::slice::from_raw_parts_mut(self.start, rows * columns) })
    }

    /// As a matrix of faer's.
    pub(crate) fn faer(&mut self) -> faer::MatMut<'_, T> {
        let Shape { rows, columns } = self.shape;
        // SAFETY: all addresses were checked, no two are the same, and they are borrowed exclusively.
        unsafe { faer::MatMut::from_raw_parts_mut(self.start, rows.0, columns.0, self.row_stride, self.column_stride) }
    }
}

/// Whether elements with these strides stand column by column without gaps. None do not: they have no address.
fn are_columns(shape: Shape, [row_stride, column_stride]: [isize; 2]) -> bool {
    let Shape { rows: Rows(rows), columns: Columns(columns) } = shape;
    !shape.is_empty() && (row_stride == 1 || rows <= 1) && (column_stride == rows as isize || columns <= 1)
}

/// Whether the outer of two strides steps over all that the inner reaches, so that no two elements are at one address.
fn is_injective(shape: Shape, row_stride: isize, column_stride: isize) -> bool {
    let axes = [(shape.rows.0, row_stride.unsigned_abs()), (shape.columns.0, column_stride.unsigned_abs())];
    let [inner, outer] = if axes[0].1 <= axes[1].1 { axes } else { [axes[1], axes[0]] };
    match (inner.0, outer.0) {
        (0 | 1, 0 | 1) | (0, _) | (_, 0) => true,
        (_, 1) => inner.1 > 0,
        (1, _) => outer.1 > 0,
        (extent, _) => inner.1 > 0 && (extent - 1).checked_mul(inner.1).is_some_and(|reach| outer.1 > reach),
    }
}

impl<'a, T: Element> MatRef<'a, T> {
    /// A view of elements behind an address, which may be part of anything.
    ///
    /// # Safety
    /// Every element `start + i * row_stride + j * column_stride` is readable for `'a`, lies in the same allocation as `start`, and is
    /// written by nobody meanwhile, other than through a [`MatMut`] that the same call is given and refuses.
    pub unsafe fn from_raw(start: *const T, shape: Shape, row_stride: RowStride, column_stride: ColumnStride) -> Self {
        let (RowStride(row_stride), ColumnStride(column_stride)) = (row_stride, column_stride);
        Self::of(Elements { start, shape, row_stride, column_stride, life: PhantomData })
    }
}

impl<'a, T: Element> MatMut<'a, T> {
    /// A view of elements behind an address, which may be part of anything. Strides by which two elements could be at one address are
    /// [`Error::Aliased`].
    ///
    /// # Safety
    /// Every element `start + i * row_stride + j * column_stride` is readable and writable for `'a`, lies in the same allocation as `start`,
    /// and is used by nobody else meanwhile, other than through a [`MatRef`] that the same call is given and refuses.
    pub unsafe fn from_raw(
        start: *mut T,
        shape: Shape,
        row_stride: RowStride,
        column_stride: ColumnStride,
    ) -> Result<Self, Error> {
        let (RowStride(row_stride), ColumnStride(column_stride)) = (row_stride, column_stride);
        if !is_injective(shape, row_stride, column_stride) {
            return Err(Error::Aliased { operation: "a matrix to write", operand: "itself" });
        }
        Ok(Self::of(ElementsMut { start, shape, row_stride, column_stride, life: PhantomData }))
    }
}
