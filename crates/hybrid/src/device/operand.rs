//! Operands, wherever they lie.

use super::stored::{Kept, Stored};
use crate::linear::{DeviceMat, DeviceRef};
use crate::matrix::{Columns, Element, Rows, Shape};
use crate::store::{self, Sink, Source};
use crate::stream::Factor;
use crate::{MatMut, MatRef};
use ndarray::{ArrayBase, Data, DataMut, Ix1, Ix2};

/// An operand of an operation of a [`Device`](crate::Device): a matrix in host memory, one on a GPU, one that is stored (in a file, in
/// page-locked memory), or one that is zero off its diagonal.
///
/// Arrays, views ([`MatRef`]), matrices on a GPU ([`DeviceMat`], [`DeviceRef`]), sources ([`Source`]) and stored factors ([`Factor`]) become
/// operands by `into()`. A source is read when the result is computed, as often as that takes, and may be larger than memory. Zeros off a
/// diagonal are not there: they meet no NaN and no infinity of the other operand.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T: Element>(pub(super) Form<'a, T>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'a, T: Element> {
    Host(MatRef<'a, T>),
    Gpu(DeviceRef<'a, T>),
    Stored(Stored<'a>),
    Diagonal(Diagonal<'a, T>),
}

/// A square matrix by its diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Diagonal<'a, T> {
    Ones(usize),
    Of(&'a [T]),
}

impl<T: Element> Diagonal<'_, T> {
    pub(super) fn side(&self) -> usize {
        match self {
            Diagonal::Ones(side) => *side,
            Diagonal::Of(values) => values.len(),
        }
    }

    /// Bytes of its values; the identity has none.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Diagonal::Ones(_) => 0,
            Diagonal::Of(values) => size_of_val(*values) as u64,
        }
    }

    pub(super) fn at(&self, index: usize) -> T {
        match self {
            Diagonal::Ones(_) => T::ONE,
            Diagonal::Of(values) => values[index],
        }
    }
}

impl<'a, T: Element> Operand<'a, T> {
    /// The square matrix with these numbers on its diagonal.
    pub fn diagonal(values: &'a [T]) -> Self {
        Operand(Form::Diagonal(Diagonal::Of(values)))
    }

    /// The identity of so many rows.
    pub fn identity(Rows(rows): Rows) -> Self {
        Operand(Form::Diagonal(Diagonal::Ones(rows)))
    }

    /// The transposed matrix.
    #[must_use]
    pub fn t(self) -> Self {
        Operand(match self.0 {
            Form::Host(matrix) => Form::Host(matrix.t()),
            Form::Gpu(matrix) => Form::Gpu(matrix.t()),
            Form::Stored(matrix) => Form::Stored(matrix.t()),
            Form::Diagonal(diagonal) => Form::Diagonal(diagonal),
        })
    }

    /// Whether a GPU reads it transposed as well as it is.
    pub(super) fn is_read_either_way(&self) -> bool {
        match &self.0 {
            Form::Host(_) | Form::Stored(_) => true,
            Form::Gpu(matrix) => !matrix.is_conjugated(),
            Form::Diagonal(_) => false,
        }
    }

    /// Whether it lies row by row, and not column by column.
    pub(super) fn lies_by_rows(&self) -> bool {
        match &self.0 {
            Form::Host(matrix) => matrix.lies_by_rows(),
            Form::Gpu(matrix) => matrix.is_transposed(),
            Form::Stored(matrix) => !matrix.transposed,
            Form::Diagonal(_) => false,
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Form::Host(matrix) => matrix.shape(),
            Form::Gpu(matrix) => matrix.shape(),
            Form::Stored(matrix) => matrix.shape(),
            Form::Diagonal(diagonal) => Shape::new(Rows(diagonal.side()), Columns(diagonal.side())),
        }
    }
}

impl<'a, T: Element + store::Stored> Operand<'a, T> {
    /// The same; where it is stored in page-locked memory, as a matrix there.
    pub(super) fn in_memory(self) -> Self {
        match self.0 {
            Form::Stored(stored) => stored.lying().map_or(self, Operand::from),
            Form::Host(_) | Form::Gpu(_) | Form::Diagonal(_) => self,
        }
    }
}

impl<'a, T: Element> From<MatRef<'a, T>> for Operand<'a, T> {
    fn from(matrix: MatRef<'a, T>) -> Self {
        Operand(Form::Host(matrix))
    }
}

