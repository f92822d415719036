//! Singular values on the GPU.

use super::eigen::{converged, reals};
use super::{DeviceMat, Gpu};
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::{Columns, Dense, Rows, Shape};

const OPERATION: &str = "singular values";

/// Values, U and the adjoint of V.
type Parts<T> = (Vec<<T as Scalar>::Real>, Dense<T>, Dense<T>);

/// cuSOLVER takes matrices with at least as many rows as columns; others go there as their adjoint.
pub(crate) fn svd<T: Scalar>(gpu: &Gpu, matrix: &Dense<T>) -> Result<Parts<T>, Error> {
    if matrix.rows() >= matrix.columns() {
        return tall(gpu, matrix);
    }
    let (values, u, vh) = tall(gpu, &matrix.view().h().to_dense()?)?;
    Ok((values, vh.view().h().to_dense()?, u.view().h().to_dense()?))
}

fn tall<T: Scalar>(gpu: &Gpu, matrix: &Dense<T>) -> Result<Parts<T>, Error> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let room = |rows, columns| DeviceMat::uninitialised(gpu, Shape::new(Rows(rows), Columns(columns)));
    let (mut used, mut values) = (DeviceMat::upload(gpu, matrix.view())?, gpu.stream().alloc(columns)?);
    let (mut u, mut vh) = (room(rows, columns)?, room(columns, columns)?);
    let vectors = Some([u.matrix_mut()?, vh.matrix_mut()?]);
    let outcome = gpu.solver()?.gesvd(used.matrix_mut()?, &mut values, vectors)?;
    converged(OPERATION, columns, outcome)?;
    Ok((reals::<T, _>(&values)?, u.download_dense()?, vh.download_dense()?))
}

pub(crate) fn singular_values<T: Scalar>(gpu: &Gpu, matrix: &Dense<T>) -> Result<Vec<T::Real>, Error> {
    let turned = (matrix.rows() < matrix.columns()).then(|| matrix.view().h().to_dense()).transpose()?;
    let matrix = turned.as_ref().unwrap_or(matrix);
    let mut used = DeviceMat::upload(gpu, matrix.view())?;
    let mut values = gpu.stream().alloc(matrix.columns())?;
    let outcome = gpu.solver()?.gesvd(used.matrix_mut()?, &mut values, None)?;
    converged(OPERATION, matrix.columns(), outcome)?;
    reals::<T, _>(&values)
}
