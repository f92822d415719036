use ndarray::Array2;
use num_complex::Complex64;

use crate::linear::finite::{finite, finite_on_gpu};
use crate::linear::{Given, Place, Scalar, gpu};
use crate::matrix::Dense;
use crate::{Error, MatRef};

const OPERATION: &str = "eigen";

/// `a v[i] = values[i] v[i]` of a square matrix.
#[derive(Clone, Debug)]
pub struct Eigen<T: Scalar> {
    /// The eigenvalues, in no particular order; of a real matrix conjugates stand side by side.
    pub values: Vec<T::Complex>,
    /// Right eigenvectors, one a column, each with a 2-norm of 1.
    pub vectors: Array2<T::Complex>,
}

/// Eigenvalues and right eigenvectors of a square matrix.
///
/// Errors: [`Error::NotSquare`], [`Error::NotFinite`], [`Error::NotConverged`]; [`Error::Unsupported`] on a GPU whose cuSOLVER is older than
/// that of CUDA 12.6.
pub fn eigen<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Eigen<T>, Error> {
    eigen_of(place, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn eigen_of<T: Scalar>(place: &Place, a: Given<'_, T>) -> Result<Eigen<T>, Error> {
    if a.shape().square(OPERATION)? == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Dense::zeros(a.shape())?.into_array() });
    }
    let mut packed = Dense::zeros(a.shape())?;
    let values = joined::<T>(match place {
        Place::Cpu => T::eigen_general(&finite(OPERATION, a)?, Some(&mut packed))?,
        Place::Gpu(gpu) => gpu::eigen(finite_on_gpu(OPERATION, gpu, a)?, Some(&mut packed))?,
    });
    let vectors = normalised(unpacked::<T>(&values, &packed));
    Ok(Eigen { values, vectors: vectors.into_array() })
}

/// As [`eigen`], without vectors.
pub fn eigenvalues<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Vec<T::Complex>, Error> {
    eigenvalues_of(place, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn eigenvalues_of<T: Scalar>(place: &Place, a: Given<'_, T>) -> Result<Vec<T::Complex>, Error> {
    let size = a.shape().square(OPERATION)?;
    match place {
        _ if size == 0 => Ok(Vec::new()),
        Place::Cpu => T::eigen_general(&finite(OPERATION, a)?, None).map(joined::<T>),
        Place::Gpu(gpu) => gpu::eigen(finite_on_gpu(OPERATION, gpu, a)?, None).map(joined::<T>),
    }
}

/// Numbers from real and imaginary parts, of which a complex type has the latter in the former.
fn joined<T: Scalar>([real, imaginary]: [Vec<T>; 2]) -> Vec<T::Complex> {
    let imaginary = imaginary.into_iter().map(|part| part.wide().re).chain(std::iter::repeat(0.0));
    real.into_iter()
        .zip(imaginary)
        .map(|(real, imaginary)| T::Complex::nearest(real.wide() + Complex64::new(0.0, imaginary)))
        .collect()
}

/// Vectors of a real matrix: where a value has an imaginary part, two columns are the real and the imaginary part of the vector of the first
/// of two conjugates.
fn unpacked<T: Scalar>(values: &[T::Complex], packed: &Dense<T>) -> Dense<T::Complex> {
    let mut second = vec![false; values.len()];
    for at in 0..values.len() {
        second[at] = !T::COMPLEX && values[at].wide().im != 0.0 && at > 0 && !second[at - 1] && is_pair(values, at - 1);
    }
    packed.map(|row, column, own| {
        if T::COMPLEX || values[column].wide().im == 0.0 {
            return T::Complex::nearest(own.wide());
        }
        let first = if second[column] { column - 1 } else { column };
        let imaginary = if first + 1 < values.len() { packed.at(row, first + 1).wide().re } else { 0.0 };
        let vector = Complex64::new(packed.at(row, first).wide().re, imaginary);
        T::Complex::nearest(if second[column] { vector.conj() } else { vector })
    })
}

fn is_pair<C: Scalar>(values: &[C], at: usize) -> bool {
    values[at].wide().im != 0.0
}

fn normalised<C: Scalar>(vectors: Dense<C>) -> Dense<C> {
    let rows = vectors.rows().max(1);
    let norm = |column: &[C]| column.iter().map(|value| value.modulus()).fold(0.0, f64::hypot);
    let norms: Vec<_> = vectors.values().chunks(rows).map(norm).collect();
    vectors.map(|_, column, value| match norms[column] {
        0.0 => value,
        norm => C::nearest(value.wide() / norm),
    })
}
