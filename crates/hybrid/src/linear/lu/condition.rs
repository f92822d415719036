//! An estimate of the condition by Higham's algorithm (Accuracy and Stability of Numerical Algorithms, 15.3): a few solutions instead of an
//! inverse, nearly always within a factor of three.

use num_complex::Complex64;

use super::{Lu, solve::Equation};
use crate::linear::{Place, Scalar};
use crate::matrix::Dense;
use crate::{Error, MatRef};

/// An estimate of `1 / (norm(a) * norm(inverse(a)))` in the 1-norm: between 0, for a singular matrix, and 1. Below the precision of the
/// element type nothing of a solution is right.
pub fn reciprocal_condition<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<f64, Error> {
    a.shape().square("reciprocal_condition")?;
    Lu::factor(place, a)?.reciprocal_condition()
}

impl<T: Scalar> Lu<T> {
    /// See [`reciprocal_condition`].
    pub fn reciprocal_condition(&self) -> Result<f64, Error> {
        let size = self.shape.square("reciprocal_condition")?;
        if self.singular.is_some() {
            return Ok(0.0);
        }
        if size == 0 {
            return Ok(1.0);
        }
        let norm_of_inverse = self.norm_of_inverse(size)?;
        Ok(1.0 / (self.norm.unwrap_or(f64::NAN) * norm_of_inverse))
    }

    /// A lower bound of the 1-norm of the inverse.
    fn norm_of_inverse(&self, size: usize) -> Result<f64, Error> {
        let apply = |x: Dense<T>| self.solved_in(x, Equation::Plain);
        let mut image = apply(column(size, |_| 1.0 / size as f64)?)?;
        let mut estimate = sum(&image);
        if size == 1 {
            return Ok(estimate);
        }
        let mut last = usize::MAX;
        for _ in 0..4 {
            let gradient = self.solved_in(signs(&image), Equation::Adjoint)?;
            let steepest = steepest(&gradient);
            if steepest == last {
                break;
            }
            last = steepest;
            image = apply(column(size, |i| f64::from(u8::from(i == steepest)))?)?;
            let better = sum(&image);
            if better <= estimate {
                break;
            }
            estimate = better;
        }
        // Against matrices whose columns cancel in all of the above.
        let alternating = |i: usize| (1.0 - 2.0 * (i % 2) as f64) * (1.0 + i as f64 / (size - 1) as f64);
        let other = 2.0 * sum(&apply(column(size, alternating)?)?) / (3.0 * size as f64);
        Ok(if other > estimate { other } else { estimate })
    }
}

fn column<T: Scalar>(size: usize, value: impl Fn(usize) -> f64) -> Result<Dense<T>, Error> {
    Ok(Dense::new(size, 1)?.map(|i, _, _: T| T::from_f64(value(i))))
}

fn sum<T: Scalar>(x: &Dense<T>) -> f64 {
    x.values().iter().map(|value| value.modulus()).sum()
}

fn signs<T: Scalar>(x: &Dense<T>) -> Dense<T> {
    x.map(|_, _, value| match value.modulus() {
        0.0 => T::ONE,
        size => T::nearest(value.wide() / Complex64::new(size, 0.0)),
    })
}

fn steepest<T: Scalar>(x: &Dense<T>) -> usize {
    let mut largest = (0, 0.0);
    for (i, value) in x.values().iter().enumerate() {
        if value.modulus() > largest.1 {
            largest = (i, value.modulus());
        }
    }
    largest.0
}
