use ndarray::Array2;

use super::singular;
use crate::linear::{Given, Made, Place, Scalar, finite::is_finite, gpu, norm};
use crate::matrix::{Dense, Shape};
use crate::{Error, MatRef, Side};

/// `P a = L U` of an m x n matrix, with partial pivoting: L has ones on its diagonal, and no real element
/// larger than 1.
///
/// A singular matrix has such factors too; [`solve`](Self::solve) and [`inverse`](Self::inverse) refuse it.
#[derive(Debug)]
pub struct Lu<T: Scalar> {
    pub(super) shape: Shape,
    pub(super) parts: Parts<T>,
    pub(super) permutation: Vec<usize>,
    /// The diagonal of U.
    pub(super) diagonal: Vec<T>,
    pub(super) singular: Option<usize>,
    /// The largest sum of absolute values in a column of the matrix, where it is known.
    pub(super) norm: Option<f64>,
}

#[derive(Debug)]
pub(super) enum Parts<T: Scalar> {
    Cpu(Dense<T>),
    Gpu(gpu::LuFactors<T>),
}

impl<T: Scalar> Lu<T> {
    /// Factors a matrix; a GPU keeps the factors. There those of a matrix with NaN or infinity are NaN throughout, and so is what is solved with them:
    /// cuSOLVER loses some NaN on its way, and infinities make NaN.
    pub fn factor(place: &Place, a: MatRef<'_, T>) -> Result<Self, Error> {
        Self::of(place, Given::Host(a))
    }

    /// The same, wherever the matrix lies; without the norm of one that a GPU factors where it lies ([`measured`](Self::measured)).
    pub(crate) fn of(place: &Place, a: Given<'_, T>) -> Result<Self, Error> {
        let shape = a.shape();
        let (parts, permutation, diagonal, norm) = match place {
            _ if shape.is_empty() => {
                (Parts::Cpu(Dense::zeros(shape)?), (0..shape.rows.0).collect(), Vec::new(), Some(0.0))
            }
            Place::Cpu => {
                let mut factors = a.to_dense()?;
                let norm = norm::one(factors.view());
                let permutation = T::lu(&mut factors)?;
                let diagonal = (0..shape.rows.0.min(shape.columns.0)).map(|i| factors.at(i, i)).collect();
                (Parts::Cpu(factors), permutation, diagonal, Some(norm))
            }
            Place::Gpu(gpu) => {
                let matrix = a.on_gpu(gpu)?;
                let (mut factors, norm, is_finite) = match a {
                    Given::Host(a) => {
                        let (factors, norm) = gpu::LuFactors::factor(matrix, || norm::one(a))?;
                        // The sum of finite numbers may be beyond the range.
                        (factors, Some(norm), norm.is_finite() || is_finite(a))
                    }
                    Given::Gpu(_) => {
                        let is_finite = matrix.is_finite()?;
                        (gpu::LuFactors::factor(matrix, || ())?.0, None, is_finite)
                    }
                };
                if !is_finite {
                    factors.fill_with_nan()?;
                }
                let (permutation, diagonal) = (factors.permutation()?, factors.diagonal()?);
                (Parts::Gpu(factors), permutation, diagonal, norm)
            }
        };
        let singular = singular::pivot(&diagonal, a)?;
        Ok(Self { shape, parts, permutation, diagonal, singular, norm })
    }

    /// With the norm of the matrix, which conditions want.
    pub(crate) fn measured(mut self, a: Given<'_, T>) -> Result<Self, Error> {
        if self.norm.is_none() {
            self.norm = Some(norm::one_of(a)?);
        }
        Ok(self)
    }

    /// Factors in host memory that were made elsewhere, with the first pivot by which the matrix is singular, and its norm if it is known.
    pub(crate) fn of_factors(
        factors: Dense<T>,
        permutation: Vec<usize>,
        singular: Option<usize>,
        norm: Option<f64>,
    ) -> Self {
        let diagonal = (0..factors.rows().min(factors.columns())).map(|i| factors.at(i, i)).collect();
        Self { shape: factors.shape(), parts: Parts::Cpu(factors), permutation, diagonal, singular, norm }
    }

    /// Where the factors are.
    pub(crate) fn side(&self) -> Side {
        match self.parts {
            Parts::Cpu(_) => Side::Cpu,
            Parts::Gpu(_) => Side::Gpu,
        }
    }

    /// The same factors in host memory; nothing where they are there.
    pub(crate) fn to_host(&self) -> Result<Option<Self>, Error> {
        let Parts::Gpu(factors) = &self.parts else { return Ok(None) };
        let Self { shape, ref permutation, ref diagonal, singular, norm, .. } = *self;
        let (parts, permutation, diagonal) = (Parts::Cpu(factors.download()?), permutation.clone(), diagonal.clone());
        Ok(Some(Self { shape, parts, permutation, diagonal, singular, norm }))
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Row i of `P a` is row `permutation()[i]` of `a`.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// The first pivot, counted from 0, by which the matrix is singular: one that is 0, or rounding where two rows or columns are the same.
    pub fn singular_pivot(&self) -> Option<usize> {
        self.singular
    }

    /// L, m x min(m, n).
    pub fn l(&self) -> Result<Array2<T>, Error> {
        let factors = self.factors()?;
        let mut l = Dense::new(self.shape.rows.0, self.diagonal.len())?;
        let at = |i: usize, j: usize| if i == j { T::ONE } else { factors.at(i, j) };
        l = l.map(|i, j, _| if i < j { T::ZERO } else { at(i, j) });
        Ok(l.into_array())
    }

    /// U, min(m, n) x n.
    pub fn u(&self) -> Result<Array2<T>, Error> {
        let factors = self.factors()?;
        let u = Dense::<T>::new(self.diagonal.len(), self.shape.columns.0)?;
        Ok(u.map(|i, j, _| if i <= j { factors.at(i, j) } else { T::ZERO }).into_array())
    }

    fn factors(&self) -> Result<Dense<T>, Error> {
        match &self.parts {
            Parts::Cpu(factors) => Ok(factors.clone()),
            Parts::Gpu(factors) => factors.download(),
        }
    }

    /// L below the diagonal, without its ones, and U on and above it.
    pub(crate) fn into_packed(self) -> Made<T> {
        match self.parts {
            Parts::Cpu(factors) => Made::Host(factors),
            Parts::Gpu(factors) => Made::Gpu(factors.into_factors()),
        }
    }

    /// The side of the square matrix, unless it is singular.
    pub(super) fn regular(&self, operation: &'static str) -> Result<usize, Error> {
        let size = self.shape.square(operation)?;
        self.singular.map_or(Ok(size), |pivot| Err(Error::Singular { pivot, size }))
    }
}
