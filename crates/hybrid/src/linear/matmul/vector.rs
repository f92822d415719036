use super::{Multiply, matmul};
use crate::linear::{Place, Precision};
use crate::matrix::{Element, expect};
use crate::{Error, MatMut, MatRef};

/// `y = alpha * a * x + beta * y`, where `x` and `y` are matrices of one column. As [`matmul`](super::matmul) otherwise.
pub fn matvec<T: Multiply>(
    place: &Place,
    precision: Precision,
    alpha: T::Factor,
    a: MatRef<'_, T>,
    x: MatRef<'_, T>,
    beta: T::Factor,
    y: MatMut<'_, T>,
) -> Result<(), Error> {
    expect("matvec", "columns of x", 1, x.columns())?;
    expect("matvec", "columns of y", 1, y.columns())?;
    matmul(place, precision, alpha, a, x, beta, y)
}

/// `c = c + alpha * x * transpose(y)`, where `x` and `y` are matrices of one column; with `y.conj()` for the Hermitian product. As
/// [`matmul`](super::matmul) otherwise.
pub fn outer<T: Multiply>(
    place: &Place,
    alpha: T::Factor,
    x: MatRef<'_, T>,
    y: MatRef<'_, T>,
    c: MatMut<'_, T>,
) -> Result<(), Error> {
    expect("outer", "columns of x", 1, x.columns())?;
    expect("outer", "columns of y", 1, y.columns())?;
    matmul(place, Precision::Auto, alpha, x, y.t(), T::Factor::ONE, c)
}
