//! The singular value decomposition.

use ndarray::Array2;

use super::finite::{finite, finite_adjoint_on_gpu, finite_on_gpu};
use super::{DeviceMat, Given, Gpu, Place, Scalar, gpu};
use crate::matrix::Dense;
use crate::{Error, MatRef};

const OPERATION: &str = "svd";

/// `a = u diagonal(values) vh` of an m x n matrix, thin.
#[derive(Clone, Debug)]
pub struct Svd<T: Scalar> {
    /// m x min(m, n), with orthonormal columns.
    pub u: Array2<T>,
    /// min(m, n) numbers that are not negative, largest first.
    pub values: Vec<T::Real>,
    /// min(m, n) x n, with orthonormal rows.
    pub vh: Array2<T>,
}

/// The singular value decomposition of a matrix. Errors: [`Error::NotFinite`], [`Error::NotConverged`].
pub fn svd<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Svd<T>, Error> {
    svd_of(place, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn svd_of<T: Scalar>(place: &Place, a: Given<'_, T>) -> Result<Svd<T>, Error> {
    let (rows, columns) = (a.shape().rows.0, a.shape().columns.0);
    let size = rows.min(columns);
    let (values, u, vh) = match place {
        _ if size == 0 => (Vec::new(), Dense::new(rows, 0)?, Dense::new(0, columns)?),
        Place::Cpu => {
            let (mut u, mut v) = (Dense::new(rows, size)?, Dense::new(columns, size)?);
            let values = T::svd(&finite(OPERATION, a)?, Some([&mut u, &mut v]))?;
            (real(values), u, v.view().h().to_dense()?)
        }
        Place::Gpu(gpu) => {
            let (values, u, vh) = gpu::svd(tall(gpu, a)?)?;
            let is_turned = rows < columns;
            let [u, vh] = if is_turned { [vh.view().h().to_dense()?, u.view().h().to_dense()?] } else { [u, vh] };
            (values, u, vh)
        }
    };
    Ok(Svd { u: u.into_array(), values, vh: vh.into_array() })
}

/// The singular values of a matrix, largest first.
pub fn singular_values<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Vec<T::Real>, Error> {
    values_of(place, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn values_of<T: Scalar>(place: &Place, a: Given<'_, T>) -> Result<Vec<T::Real>, Error> {
    match place {
        _ if a.shape().is_empty() => Ok(Vec::new()),
        Place::Cpu => T::svd(&finite(OPERATION, a)?, None).map(real),
        Place::Gpu(gpu) => gpu::singular_values(tall(gpu, a)?),
    }
}

/// A copy on a GPU, or one of the adjoint: cuSOLVER takes matrices with at least as many rows as columns.
fn tall<T: Scalar>(gpu: &Gpu, a: Given<'_, T>) -> Result<DeviceMat<T>, Error> {
    let is_wide = a.shape().rows.0 < a.shape().columns.0;
    if is_wide { finite_adjoint_on_gpu(OPERATION, gpu, a) } else { finite_on_gpu(OPERATION, gpu, a) }
}

fn real<T: Scalar>(values: Vec<T>) -> Vec<T::Real> {
    values.into_iter().map(|value| T::Real::nearest(value.wide())).collect()
}
