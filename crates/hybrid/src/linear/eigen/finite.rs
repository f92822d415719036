use crate::linear::{DeviceMat, Given, Gpu, Scalar};
use crate::matrix::Dense;
use crate::{Error, MatRef};

/// Iterations have no end where a number is not finite: the first such element, in the order of columns, is the error.
pub(super) fn refuse_not_finite<T: Scalar>(operation: &'static str, a: MatRef<'_, T>) -> Result<(), Error> {
    let mut first = usize::MAX;
    a.each(|at, value| first = if value.is_finite() { first } else { first.min(at) });
    let error = |at: usize| Error::NotFinite { operation, row: at % a.rows(), column: at / a.rows() };
    if first == usize::MAX { Ok(()) } else { Err(error(first)) }
}

/// A copy in host memory of a matrix that is finite.
pub(in crate::linear) fn finite<T: Scalar>(operation: &'static str, a: Given<'_, T>) -> Result<Dense<T>, Error> {
    let dense = a.to_dense()?;
    refuse_not_finite(operation, dense.view()).map(|()| dense)
}

/// A copy on a GPU of a matrix that is finite, or of its adjoint: of `turned`.
pub(in crate::linear) fn finite_on_gpu<T: Scalar>(
    operation: &'static str,
    gpu: &Gpu,
    a: Given<'_, T>,
    turned: Given<'_, T>,
) -> Result<DeviceMat<T>, Error> {
    if let Given::Host(a) = a {
        refuse_not_finite(operation, a)?;
        return turned.on_gpu(gpu);
    }
    let copy = turned.on_gpu(gpu)?;
    // The GPU finds that one is not finite, the host which.
    if !copy.is_finite()? {
        finite(operation, a)?;
    }
    Ok(copy)
}
