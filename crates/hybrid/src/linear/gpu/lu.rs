//! LU factors on the GPU.

use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::Operation;

use super::{DeviceMat, Gpu};
use crate::Error;
use crate::linear::{Scalar, lu::Equation};
use crate::matrix::{Dense, Shape};

#[derive(Debug)]
pub(crate) struct LuFactors<T: Scalar> {
    factors: DeviceMat<T>,
    pivots: DeviceBuffer<i64>,
}

impl<T: Scalar> LuFactors<T> {
    /// In place of a matrix with elements, and what another thread finds out while the GPU computes. Pivots that are 0 are found on the diagonal.
    pub(crate) fn factor<F: Send>(
        mut factors: DeviceMat<T>,
        meanwhile: impl FnOnce() -> F + Send,
    ) -> Result<(Self, F), Error> {
        let (gpu, Shape { rows, columns }) = (factors.gpu().clone(), factors.shape());
        let mut pivots = gpu.stream().alloc(rows.0.min(columns.0))?;
        let mut found = None;
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| found = Some(meanwhile()));
            gpu.solver()?.getrf(factors.matrix_mut()?, &mut pivots)?;
            Ok::<_, Error>(gpu.stream().synchronize()?)
        })?;
        let found = found.unwrap_or_else(|| unreachable!("a scope waits for its threads"));
        Ok((Self { factors, pivots }, found))
    }

    /// NaN throughout, without exchanges: those that cuSOLVER chose among NaN may lie anywhere, and it solves with them unchecked.
    pub(crate) fn fill_with_nan(&mut self) -> Result<(), Error> {
        self.factors.fill_with_nan()?;
        let none: Vec<i64> = (1..).take(self.pivots.len()).collect();
        self.pivots = self.gpu().stream().upload(&none)?;
        Ok(())
    }

    /// Exchanges of rows, one after the other, as a permutation.
    pub(crate) fn permutation(&self) -> Result<Vec<usize>, Error> {
        let mut permutation: Vec<usize> = (0..self.factors.shape().rows.0).collect();
        for (row, other) in self.pivots.to_vec()?.into_iter().enumerate() {
            let other = usize::try_from(other).unwrap_or(0).saturating_sub(1);
            if other < permutation.len() {
                permutation.swap(row, other);
            }
        }
        Ok(permutation)
    }

    pub(crate) fn diagonal(&self) -> Result<Vec<T>, Error> {
        self.factors.diagonal()
    }

    pub(crate) fn download(&self) -> Result<Dense<T>, Error> {
        self.factors.download_dense()
    }

    pub(crate) fn into_factors(self) -> DeviceMat<T> {
        self.factors
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        self.factors.gpu()
    }

    /// In place of the right-hand sides.
    pub(crate) fn solve(&self, mut right: DeviceMat<T>, equation: Equation) -> Result<DeviceMat<T>, Error> {
        let operation = match (equation, T::COMPLEX) {
            (Equation::Plain, _) => Operation::Plain,
            (Equation::Adjoint, true) => Operation::Adjoint,
            (Equation::Adjoint, false) => Operation::Transposed,
        };
        self.gpu().solver()?.getrs((operation, self.factors.matrix()?), &self.pivots, right.matrix_mut()?)?;
        Ok(right)
    }

    pub(crate) fn inverse(&self) -> Result<DeviceMat<T>, Error> {
        self.solve(DeviceMat::identity(self.gpu(), self.factors.shape().rows.0)?, Equation::Plain)
    }
}
