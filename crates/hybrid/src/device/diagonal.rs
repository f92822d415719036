//! Products with a factor that is zero off its diagonal: rows or columns are scaled.

use super::multiplicand::Multiplicand;
use super::operand::{Form, Operand};
use crate::linear::Scalar;
use crate::matrix::{Columns, Element, Rows};
use crate::{Error, MatMut};

/// `c = alpha * a * b + beta * c` in host memory, where one factor or both are known by their diagonals.
pub(super) fn multiply<T: Multiplicand>(
    operation: &'static str,
    alpha: T::Factor,
    [a, b]: [Operand<'_, T>; 2],
    beta: T::Factor,
    c: MatMut<'_, T>,
) -> Result<(), Error> {
    for (operand, name) in [(a, "a"), (b, "b")] {
        if let Form::Host(matrix) = operand.0 {
            c.refuse_overlap(operation, name, matrix)?;
        }
    }
    let at = |operand: &Operand<'_, T>, row, column| match operand.0 {
        Form::Host(matrix) => matrix.at(Rows(row), Columns(column)).map_or(T::Factor::ZERO, T::widened),
        Form::Diagonal(diagonal) if row == column => diagonal.at(row).widened(),
        Form::Diagonal(_) | Form::Gpu(_) | Form::Stored(_) => T::Factor::ZERO,
    };
    // Whichever is diagonal has one element in the sum.
    let element = |row, column| match a.0 {
        Form::Diagonal(diagonal) => diagonal.at(row).widened().times(at(&b, row, column)),
        _ => at(&a, row, column).times(at(&b, column, column)),
    };
    update(alpha, element, beta, c);
    Ok(())
}

/// `c = alpha * element + beta * c`, of which nothing is read that is multiplied by 0.
fn update<T: Multiplicand>(
    alpha: T::Factor,
    element: impl Fn(usize, usize) -> T::Factor,
    beta: T::Factor,
    mut c: MatMut<'_, T>,
) {
    let rows = c.rows().max(1);
    let scaled = |index: usize| match alpha == T::Factor::ZERO {
        true => T::Factor::ZERO,
        false => alpha.times(element(index % rows, index / rows)),
    };
    if beta == T::Factor::ZERO {
        return c.elements().fill(|index| T::rounded(scaled(index)));
    }
    c.elements()
        .update(|index, old| T::rounded(T::Factor::nearest(scaled(index).wide() + beta.times(old.widened()).wide())));
}
