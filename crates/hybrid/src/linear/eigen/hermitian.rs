use ndarray::Array2;

use crate::linear::finite::{refuse_not_finite, refuse_not_finite_there};
use crate::linear::{DeviceMat, Given, Gpu, Place, Scalar, gpu};
use crate::matrix::Dense;
use crate::{Error, MatRef};

const OPERATION: &str = "eigen_hermitian";

/// `a v[i] = values[i] v[i]` of a Hermitian matrix.
#[derive(Clone, Debug)]
pub struct HermitianEigen<T: Scalar> {
    /// The eigenvalues, smallest first.
    pub values: Vec<T::Real>,
    /// Orthonormal eigenvectors, one a column.
    pub vectors: Array2<T>,
}

/// Eigenvalues and eigenvectors of a Hermitian matrix (a symmetric one, if it is real). What is above its diagonal is not read.
///
/// Errors: [`Error::NotSquare`], [`Error::NotFinite`], [`Error::NotConverged`].
pub fn eigen_hermitian<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<HermitianEigen<T>, Error> {
    eigen_hermitian_of(place, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn eigen_hermitian_of<T: Scalar>(place: &Place, a: Given<'_, T>) -> Result<HermitianEigen<T>, Error> {
    let (values, vectors) = match (place, a.shape().square(OPERATION)?) {
        (_, 0) => (Vec::new(), Dense::zeros(a.shape())?),
        (Place::Cpu, _) => {
            let mut vectors = Dense::zeros(a.shape())?;
            (real(T::eigen_hermitian(&lower(a)?, Some(&mut vectors))?), vectors)
        }
        (Place::Gpu(gpu), _) => gpu::eigen_hermitian(lower_on_gpu(gpu, a)?)?,
    };
    Ok(HermitianEigen { values, vectors: vectors.into_array() })
}

/// As [`eigen_hermitian`], without vectors.
pub fn eigenvalues_hermitian<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Vec<T::Real>, Error> {
    eigenvalues_hermitian_of(place, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn eigenvalues_hermitian_of<T: Scalar>(place: &Place, a: Given<'_, T>) -> Result<Vec<T::Real>, Error> {
    match (place, a.shape().square(OPERATION)?) {
        (_, 0) => Ok(Vec::new()),
        (Place::Cpu, _) => T::eigen_hermitian(&lower(a)?, None).map(real),
        (Place::Gpu(gpu), _) => gpu::eigenvalues_hermitian(lower_on_gpu(gpu, a)?),
    }
}

/// The lower triangle, if it is finite, with zeros above and a real diagonal.
fn lower<T: Scalar>(a: Given<'_, T>) -> Result<Dense<T>, Error> {
    let lower = a.to_dense()?.map(|i, j, value| match i.cmp(&j) {
        std::cmp::Ordering::Less => T::ZERO,
        std::cmp::Ordering::Equal => T::from_f64(value.wide().re),
        std::cmp::Ordering::Greater => value,
    });
    refuse_not_finite(OPERATION, lower.view()).map(|()| lower)
}

/// The same on a GPU, where anything finite is above.
fn lower_on_gpu<T: Scalar>(gpu: &Gpu, a: Given<'_, T>) -> Result<DeviceMat<T>, Error> {
    let mut copy = match a {
        Given::Host(_) => return DeviceMat::upload(gpu, lower(a)?.view()),
        Given::Gpu(there) => there.copied()?,
    };
    copy.make_diagonal_real()?;
    if copy.is_finite()? {
        return Ok(copy);
    }
    copy.clear_above_diagonal()?;
    // The GPU finds that one is not finite, the host which.
    if !copy.is_finite()? {
        refuse_not_finite_there(OPERATION, &copy, |place| place)?;
    }
    Ok(copy)
}

fn real<T: Scalar>(values: Vec<T>) -> Vec<T::Real> {
    values.into_iter().map(|value| T::Real::nearest(value.wide())).collect()
}
