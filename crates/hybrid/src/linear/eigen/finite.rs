use crate::linear::Scalar;
use crate::{Error, matrix::Dense};

/// Iterations have no end where a number is not finite: the first such element, in the order of columns, is the error.
pub(in crate::linear) fn refuse_not_finite<T: Scalar>(operation: &'static str, a: &Dense<T>) -> Result<(), Error> {
    let first = a.values().iter().position(|value| !value.is_finite());
    let error = |at: usize| Error::NotFinite { operation, row: at % a.rows(), column: at / a.rows() };
    first.map_or(Ok(()), |at| Err(error(at)))
}
