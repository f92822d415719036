use num_complex::Complex64;

use super::Lu;
use crate::linear::{Place, Scalar};
use crate::{Error, MatRef};

/// A determinant that no float need hold: `sign * exp(log_abs)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDeterminant<T> {
    /// 1 or -1, or a complex number of absolute value 1; 0 of a singular matrix.
    pub sign: T,
    /// The natural logarithm of the absolute value; negative infinity of a singular matrix.
    pub log_abs: f64,
}

/// The determinant of a square matrix; 0 of a singular one, 1 of one without elements. One beyond the range of floats is infinite or 0: see
/// [`log_determinant`].
pub fn determinant<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<T, Error> {
    a.shape().square("determinant")?;
    Lu::factor(place, a)?.determinant()
}

/// The determinant of a square matrix as sign and logarithm, which neither overflows nor underflows.
pub fn log_determinant<T: Scalar>(place: &Place, a: MatRef<'_, T>) -> Result<LogDeterminant<T>, Error> {
    a.shape().square("determinant")?;
    Lu::factor(place, a)?.log_determinant()
}

impl<T: Scalar> Lu<T> {
    /// The determinant of the matrix that was factored.
    pub fn determinant(&self) -> Result<T, Error> {
        self.shape.square("determinant")?;
        if self.singular.is_some() {
            return Ok(T::ZERO);
        }
        let (mantissa, exponent) = scaled_product(&self.diagonal);
        // In two steps, so that a power of two beyond the range does not end a product inside of it.
        let half = exponent / 2;
        Ok(T::nearest(mantissa * self.parity() * power_of_two(half) * power_of_two(exponent - half)))
    }

    /// The same, as sign and logarithm.
    pub fn log_determinant(&self) -> Result<LogDeterminant<T>, Error> {
        self.shape.square("determinant")?;
        if self.singular.is_some() {
            return Ok(LogDeterminant { sign: T::ZERO, log_abs: f64::NEG_INFINITY });
        }
        let mut log = log_of_product(&self.diagonal);
        log.sign = T::nearest(log.sign.wide() * self.parity());
        Ok(log)
    }

    /// 1 for an even permutation, -1 for an odd one.
    fn parity(&self) -> f64 {
        let (mut seen, mut even) = (vec![false; self.permutation.len()], true);
        for start in 0..seen.len() {
            let mut at = start;
            // A cycle of n is n - 1 transpositions.
            while !std::mem::replace(&mut seen[at], true) {
                at = self.permutation[at];
                even ^= at != start;
            }
        }
        if even { 1.0 } else { -1.0 }
    }
}

/// The logarithm of a product of numbers none of which is 0.
pub(crate) fn log_of_product<T: Scalar>(factors: &[T]) -> LogDeterminant<T> {
    let (mantissa, exponent) = scaled_product(factors);
    let size = mantissa.re.hypot(mantissa.im);
    LogDeterminant { sign: T::nearest(mantissa / size), log_abs: size.ln() + exponent as f64 * std::f64::consts::LN_2 }
}

/// A product as a number near 1 times a power of two.
fn scaled_product<T: Scalar>(factors: &[T]) -> (Complex64, i64) {
    factors.iter().fold((Complex64::new(1.0, 0.0), 0), |(product, exponent), factor| {
        let (factor, more) = scaled(factor.wide());
        let (product, again) = scaled(product * factor);
        (product, exponent + more + again)
    })
}

/// The number divided by the power of two that is next to it, and that power.
fn scaled(value: Complex64) -> (Complex64, i64) {
    let largest = value.re.abs().max(value.im.abs());
    if largest == 0.0 || !largest.is_finite() {
        return (value, 0);
    }
    let exponent = largest.log2().floor() as i64;
    let half = exponent / 2;
    (value * power_of_two(-half) * power_of_two(half - exponent), exponent)
}

fn power_of_two(exponent: i64) -> f64 {
    (exponent.clamp(-2000, 2000) as f64).exp2()
}
