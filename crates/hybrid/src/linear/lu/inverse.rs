use ndarray::Array2;

use super::{Lu, factor::Parts, solve::Equation};
use crate::linear::{Made, Place, Scalar};
use crate::matrix::Dense;
use crate::{Error, MatRef};

/// The inverse of a square matrix. Errors: [`Error::Singular`], [`Error::NotSquare`].
///
/// [`solve`](super::solve) is faster and more exact where the inverse would be multiplied by something.
pub fn inverse<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<Array2<T>, Error> {
    a.shape().square("inverse")?;
    Lu::factor(place, a)?.inverse()
}

impl<T: Scalar> Lu<T> {
    /// The inverse of the matrix that was factored.
    pub fn inverse(&self) -> Result<Array2<T>, Error> {
        self.inverted().and_then(Made::into_dense).map(Dense::into_array)
    }

    /// The same, where the factors are.
    pub(crate) fn inverted(&self) -> Result<Made<T>, Error> {
        let size = self.regular("inverse")?;
        if let Parts::Gpu(factors) = &self.parts {
            return factors.inverse().map(Made::Gpu);
        }
        let identity = Dense::new(size, size)?.map(|i, j, _: T| if i == j { T::ONE } else { T::ZERO });
        if size == 0 {
            return Ok(Made::Host(identity));
        }
        self.solved_in(identity, Equation::Plain).map(Made::Host)
    }
}