impl<'a, T: Element> From<&MatRef<'a, T>> for Operand<'a, T> {
    fn from(matrix: &MatRef<'a, T>) -> Self {
        (*matrix).into()
    }
}

impl<'a, T: Element, S: Data<Elem = T>> From<&'a ArrayBase<S, Ix2>> for Operand<'a, T> {
    fn from(array: &'a ArrayBase<S, Ix2>) -> Self {
        MatRef::from(array).into()
    }
}

/// A vector is a matrix of one column.
impl<'a, T: Element, S: Data<Elem = T>> From<&'a ArrayBase<S, Ix1>> for Operand<'a, T> {
    fn from(array: &'a ArrayBase<S, Ix1>) -> Self {
        MatRef::from(array).into()
    }
}

impl<'a, T: Element> From<DeviceRef<'a, T>> for Operand<'a, T> {
    fn from(matrix: DeviceRef<'a, T>) -> Self {
        Operand(Form::Gpu(matrix))
    }
}

impl<'a, T: Element> From<&'a DeviceMat<T>> for Operand<'a, T> {
    fn from(matrix: &'a DeviceMat<T>) -> Self {
        matrix.view().into()
    }
}

impl<'a, T: Element> From<Factor<'a>> for Operand<'a, T> {
    fn from(factor: Factor<'a>) -> Self {
        Operand(Form::Stored(Stored::of(factor)))
    }
}

impl<'a, T: Element, S: Source> From<&'a S> for Operand<'a, T> {
    fn from(source: &'a S) -> Self {
        Factor::plain(source).into()
    }
}

/// Where a result goes: a matrix in host memory, one on a GPU, where it stays, or a sink: a file, a sharded array, page-locked memory. Made
/// by `into()`.
///
/// A sink is committed when the result is whole, and otherwise leaves what was there before.
#[derive(Debug)]
pub struct Target<'a, T: Element>(pub(super) Goal<'a, T>);

#[derive(Debug)]
pub(super) enum Goal<'a, T: Element> {
    Host(MatMut<'a, T>),
    /// Memory that nobody sees before the result is whole.
    New(MatMut<'a, T>),
    Gpu(&'a mut DeviceMat<T>),
    Stored(Kept<'a>),
}

impl<'a, T: Element> Target<'a, T> {
    /// A sink that gets the product and, times `beta`, what a source has: `sink = alpha * a * b + beta * source`.
    pub fn updating(source: &'a dyn Source, sink: impl Sink + 'a) -> Self {
        Target(Goal::Stored(Kept { sink: Some(Box::new(sink)), added: Some(source) }))
    }

    /// Whether it lies row by row, and not column by column.
    pub(super) fn lies_by_rows(&self) -> bool {
        match &self.0 {
            Goal::Host(matrix) | Goal::New(matrix) => matrix.read().lies_by_rows(),
            Goal::Gpu(_) => false,
            Goal::Stored(_) => true,
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Goal::Host(matrix) | Goal::New(matrix) => matrix.shape(),
            Goal::Gpu(matrix) => matrix.shape(),
            Goal::Stored(kept) => kept.shape(),
        }
    }
}

impl<'a, T: Element> From<MatMut<'a, T>> for Target<'a, T> {
    fn from(matrix: MatMut<'a, T>) -> Self {
        Target(Goal::Host(matrix))
    }
}

impl<'a, T: Element> From<&'a mut MatMut<'_, T>> for Target<'a, T> {
    fn from(matrix: &'a mut MatMut<'_, T>) -> Self {
        matrix.reborrow().into()
    }
}

impl<'a, T: Element, S: DataMut<Elem = T>> From<&'a mut ArrayBase<S, Ix2>> for Target<'a, T> {
    fn from(array: &'a mut ArrayBase<S, Ix2>) -> Self {
        MatMut::from(array).into()
    }
}

/// A vector is a matrix of one column.
impl<'a, T: Element, S: DataMut<Elem = T>> From<&'a mut ArrayBase<S, Ix1>> for Target<'a, T> {
    fn from(array: &'a mut ArrayBase<S, Ix1>) -> Self {
        MatMut::from(array).into()
    }
}

impl<'a, T: Element> From<&'a mut DeviceMat<T>> for Target<'a, T> {
    fn from(matrix: &'a mut DeviceMat<T>) -> Self {
        Target(Goal::Gpu(matrix))
    }
}

impl<'a, T: Element, S: Sink + 'a> From<S> for Target<'a, T> {
    fn from(sink: S) -> Self {
        Target(Goal::Stored(Kept { sink: Some(Box::new(sink)), added: None }))
    }
}
