//! Matrices in memory of every kind: around the elements of a matrix stand others, which are NaN.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use tilewright_hybrid::linear::Scalar;
use tilewright_hybrid::{Complex64, MatRef};

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Rows,
    Columns,
    RowWindow,
    ColumnWindow,
    Scattered,
    Reversed,
}

pub(super) const LAYOUTS: [Layout; 6] =
    [Layout::Rows, Layout::Columns, Layout::RowWindow, Layout::ColumnWindow, Layout::Scattered, Layout::Reversed];

/// Memory with a matrix in it.
pub(super) struct Stored<T> {
    layout: Layout,
    memory: Array2<T>,
    dim: (usize, usize),
}

impl<T: Scalar> Stored<T> {
    pub(super) fn new(layout: Layout, values: &Array2<T>) -> Self {
        let (rows, columns) = values.dim();
        let nan = T::nearest(Complex64::new(f64::NAN, f64::NAN));
        let memory = match layout {
            Layout::Rows => Array2::from_elem((rows, columns), nan),
            Layout::Columns => Array2::from_elem((rows, columns).f(), nan),
            Layout::RowWindow | Layout::Reversed => Array2::from_elem((rows + 2, columns + 3), nan),
            Layout::ColumnWindow => Array2::from_elem((rows + 2, columns + 3).f(), nan),
            Layout::Scattered => Array2::from_elem((2 * rows + 1, 3 * columns + 1), nan),
        };
        let mut stored = Self { layout, memory, dim: (rows, columns) };
        stored.view_mut().assign(values);
        stored
    }

    pub(super) fn view(&self) -> ArrayView2<'_, T> {
        let (rows, columns) = self.dim;
        match self.layout {
            Layout::Rows | Layout::Columns => self.memory.view(),
            Layout::RowWindow | Layout::ColumnWindow => self.memory.slice(s![1..rows + 1, 2..columns + 2]),
            Layout::Scattered => self.memory.slice(s![1..2 * rows + 1;2, ..3 * columns;3]),
            Layout::Reversed => {
                let mut view = self.memory.slice(s![..rows, 1..columns + 1]);
                view.invert_axis(Axis(0));
                view.invert_axis(Axis(1));
                view
            }
        }
    }

    pub(super) fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        let (rows, columns) = self.dim;
        match self.layout {
            Layout::Rows | Layout::Columns => self.memory.view_mut(),
            Layout::RowWindow | Layout::ColumnWindow => self.memory.slice_mut(s![1..rows + 1, 2..columns + 2]),
            Layout::Scattered => self.memory.slice_mut(s![1..2 * rows + 1;2, ..3 * columns;3]),
            Layout::Reversed => {
                let mut view = self.memory.slice_mut(s![..rows, 1..columns + 1]);
                view.invert_axis(Axis(0));
                view.invert_axis(Axis(1));
                view
            }
        }
    }

    /// Whether what lies around the matrix is as it was.
    pub(super) fn is_intact_around(&mut self) -> bool {
        self.view_mut().fill(T::ZERO);
        let inside = self.dim.0 * self.dim.1;
        self.memory.iter().filter(|x| x.modulus().is_nan()).count() == self.memory.len() - inside
    }
}

/// What is done to a matrix on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Transposed,
    Adjoint,
    Conjugate,
}

pub(super) const FORMS: [Form; 4] = [Form::Plain, Form::Transposed, Form::Adjoint, Form::Conjugate];

impl Form {
    /// The matrix whose form is `values`.
    pub(super) fn undone<T: Scalar>(self, values: &Array2<T>) -> Array2<T> {
        match self {
            Self::Plain => values.clone(),
            Self::Transposed => values.t().to_owned(),
            Self::Adjoint => super::reference::adjoint(values),
            Self::Conjugate => values.mapv(|x| x.conjugate()),
        }
    }

    pub(super) fn of<T: Scalar>(self, a: MatRef<'_, T>) -> MatRef<'_, T> {
        match self {
            Self::Plain => a,
            Self::Transposed => a.t(),
            Self::Adjoint => a.h(),
            Self::Conjugate => a.conj(),
        }
    }
}
