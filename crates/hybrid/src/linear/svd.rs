//! The singular value decomposition.

use ndarray::Array2;

use super::finite::{finite, finite_adjoint_on_gpu, finite_on_gpu};
use super::{DeviceMat, Given, Gpu, Place, Qr, Scalar, gpu};
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
            let values = on_cpu(&finite(OPERATION, a)?, Some([&mut u, &mut v]))?;
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
        Place::Cpu => on_cpu(&finite(OPERATION, a)?, None).map(real),
        Place::Gpu(gpu) => gpu::singular_values(tall(gpu, a)?),
    }
}

/// Rows to a column from which on faer takes QR factors first. Its own leave out columns (`linear/cpu/qr.rs`): from there on it has R of ours alone.
const TALL: f64 = 11.0 / 6.0;

/// Singular values, with U and V where they are wanted.
fn on_cpu<T: Scalar>(matrix: &Dense<T>, vectors: Option<[&mut Dense<T>; 2]>) -> Result<Vec<T>, Error> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows < columns {
        // The adjoint has the same values, and vectors of the other side.
        return on_cpu(&matrix.view().h().to_dense()?, vectors.map(|[u, v]| [v, u]));
    }
    if rows as f64 / columns as f64 <= TALL {
        return T::svd(matrix, vectors);
    }
    let qr = Qr::of(&Place::Cpu, Given::Host(matrix.view()))?;
    let Some([u, v]) = vectors else { return T::svd(&qr.upper()?, None) };
    let mut of_r = Dense::new(columns, columns)?;
    let values = T::svd(&qr.upper()?, Some([&mut of_r, v]))?;
    *u = qr.times(&of_r)?;
    Ok(values)
}

/// A copy on a GPU, or one of the adjoint: cuSOLVER takes matrices with at least as many rows as columns.
fn tall<T: Scalar>(gpu: &Gpu, a: Given<'_, T>) -> Result<DeviceMat<T>, Error> {
    let is_wide = a.shape().rows.0 < a.shape().columns.0;
    if is_wide { finite_adjoint_on_gpu(OPERATION, gpu, a) } else { finite_on_gpu(OPERATION, gpu, a) }
}

fn real<T: Scalar>(values: Vec<T>) -> Vec<T::Real> {
    values.into_iter().map(|value| T::Real::nearest(value.wide())).collect()
}
