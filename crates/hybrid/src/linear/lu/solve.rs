use ndarray::Array2;

use super::{Lu, factor::Parts};
use crate::linear::{DeviceMat, Given, Made, Place, Scalar, cpu::Triangle};
use crate::matrix::{Dense, expect};
use crate::{Error, MatRef};

/// x with `a x = b`, for all columns of `b`.
///
/// Errors: [`Error::Singular`], [`Error::NotSquare`], [`Error::Shape`]. A matrix that is nearly singular gives a result;
/// [`Lu::reciprocal_condition`] says how much it is worth.
pub fn solve<T: Scalar>(place: &Place, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
    a.shape().square("solve")?;
    Lu::factor(place, a)?.solve(b)
}

/// Which of the equations of a matrix is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equation {
    /// `a x = b`
    Plain,
    /// `conjugate(transpose(a)) x = b`
    Adjoint,
}

impl<T: Scalar> Lu<T> {
    /// x with `a x = b`.
    pub fn solve(&self, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.solution(Given::Host(b)).and_then(Made::into_dense).map(Dense::into_array)
    }

    /// The same, where the factors are.
    pub(crate) fn solution(&self, b: Given<'_, T>) -> Result<Made<T>, Error> {
        self.solved(b, Equation::Plain)
    }

    /// The same of the adjoint.
    pub(crate) fn solution_of_adjoint(&self, b: Given<'_, T>) -> Result<Made<T>, Error> {
        self.solved(b, Equation::Adjoint)
    }

    /// x with `conjugate(transpose(a)) x = b`.
    pub fn solve_adjoint(&self, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.solution_of_adjoint(Given::Host(b)).and_then(Made::into_dense).map(Dense::into_array)
    }

    fn solved(&self, b: Given<'_, T>, equation: Equation) -> Result<Made<T>, Error> {
        let size = self.regular("solve")?;
        expect("solve", "rows of b", size, b.shape().rows.0)?;
        match &self.parts {
            _ if b.shape().is_empty() => Dense::zeros(b.shape()).map(Made::Host),
            Parts::Cpu(_) => self.solved_in(b.to_dense()?, equation).map(Made::Host),
            Parts::Gpu(factors) => factors.solve(b.on_gpu(factors.gpu())?, equation).map(Made::Gpu),
        }
    }

    /// For a regular matrix and as many rows as it has.
    pub(super) fn solved_in(&self, right: Dense<T>, equation: Equation) -> Result<Dense<T>, Error> {
        match (&self.parts, equation) {
            (Parts::Gpu(factors), _) => {
                let right = DeviceMat::upload(factors.gpu(), right.view())?;
                factors.solve(right, equation)?.download_dense()
            }
            (Parts::Cpu(factors), Equation::Plain) => {
                let mut solution = self.permuted(&right);
                let (matrix, mut view) = (factors.view().elements(), solution.view_mut());
                T::triangular_solve(Triangle::UnitLower, (matrix, false), view.elements());
                T::triangular_solve(Triangle::Upper, (matrix, false), view.elements());
                Ok(solution)
            }
            (Parts::Cpu(factors), Equation::Adjoint) => {
                let mut solution = right;
                let (matrix, mut view) = (factors.view().t().elements(), solution.view_mut());
                T::triangular_solve(Triangle::Lower, (matrix, true), view.elements());
                T::triangular_solve(Triangle::UnitUpper, (matrix, true), view.elements());
                Ok(self.permuted_back(&solution))
            }
        }
    }

    fn permuted(&self, right: &Dense<T>) -> Dense<T> {
        right.map(|row, column, _| right.at(self.permutation[row], column))
    }

    fn permuted_back(&self, right: &Dense<T>) -> Dense<T> {
        let mut back = vec![0; self.permutation.len()];
        self.permutation.iter().enumerate().for_each(|(to, from)| back[*from] = to);
        right.map(|row, column, _| right.at(back[row], column))
    }
}
