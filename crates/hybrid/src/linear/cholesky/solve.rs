use ndarray::Array2;

use super::{Cholesky, factor::Parts};
use crate::linear::{Given, Made, Scalar, cpu::Triangle};
use crate::matrix::{Columns, Dense, Rows, Shape, expect};
use crate::{Error, MatRef};

impl<T: Scalar> Cholesky<T> {
    /// x with `a x = b`, for all columns of `b`.
    pub fn solve(&self, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.solution(Given::Host(b)).and_then(Made::into_dense).map(Dense::into_array)
    }

    /// The inverse of the matrix that was factored.
    pub fn inverse(&self) -> Result<Array2<T>, Error> {
        self.inverted().and_then(Made::into_dense).map(Dense::into_array)
    }

    /// A solution where the factor is.
    pub(crate) fn solution(&self, b: Given<'_, T>) -> Result<Made<T>, Error> {
        expect("solve", "rows of b", self.size, b.shape().rows.0)?;
        match &self.parts {
            _ if b.shape().is_empty() => Dense::zeros(b.shape()).map(Made::Host),
            Parts::Cpu(factor) => b.to_dense().map(|right| Made::Host(solved(factor, right))),
            Parts::Gpu(factor) => factor.solve(b.on_gpu(factor.gpu())?).map(Made::Gpu),
        }
    }

    /// The inverse where the factor is.
    pub(crate) fn inverted(&self) -> Result<Made<T>, Error> {
        match &self.parts {
            Parts::Gpu(factor) => factor.inverse().map(Made::Gpu),
            Parts::Cpu(_) if self.size == 0 => Dense::zeros(Shape::new(Rows(0), Columns(0))).map(Made::Host),
            Parts::Cpu(factor) => {
                let identity =
                    Dense::new(self.size, self.size)?.map(|i, j, _: T| if i == j { T::ONE } else { T::ZERO });
                Ok(Made::Host(solved(factor, identity)))
            }
        }
    }
}

fn solved<T: Scalar>(factor: &Dense<T>, mut right: Dense<T>) -> Dense<T> {
    let (lower, upper) = (factor.view().elements(), factor.view().t().elements());
    let mut view = right.view_mut();
    T::triangular_solve(Triangle::Lower, (lower, false), view.elements());
    T::triangular_solve(Triangle::Upper, (upper, true), view.elements());
    right
}
