//! Matrices with elements that are not finite.

use super::{DeviceMat, DeviceRef, Given, Gpu, Scalar};
use crate::matrix::Dense;
use crate::{Error, MatRef};

/// Whether all elements are numbers other than infinity.
pub(super) fn is_finite<T: Scalar>(a: MatRef<'_, T>) -> bool {
    first_not_finite(a).is_none()
}

/// Row and column of the first element that is not finite, in the order of columns.
fn first_not_finite<T: Scalar>(a: MatRef<'_, T>) -> Option<[usize; 2]> {
    let mut first = usize::MAX;
    a.each(|at, value| first = if value.is_finite() { first } else { first.min(at) });
    (first != usize::MAX).then(|| [first % a.rows(), first / a.rows()])
}

/// Iterations have no end where a number is not finite: the first such element is the error.
pub(super) fn refuse_not_finite<T: Scalar>(operation: &'static str, a: MatRef<'_, T>) -> Result<(), Error> {
    let error = |[row, column]: [usize; 2]| Error::NotFinite { operation, row, column };
    first_not_finite(a).map_or(Ok(()), |at| Err(error(at)))
}

/// The same of a matrix on a GPU, which comes to the host in parts.
pub(super) fn refuse_not_finite_there<T: Scalar>(operation: &'static str, a: DeviceRef<'_, T>) -> Result<(), Error> {
    a.each_part(|left, part| match first_not_finite(part.view()) {
        Some([row, column]) => Err(Error::NotFinite { operation, row, column: left + column }),
        None => Ok(()),
    })
}

/// A copy in host memory of a matrix that is finite.
pub(super) fn finite<T: Scalar>(operation: &'static str, a: Given<'_, T>) -> Result<Dense<T>, Error> {
    let dense = a.to_dense()?;
    refuse_not_finite(operation, dense.view()).map(|()| dense)
}

/// A copy on a GPU of a matrix that is finite, or of its adjoint: of `turned`.
pub(super) fn finite_on_gpu<T: Scalar>(
    operation: &'static str,
    gpu: &Gpu,
    a: Given<'_, T>,
    turned: Given<'_, T>,
) -> Result<DeviceMat<T>, Error> {
    let there = match a {
        Given::Host(a) => {
            refuse_not_finite(operation, a)?;
            return turned.on_gpu(gpu);
        }
        Given::Gpu(there) => there,
    };
    let copy = turned.on_gpu(gpu)?;
    // The GPU finds that one is not finite, the host which.
    if !copy.is_finite()? {
        refuse_not_finite_there(operation, there)?;
    }
    Ok(copy)
}
