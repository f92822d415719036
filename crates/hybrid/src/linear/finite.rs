//! Matrices with elements that are not finite.

use super::{DeviceMat, Given, Gpu, Scalar};
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

/// The same of a matrix by its copy on a GPU, which comes to the host in parts, and takes no more of the GPU's memory for that. `place` says where elements
/// of the copy stand in the matrix.
pub(super) fn refuse_not_finite_there<T: Scalar>(
    operation: &'static str,
    copy: &DeviceMat<T>,
    place: fn([usize; 2]) -> [usize; 2],
) -> Result<(), Error> {
    let mut first: Option<[usize; 2]> = None;
    copy.view().each_part(|left, part| {
        part.view().each_at(|row, column, value| {
            if !value.is_finite() {
                let [row, column] = place([row, left + column]);
                first = first.into_iter().chain([[column, row]]).min();
            }
        });
        Ok(())
    })?;
    first.map_or(Ok(()), |[column, row]| Err(Error::NotFinite { operation, row, column }))
}

/// A copy in host memory of a matrix that is finite.
pub(super) fn finite<T: Scalar>(operation: &'static str, a: Given<'_, T>) -> Result<Dense<T>, Error> {
    let dense = a.to_dense()?;
    refuse_not_finite(operation, dense.view()).map(|()| dense)
}

/// A copy on a GPU of a matrix that is finite.
pub(super) fn finite_on_gpu<T: Scalar>(
    operation: &'static str,
    gpu: &Gpu,
    a: Given<'_, T>,
) -> Result<DeviceMat<T>, Error> {
    found_finite(operation, gpu, [a, a], |place| place)
}

/// The same of its adjoint.
pub(super) fn finite_adjoint_on_gpu<T: Scalar>(
    operation: &'static str,
    gpu: &Gpu,
    a: Given<'_, T>,
) -> Result<DeviceMat<T>, Error> {
    found_finite(operation, gpu, [a, a.h()], |[row, column]| [column, row])
}

fn found_finite<T: Scalar>(
    operation: &'static str,
    gpu: &Gpu,
    [a, turned]: [Given<'_, T>; 2],
    place: fn([usize; 2]) -> [usize; 2],
) -> Result<DeviceMat<T>, Error> {
    if let Given::Host(a) = a {
        refuse_not_finite(operation, a)?;
        return turned.on_gpu(gpu);
    }
    let copy = turned.on_gpu(gpu)?;
    // The GPU finds that one is not finite, the host which.
    if !copy.is_finite()? {
        refuse_not_finite_there(operation, &copy, place)?;
    }
    Ok(copy)
}
