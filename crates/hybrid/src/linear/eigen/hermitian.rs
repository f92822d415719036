use ndarray::Array2;

use super::refuse_not_finite;
use crate::linear::{Place, Scalar, gpu};
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
    let matrix = checked(a)?;
    let (values, vectors) = match place {
        _ if a.rows() == 0 => (Vec::new(), matrix),
        Place::Cpu => {
            let mut vectors = Dense::zeros(a.shape())?;
            (real(T::eigen_hermitian(&matrix, Some(&mut vectors))?), vectors)
        }
        Place::Gpu(gpu) => gpu::eigen_hermitian(gpu, &matrix)?,
    };
    Ok(HermitianEigen { values, vectors: vectors.into_array() })
}

/// As [`eigen_hermitian`], without vectors.
pub fn eigenvalues_hermitian<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Vec<T::Real>, Error> {
    let matrix = checked(a)?;
    match place {
        _ if a.rows() == 0 => Ok(Vec::new()),
        Place::Cpu => T::eigen_hermitian(&matrix, None).map(real),
        Place::Gpu(gpu) => gpu::eigenvalues_hermitian(gpu, &matrix),
    }
}

/// The lower triangle, with zeros above and a real diagonal.
fn checked<T: Scalar>(a: MatRef<'_, T>) -> Result<Dense<T>, Error> {
    a.shape().square(OPERATION)?;
    let lower = a.to_dense()?.map(|i, j, value| match i.cmp(&j) {
        std::cmp::Ordering::Less => T::ZERO,
        std::cmp::Ordering::Equal => T::from_f64(value.wide().re),
        std::cmp::Ordering::Greater => value,
    });
    refuse_not_finite(OPERATION, &lower).map(|()| lower)
}

fn real<T: Scalar>(values: Vec<T>) -> Vec<T::Real> {
    values.into_iter().map(|value| T::Real::nearest(value.wide())).collect()
}
