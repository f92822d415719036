//! Cholesky's factor on the GPU.

use tilewright_driver::solver::Outcome;

use super::{DeviceMat, Gpu};
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::Dense;

#[derive(Debug)]
pub(crate) struct CholeskyFactors<T: Scalar> {
    factor: DeviceMat<T>,
}

impl<T: Scalar> CholeskyFactors<T> {
    /// In place of a matrix with elements; `Ok(Err(order))`: that leading minor is not positive.
    pub(crate) fn factor(mut factor: DeviceMat<T>) -> Result<Result<Self, usize>, Error> {
        factor.make_diagonal_real()?;
        let solver = factor.gpu().solver()?;
        Ok(match solver.potrf(factor.matrix_mut()?)? {
            Outcome::Done => Ok(Self { factor }),
            Outcome::Stopped(order) => Err(order),
        })
    }

    pub(crate) fn diagonal(&self) -> Result<Vec<T>, Error> {
        self.factor.diagonal()
    }

    pub(crate) fn download(&self) -> Result<Dense<T>, Error> {
        self.factor.download_dense()
    }

    /// L, with zeros above its diagonal.
    pub(crate) fn into_l(mut self) -> Result<DeviceMat<T>, Error> {
        self.factor.clear_above_diagonal()?;
        Ok(self.factor)
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        self.factor.gpu()
    }

    /// In place of the right-hand sides.
    pub(crate) fn solve(&self, mut right: DeviceMat<T>) -> Result<DeviceMat<T>, Error> {
        self.gpu().solver()?.potrs(self.factor.matrix()?, right.matrix_mut()?)?;
        Ok(right)
    }

    pub(crate) fn inverse(&self) -> Result<DeviceMat<T>, Error> {
        self.solve(DeviceMat::identity(self.gpu(), self.factor.shape().rows.0)?)
    }
}
