//! The singular value decomposition.

use ndarray::Array2;

use super::{Place, Scalar, eigen::refuse_not_finite, gpu};
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
    let (matrix, size) = (checked(a)?, a.rows().min(a.columns()));
    let (values, u, vh) = match place {
        _ if size == 0 => (Vec::new(), Dense::new(a.rows(), 0)?, Dense::new(0, a.columns())?),
        Place::Cpu => {
            let (mut u, mut v) = (Dense::new(a.rows(), size)?, Dense::new(a.columns(), size)?);
            let values = T::svd(&matrix, Some([&mut u, &mut v]))?;
            (real(values), u, v.view().h().to_dense()?)
        }
        Place::Gpu(gpu) => gpu::svd(gpu, &matrix)?,
    };
    Ok(Svd { u: u.into_array(), values, vh: vh.into_array() })
}

/// The singular values of a matrix, largest first.
pub fn singular_values<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Vec<T::Real>, Error> {
    let matrix = checked(a)?;
    match place {
        _ if a.shape().is_empty() => Ok(Vec::new()),
        Place::Cpu => T::svd(&matrix, None).map(real),
        Place::Gpu(gpu) => gpu::singular_values(gpu, &matrix),
    }
}

fn checked<T: Scalar>(a: MatRef<'_, T>) -> Result<Dense<T>, Error> {
    let dense = a.to_dense()?;
    refuse_not_finite(OPERATION, &dense).map(|()| dense)
}

fn real<T: Scalar>(values: Vec<T>) -> Vec<T::Real> {
    values.into_iter().map(|value| T::Real::nearest(value.wide())).collect()
}
