//! Products with a factor that is known by its diagonal: lines are scaled where they lie.

use tilewright_driver::blas::Operation;

use super::{DeviceMat, DeviceRef, Gpu, matrix::expect_shape};
use crate::linear::Scalar;
use crate::matrix::{Columns, Rows, Shape};
use crate::{Error, MatRef};

/// Which lines of a matrix an element of a diagonal scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Rows: it is the left factor.
    Rows,
    /// Columns: it is the right one.
    Columns,
}

impl Gpu {
    /// `c = alpha * diag(values) * a + beta * c`, or with the diagonal behind `a`; without values it is the identity. `alpha` enters the values
    /// first. Nothing of `c` is read with a `beta` of 0, nothing of `a` with an `alpha` of 0.
    pub(crate) fn scale_lines<T: Scalar>(
        &self,
        (lines, values): (Lines, Option<&[T]>),
        (alpha, a): (T, DeviceRef<'_, T>),
        beta: T,
        c: &mut DeviceMat<T>,
    ) -> Result<(), Error> {
        expect_shape("matmul on the GPU", a.shape(), c)?;
        if c.shape().is_empty() {
            return Ok(());
        }
        if alpha == T::ZERO {
            return Self::scale(beta, c);
        }
        // No routine reads a conjugate that is not transposed.
        let turned = if a.is_turned_twice() { Some(a.copied()?) } else { None };
        let a = turned.as_ref().map_or(a, DeviceMat::view);
        let (operation, alpha) = (a.operation().unwrap_or(Operation::Plain), alpha.times(a.scale()));
        let blas = self.blas()?;
        let Some(values) = values else {
            return Ok(blas.add_scaled(alpha, (operation, a.stored()?), beta, c.matrix_mut()?)?);
        };
        let values: Vec<T> = values.iter().map(|value| alpha.times(*value)).collect();
        let values = match operation {
            Operation::Adjoint => values.into_iter().map(T::conjugate).collect(),
            Operation::Plain | Operation::Transposed => values,
        };
        let x = DeviceMat::upload(self, MatRef::column(&values))?;
        // Rows of what is read transposed are columns of what is stored.
        let scale = |c: &mut DeviceMat<T>| match (lines == Lines::Rows) == (operation == Operation::Plain) {
            true => blas.scale_rows(x.matrix()?, a.stored()?, c.matrix_mut()?).map_err(Error::from),
            false => blas.scale_columns(a.stored()?, x.matrix()?, c.matrix_mut()?).map_err(Error::from),
        };
        if operation == Operation::Plain && beta == T::ZERO {
            return scale(c);
        }
        let Shape { rows, columns } = a.shape();
        let stored =
            if operation == Operation::Plain { a.shape() } else { Shape::new(Rows(columns.0), Columns(rows.0)) };
        let mut scaled = DeviceMat::uninitialised(self, stored)?;
        scale(&mut scaled)?;
        Ok(blas.add_scaled(T::ONE, (operation, scaled.matrix()?), beta, c.matrix_mut()?)?)
    }
}

impl<T: Scalar> DeviceRef<'_, T> {
    /// Bytes of the GPU's memory that [`Gpu::scale_lines`] takes besides the diagonal's, which has values or is the identity.
    pub(crate) fn bytes_to_be_scaled(&self, has_values: bool, reads_c: bool) -> Result<u64, Error> {
        let copies = match (self.is_turned_twice(), has_values) {
            // Turned twice; later the copy and what is made of it.
            (true, _) => 2,
            (false, true) => u64::from(self.is_transposed() || reads_c),
            (false, false) => 0,
        };
        Ok((self.shape().bytes::<T>()?.0 as u64).saturating_mul(copies))
    }
}
