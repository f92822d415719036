use ndarray::Array2;

use crate::linear::{Given, Place, Scalar, gpu};
use crate::matrix::{Dense, Shape};
use crate::{Error, MatRef, Side};

/// `a = Q R` of an m x n matrix, thin: Q is m x min(m, n) with orthonormal columns, R min(m, n) x n and upper triangular.
#[derive(Debug)]
pub struct Qr<T: Scalar> {
    pub(super) shape: Shape,
    pub(super) parts: Parts<T>,
}

#[derive(Debug)]
pub(super) enum Parts<T: Scalar> {
    Cpu { basis: Dense<T>, coefficients: Dense<T> },
    Gpu(gpu::QrFactors<T>),
}

impl<T: Scalar> Qr<T> {
    /// Factors a matrix; a GPU keeps the factors.
    pub fn factor(place: &Place, a: MatRef<'_, T>) -> Result<Self, Error> {
        Self::of(place, Given::Host(a))
    }

    /// The same, wherever the matrix lies.
    pub(crate) fn of(place: &Place, a: Given<'_, T>) -> Result<Self, Error> {
        let parts = match place {
            _ if a.shape().is_empty() => {
                Parts::Cpu { basis: Dense::zeros(a.shape())?, coefficients: Dense::new(1, 0)? }
            }
            Place::Cpu => {
                let mut basis = a.to_dense()?;
                let coefficients = T::qr(&mut basis)?;
                Parts::Cpu { basis, coefficients }
            }
            Place::Gpu(gpu) => Parts::Gpu(gpu::QrFactors::factor(a.on_gpu(gpu)?)?),
        };
        Ok(Self { shape: a.shape(), parts })
    }

    /// Where the factors are.
    pub(crate) fn side(&self) -> Side {
        match self.parts {
            Parts::Cpu { .. } => Side::Cpu,
            Parts::Gpu(_) => Side::Gpu,
        }
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
        let unit = |i, j, _: T| if i == j { T::ONE } else { T::ZERO };
        let mut q = Dense::new(self.shape.rows.0, self.rank_at_most())?.map(unit);
        match &self.parts {
            _ if q.shape().is_empty() => {}
            Parts::Cpu { basis, coefficients } => T::apply_q(basis, coefficients, &mut q)?,
            Parts::Gpu(factors) => q = factors.q()?,
        }
        Ok(q.into_array())
    }

    /// R.
    pub fn r(&self) -> Result<Array2<T>, Error> {
        self.upper().map(Dense::into_array)
    }

    pub(super) fn upper(&self) -> Result<Dense<T>, Error> {
        let r = Dense::<T>::new(self.rank_at_most(), self.shape.columns.0)?;
        let factors = match &self.parts {
            Parts::Cpu { basis, .. } => basis,
            Parts::Gpu(factors) => &factors.download()?,
        };
        Ok(r.map(|i, j, _| if i <= j { factors.at(i, j) } else { T::ZERO }))
    }
}
