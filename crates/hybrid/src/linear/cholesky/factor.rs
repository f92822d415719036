use ndarray::Array2;

use crate::linear::{Given, LogDeterminant, Made, Place, Scalar, gpu, lu::log_of_product};
use crate::matrix::Dense;
use crate::{Error, MatRef, Side};
use std::cmp::Ordering;

/// `a = L conjugate(transpose(L))` of a Hermitian positive definite matrix (a symmetric one, if it is real).
///
/// What is above the diagonal of `a` is not read, and neither are imaginary parts on the diagonal.
#[derive(Debug)]
pub struct Cholesky<T: Scalar> {
    pub(super) size: usize,
    pub(super) parts: Parts<T>,
    diagonal: Vec<T>,
}

#[derive(Debug)]
pub(super) enum Parts<T: Scalar> {
    Cpu(Dense<T>),
    Gpu(gpu::CholeskyFactors<T>),
}

impl<T: Scalar> Cholesky<T> {
    /// Factors a matrix; a GPU keeps the factor.
    ///
    /// [`Error::NotPositiveDefinite`] names the first leading minor that is not positive; one that is NaN is none.
    pub fn factor(place: &Place, a: MatRef<'_, T>) -> Result<Self, Error> {
        Self::of(place, Given::Host(a))
    }

    /// The same, wherever the matrix lies.
    pub(crate) fn of(place: &Place, a: Given<'_, T>) -> Result<Self, Error> {
        let size = a.shape().square("Cholesky's factorisation")?;
        let refused = |order| Error::NotPositiveDefinite { order, size };
        match place {
            _ if size == 0 => Self::of_factor(Dense::zeros(a.shape())?),
            Place::Cpu => {
                let mut factor = a.to_dense()?;
                make_diagonal_real(&mut factor);
                T::cholesky(&mut factor)?.map_err(refused)?;
                Self::of_factor(factor)
            }
            Place::Gpu(gpu) => {
                let factor = gpu::CholeskyFactors::factor(a.on_gpu(gpu)?)?.map_err(refused)?;
                let diagonal = factor.diagonal()?;
                Self::checked(size, Parts::Gpu(factor), diagonal)
            }
        }
    }

    /// A factor in host memory that was made elsewhere.
    pub(crate) fn of_factor(mut factor: Dense<T>) -> Result<Self, Error> {
        make_diagonal_real(&mut factor);
        let size = factor.rows();
        let diagonal = (0..size).map(|i| factor.at(i, i)).collect();
        Self::checked(size, Parts::Cpu(factor), diagonal)
    }

    /// That the diagonal is positive.
    fn checked(size: usize, parts: Parts<T>, diagonal: Vec<T>) -> Result<Self, Error> {
        match diagonal.iter().position(|value| value.modulus().partial_cmp(&0.0) != Some(Ordering::Greater)) {
            Some(at) => Err(Error::NotPositiveDefinite { order: at + 1, size }),
            None => Ok(Self { size, parts, diagonal }),
        }
    }

    /// Where the factor is.
    pub(crate) fn side(&self) -> Side {
        match self.parts {
            Parts::Cpu(_) => Side::Cpu,
            Parts::Gpu(_) => Side::Gpu,
        }
    }

    /// The same factor in host memory; nothing where it is there.
    pub(crate) fn to_host(&self) -> Result<Option<Self>, Error> {
        let Parts::Gpu(factor) = &self.parts else { return Ok(None) };
        let parts = Parts::Cpu(factor.download()?);
        Ok(Some(Self { size: self.size, parts, diagonal: self.diagonal.clone() }))
    }

    /// Rows of the matrix.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The same as [`l`](Self::l), where it was made, and where nobody wants the factor any more.
    pub(crate) fn into_l(self) -> Result<Made<T>, Error> {
        let mut factor = match self.parts {
            Parts::Cpu(factor) => factor,
            Parts::Gpu(factor) => return factor.into_l().map(Made::Gpu),
        };
        let rows = factor.rows();
        let columns = factor.values_mut().chunks_exact_mut(rows.max(1)).enumerate();
        columns.for_each(|(column, values)| values[..column].fill(T::ZERO));
        Ok(Made::Host(factor))
    }

    /// L, with zeros above its diagonal.
    pub fn l(&self) -> Result<Array2<T>, Error> {
        let factor = match &self.parts {
            Parts::Cpu(factor) => factor.clone(),
            Parts::Gpu(factor) => factor.download()?,
        };
        Ok(factor.map(|i, j, value| if i < j { T::ZERO } else { value }).into_array())
    }

    /// The determinant of the matrix, as sign and logarithm; the sign is 1.
    pub fn log_determinant(&self) -> LogDeterminant<T> {
        let half = log_of_product(&self.diagonal);
        LogDeterminant { sign: T::ONE, log_abs: 2.0 * half.log_abs }
    }
}

fn make_diagonal_real<T: Scalar>(matrix: &mut Dense<T>) {
    let step = matrix.rows() + 1;
    matrix.values_mut().iter_mut().step_by(step).for_each(|value| *value = T::from_f64(value.wide().re));
}
