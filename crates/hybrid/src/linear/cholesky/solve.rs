use ndarray::Array2;

use super::{Cholesky, factor::Parts};
use crate::linear::{DeviceMat, Scalar, cpu::Triangle};
use crate::matrix::{Dense, expect};
use crate::{Error, MatRef};

impl<T: Scalar> Cholesky<T> {
    /// x with `a x = b`, for all columns of `b`.
    pub fn solve(&self, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        expect("solve", "rows of b", self.size, b.rows())?;
        let right = b.to_dense()?;
        if b.shape().is_empty() {
            return Ok(right.into_array());
        }
        self.solved_in(right).map(Dense::into_array)
    }

    /// The inverse of the matrix that was factored.
    pub fn inverse(&self) -> Result<Array2<T>, Error> {
        let identity = Dense::new(self.size, self.size)?.map(|i, j, _: T| if i == j { T::ONE } else { T::ZERO });
        if self.size == 0 {
            return Ok(identity.into_array());
        }
        self.solved_in(identity).map(Dense::into_array)
    }

    fn solved_in(&self, mut right: Dense<T>) -> Result<Dense<T>, Error> {
        let factor = match &self.parts {
            Parts::Gpu(factor) => {
                return factor.solve(DeviceMat::upload(factor.gpu(), right.view())?)?.download_dense();
            }
            Parts::Cpu(factor) => factor,
        };
        let (lower, upper) = (factor.view().elements(), factor.view().t().elements());
        let mut view = right.view_mut();
        T::triangular_solve(Triangle::Lower, (lower, false), view.elements());
        T::triangular_solve(Triangle::Upper, (upper, true), view.elements());
        Ok(right)
    }
}
