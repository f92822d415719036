//! Cholesky's factor on the GPU.

use tilewright_driver::solver::Outcome;

use super::{DeviceMat, Gpu, lu::diagonal};
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::Dense;

#[derive(Debug)]
pub(crate) struct CholeskyFactors<T: Scalar> {
    factor: DeviceMat<T>,
}

impl<T: Scalar> CholeskyFactors<T> {
    /// For a matrix with elements; `Ok(Err(order))`: that leading minor is not positive.
    pub(crate) fn factor(gpu: &Gpu, a: &Dense<T>) -> Result<Result<Self, usize>, Error> {
        let mut factor = DeviceMat::upload(gpu, a.view())?;
        Ok(match gpu.solver()?.potrf(factor.matrix_mut()?)? {
            Outcome::Done => Ok(Self { factor }),
            Outcome::Stopped(order) => Err(order),
        })
    }

    pub(crate) fn diagonal(&self) -> Result<Vec<T>, Error> {
        diagonal(&self.factor)
    }

    pub(crate) fn download(&self) -> Result<Dense<T>, Error> {
        self.factor.download_dense()
    }

    pub(crate) fn solve(&self, right: Dense<T>) -> Result<Dense<T>, Error> {
        let gpu = self.factor.gpu();
        let mut solution = DeviceMat::upload(gpu, right.view())?;
        gpu.solver()?.potrs(self.factor.matrix()?, solution.matrix_mut()?)?;
        solution.download_dense()
    }
}
