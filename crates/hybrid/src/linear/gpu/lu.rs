//! LU factors on the GPU.

use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::Operation;

use super::{DeviceMat, Gpu};
use crate::linear::{Scalar, lu::Equation};
use crate::matrix::{Columns, Dense, Rows, Shape};
use crate::{Error, MatRef};

#[derive(Debug)]
pub(crate) struct LuFactors<T: Scalar> {
    factors: DeviceMat<T>,
    pivots: DeviceBuffer<i64>,
}

impl<T: Scalar> LuFactors<T> {
    /// For a matrix with elements, and what another thread finds out while the GPU computes. Pivots that are 0 are found on the diagonal.
    pub(crate) fn factor<F: Send>(
        gpu: &Gpu,
        a: MatRef<'_, T>,
        meanwhile: impl FnOnce() -> F + Send,
    ) -> Result<(Self, F), Error> {
        let mut factors = DeviceMat::bring(gpu, a)?;
        let mut pivots = gpu.stream().alloc(a.rows().min(a.columns()))?;
        let mut found = None;
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| found = Some(meanwhile()));
            gpu.solver()?.getrf(factors.matrix_mut()?, &mut pivots)?;
            Ok::<_, Error>(gpu.stream().synchronize()?)
        })?;
        let found = found.unwrap_or_else(|| unreachable!("a scope waits for its threads"));
        Ok((Self { factors, pivots }, found))
    }

    pub(crate) fn fill_with_nan(&self) -> Result<(), Error> {
        self.factors.fill_with_nan()
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
        diagonal(&self.factors)
    }

    pub(crate) fn download(&self) -> Result<Dense<T>, Error> {
        self.factors.download_dense()
    }

    pub(crate) fn solve(&self, right: Dense<T>, equation: Equation) -> Result<Dense<T>, Error> {
        let operation = match (equation, T::COMPLEX) {
            (Equation::Plain, _) => Operation::Plain,
            (Equation::Adjoint, true) => Operation::Adjoint,
            (Equation::Adjoint, false) => Operation::Transposed,
        };
        let gpu = self.factors.gpu();
        let mut solution = DeviceMat::upload(gpu, right.view())?;
        gpu.solver()?.getrs((operation, self.factors.matrix()?), &self.pivots, solution.matrix_mut()?)?;
        solution.download_dense()
    }
}

/// The diagonal of a matrix on the GPU.
pub(super) fn diagonal<T: Scalar>(matrix: &DeviceMat<T>) -> Result<Vec<T>, Error> {
    let Shape { rows: Rows(rows), columns: Columns(columns) } = matrix.shape();
    let shape = Shape::new(Rows(rows.min(columns)), Columns(1));
    let mut diagonal = DeviceMat::uninitialised(matrix.gpu(), shape)?;
    matrix.gpu().blas()?.diagonal(matrix.matrix()?, diagonal.matrix_mut()?)?;
    Ok(diagonal.download_dense()?.values().to_vec())
}
