use ndarray::Array2;

use super::reflections::Reflections;
use crate::linear::{Given, Place, Scalar, finite::is_finite, gpu};
use crate::matrix::{Dense, Shape};
use crate::{Error, MatRef, Side};

/// `a = Q R` of an m x n matrix, thin: Q is m x min(m, n) with orthonormal columns, R min(m, n) x n and upper triangular.
#[derive(Debug)]
pub struct Qr<T: Scalar> {
    pub(super) shape: Shape,
    pub(super) parts: Parts<T>,
    pub(super) is_finite: bool,
}

#[derive(Debug)]
pub(super) enum Parts<T: Scalar> {
    Cpu {
        basis: Dense<T>,
        coefficients: Dense<T>,
    },
    /// Brought from a GPU.
    Reflections(Reflections<T>),
    Gpu(gpu::QrFactors<T>),
}

impl<T: Scalar> Qr<T> {
    /// Factors a matrix; a GPU keeps the factors. Of a matrix with NaN or infinity Q is NaN throughout, as are R's upper triangle and what is solved
    /// with them, on either side: what becomes of infinities in reflections depends on their order.
    ///
    /// A GPU takes fewer than 2^31 elements, in at most 2^25 rows: else [`Error::Unsupported`].
    pub fn factor(place: &Place, a: MatRef<'_, T>) -> Result<Self, Error> {
        Self::of(place, Given::Host(a))
    }

    /// The same, wherever the matrix lies.
    pub(crate) fn of(place: &Place, a: Given<'_, T>) -> Result<Self, Error> {
        let (parts, is_finite) = match place {
            _ if a.shape().is_empty() => {
                (Parts::Cpu { basis: Dense::zeros(a.shape())?, coefficients: Dense::new(1, 0)? }, true)
            }
            Place::Cpu => {
                let mut basis = a.to_dense()?;
                let is_finite = is_finite(basis.view());
                let coefficients = T::qr(&mut basis)?;
                (Parts::Cpu { basis, coefficients }, is_finite)
            }
            Place::Gpu(gpu) => {
                if let Some(why) = gpu::refused_qr(a.shape()) {
                    let (operation, why) = ("qr", format!("{why}; use the CPU"));
                    return Err(Error::Unsupported { operation, element: T::NAME, place: "GPU", why });
                }
                let matrix = a.on_gpu(gpu)?;
                let is_finite = matrix.is_finite()?;
                (Parts::Gpu(gpu::QrFactors::factor(matrix)?), is_finite)
            }
        };
        Ok(Self { shape: a.shape(), parts, is_finite })
    }

    /// Where the factors are.
    pub(crate) fn side(&self) -> Side {
        match self.parts {
            Parts::Cpu { .. } | Parts::Reflections(_) => Side::Cpu,
            Parts::Gpu(_) => Side::Gpu,
        }
    }

    /// The same factors in host memory; nothing where they are there.
    pub(crate) fn to_host(&self) -> Result<Option<Self>, Error> {
        let Parts::Gpu(factors) = &self.parts else { return Ok(None) };
        let parts = Parts::Reflections(Reflections { basis: factors.download()?, tau: factors.tau()? });
        Ok(Some(Self { shape: self.shape, parts, is_finite: self.is_finite }))
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn rank_at_most(&self) -> usize {
        self.shape.rows.0.min(self.shape.columns.0)
    }

    /// Q.
    pub fn q(&self) -> Result<Array2<T>, Error> {
        let size = self.rank_at_most();
        let all = |value| Ok(Dense::new(self.shape.rows.0, size)?.map(|_, _, _: T| T::from_f64(value)));
        let q = match &self.parts {
            _ if self.shape.is_empty() => all(0.0),
            _ if !self.is_finite => all(f64::NAN),
            Parts::Gpu(factors) => factors.q(),
            _ => self.times(&Dense::new(size, size)?.map(|i, j, _: T| if i == j { T::ONE } else { T::ZERO })),
        };
        q.map(Dense::into_array)
    }

    /// Q times a matrix, of factors in host memory, whose rows are those that Q has columns.
    pub(crate) fn times(&self, right: &Dense<T>) -> Result<Dense<T>, Error> {
        let below = |i, j| if i < right.rows() { right.at(i, j) } else { T::ZERO };
        let mut product = Dense::new(self.shape.rows.0, right.columns())?.map(|i, j, _: T| below(i, j));
        match &self.parts {
            Parts::Cpu { basis, coefficients } => T::apply_q(basis, coefficients, &mut product)?,
            Parts::Reflections(reflections) => reflections.apply(&mut product),
            Parts::Gpu(_) => unreachable!("they are in host memory"),
        }
        Ok(product)
    }

    /// R.
    pub fn r(&self) -> Result<Array2<T>, Error> {
        self.upper().map(Dense::into_array)
    }

    pub(crate) fn upper(&self) -> Result<Dense<T>, Error> {
        let r = Dense::<T>::new(self.rank_at_most(), self.shape.columns.0)?;
        if !self.is_finite {
            return Ok(r.map(|i, j, _| T::from_f64(if i <= j { f64::NAN } else { 0.0 })));
        }
        let factors = match &self.parts {
            Parts::Cpu { basis, .. } | Parts::Reflections(Reflections { basis, .. }) => basis,
            Parts::Gpu(factors) => &factors.top()?,
        };
        Ok(r.map(|i, j, _| if i <= j { factors.at(i, j) } else { T::ZERO }))
    }
}
