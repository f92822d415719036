//! Singular values on the GPU.

use super::DeviceMat;
use super::eigen::{converged, reals};
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::{Columns, Dense, Rows, Shape};

const OPERATION: &str = "singular values";

/// Values, U and the adjoint of V.
type Parts<T> = (Vec<<T as Scalar>::Real>, Dense<T>, Dense<T>);

/// Of a matrix with elements and at least as many rows as columns, which is used up.
pub(crate) fn svd<T: Scalar>(mut used: DeviceMat<T>) -> Result<Parts<T>, Error> {
    let (gpu, Shape { rows: Rows(rows), columns: Columns(columns) }) = (used.gpu().clone(), used.shape());
    let room = |rows, columns| DeviceMat::uninitialised(&gpu, Shape::new(Rows(rows), Columns(columns)));
    let mut values = gpu.stream().alloc(columns)?;
    let (mut u, mut vh) = (room(rows, columns)?, room(columns, columns)?);
    let vectors = Some([u.matrix_mut()?, vh.matrix_mut()?]);
    let outcome = gpu.solver()?.gesvd(used.matrix_mut()?, &mut values, vectors)?;
    converged(OPERATION, columns, outcome)?;
    Ok((reals::<T, _>(&values)?, u.download_dense()?, vh.download_dense()?))
}

pub(crate) fn singular_values<T: Scalar>(mut used: DeviceMat<T>) -> Result<Vec<T::Real>, Error> {
    let (gpu, Columns(columns)) = (used.gpu().clone(), used.shape().columns);
    let mut values = gpu.stream().alloc(columns)?;
    let outcome = gpu.solver()?.gesvd(used.matrix_mut()?, &mut values, None)?;
    converged(OPERATION, columns, outcome)?;
    reals::<T, _>(&values)
}
