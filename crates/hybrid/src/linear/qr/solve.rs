use ndarray::Array2;

use super::{Qr, factor::Parts};
use crate::linear::{Given, Place, Scalar, cpu::Triangle};
use crate::matrix::{Columns, Dense, Rows, expect};
use crate::{Error, MatRef};

/// How much more than by chance a dependent column may lose.
const MARGIN: f64 = 8.0;

/// x that makes the 2-norm of each column of `b - a x` smallest, where `a` has at least as many rows as columns and full rank.
///
/// A column of `a` that depends on those before it is [`Error::Singular`] where rounding shows it; fewer rows than columns are
/// [`Error::Shape`]. Where `a` has NaN or infinity, x is NaN.
pub fn least_squares<T: Scalar>(place: &Place, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
    Qr::factor(place, a)?.least_squares(b)
}

impl<T: Scalar> Qr<T> {
    /// See [`least_squares`].
    pub fn least_squares(&self, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.least_squares_of(Given::Host(b))
    }

    /// The same, wherever the right-hand sides lie.
    pub(crate) fn least_squares_of(&self, b: Given<'_, T>) -> Result<Array2<T>, Error> {
        let (operation, rows, size) = ("least_squares", self.shape.rows.0, self.shape.columns.0);
        if rows < size {
            return Err(Error::Shape { operation, what: "rows of a, at least its columns", expected: size, got: rows });
        }
        let Columns(columns) = b.shape().columns;
        expect(operation, "rows of b", rows, b.shape().rows.0)?;
        if size == 0 || b.shape().is_empty() {
            return Ok(Dense::new(size, columns)?.into_array());
        }
        if !self.is_finite {
            return Ok(Dense::new(size, columns)?.map(|_, _, _: T| T::from_f64(f64::NAN)).into_array());
        }
        let upper = self.upper()?;
        self.refuse_dependent_columns(&upper)?;
        let mut right = match &self.parts {
            Parts::Cpu { basis, coefficients } => {
                let mut right = b.to_dense()?;
                T::apply_q_adjoint(basis, coefficients, &mut right)?;
                right
            }
            Parts::Reflections(reflections) => {
                let mut right = b.to_dense()?;
                reflections.apply_adjoint(&mut right);
                right
            }
            Parts::Gpu(factors) => factors.apply_adjoint(b.on_gpu(factors.gpu())?)?,
        };
        let mut right = right.view_mut().part(Rows(0)..Rows(size), Columns(0)..Columns(columns))?;
        T::triangular_solve(Triangle::Upper, (upper.view().elements(), false), right.elements());
        right.read().to_dense().map(Dense::into_array)
    }

    /// A diagonal element of R that is rounding, beside the column of the matrix that it is of. Sums of so many rows lose as their root, and not as their number: by that everything would be
    /// rounding in f32 from eight million rows on.
    fn refuse_dependent_columns(&self, upper: &Dense<T>) -> Result<(), Error> {
        let size = upper.columns();
        let rounding = MARGIN * T::EPSILON * (self.shape.rows.0 as f64).sqrt();
        let dependent = (0..size).find(|j| {
            let column = (0..=*j).map(|i| upper.at(i, *j).modulus()).fold(0.0, f64::hypot);
            upper.at(*j, *j).modulus() <= column * rounding
        });
        dependent.map_or(Ok(()), |pivot| Err(Error::Singular { pivot, size }))
    }
}
