//! Products, factorisations and what is done with factors.

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::householder;
use faer::linalg::lu::partial_pivoting::factor as lu;
use faer::linalg::triangular_solve as solve;
use faer::traits::ComplexField;
use faer::{Conj, MatMut, MatRef};

use super::{Triangle, conj, parallelism, workspace};
use crate::{
    Error,
    matrix::{Dense, Element},
    raw::{Elements, ElementsMut},
};

fn faer<T: Element>(matrix: &Dense<T>) -> MatRef<'_, T> {
    matrix.view().elements().faer()
}

pub(super) fn faer_mut<T: Element>(matrix: &mut Dense<T>) -> MatMut<'_, T> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    MatMut::from_column_major_slice_mut(matrix.values_mut(), rows, columns)
}

pub(super) fn lu_in_place<T: Element + ComplexField>(matrix: &mut Dense<T>) -> Result<Vec<usize>, Error> {
    let (shape, rows, par) = (matrix.shape(), matrix.rows(), parallelism());
    let (mut forward, mut backward) = (vec![0; rows], vec![0; rows]);
    let wanted = lu::lu_in_place_scratch::<usize, T>(rows, matrix.columns(), par, Default::default());
    let mut memory = workspace::<T>(shape, wanted)?;
    let stack = MemStack::new(&mut memory);
    lu::lu_in_place(faer_mut(matrix), &mut forward, &mut backward, par, stack, Default::default());
    Ok(forward)
}

pub(super) fn cholesky_in_place<T: Element + ComplexField>(matrix: &mut Dense<T>) -> Result<Result<(), usize>, Error> {
    let par = parallelism();
    let wanted = llt::cholesky_in_place_scratch::<T>(matrix.rows(), par, Default::default());
    let mut memory = workspace::<T>(matrix.shape(), wanted)?;
    let stack = MemStack::new(&mut memory);
    let done = llt::cholesky_in_place(faer_mut(matrix), Default::default(), par, stack, Default::default());
    Ok(done.map(drop).map_err(|llt::LltError::NonPositivePivot { index }| index + 1))
}

pub(super) fn triangular_solve<T: Element + ComplexField>(
    triangle: Triangle,
    matrix: (Elements<'_, T>, bool),
    right: &mut ElementsMut<'_, T>,
) {
    let (matrix, conj, right, par) = (matrix.0.faer(), conj(matrix.1), right.faer(), parallelism());
    match triangle {
        Triangle::Lower => solve::solve_lower_triangular_in_place_with_conj(matrix, conj, right, par),
        Triangle::UnitLower => solve::solve_unit_lower_triangular_in_place_with_conj(matrix, conj, right, par),
        Triangle::Upper => solve::solve_upper_triangular_in_place_with_conj(matrix, conj, right, par),
        Triangle::UnitUpper => solve::solve_unit_upper_triangular_in_place_with_conj(matrix, conj, right, par),
    }
}

fn room_for_q<T: Element + ComplexField>(basis: &Dense<T>, coefficients: &Dense<T>, target: &Dense<T>) -> StackReq {
    let (rows, block, columns) = (basis.rows(), coefficients.rows(), target.columns());
    householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(rows, block, columns).or(
        householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<T>(rows, block, columns),
    )
}

pub(super) fn apply_q<T: Element + ComplexField>(
    basis: &Dense<T>,
    coefficients: &Dense<T>,
    target: &mut Dense<T>,
) -> Result<(), Error> {
    let mut memory = workspace::<T>(target.shape(), room_for_q(basis, coefficients, target))?;
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        faer(basis),
        faer(coefficients),
        Conj::No,
        faer_mut(target),
        parallelism(),
        MemStack::new(&mut memory),
    );
    Ok(())
}

pub(super) fn apply_q_adjoint<T: Element + ComplexField>(
    basis: &Dense<T>,
    coefficients: &Dense<T>,
    target: &mut Dense<T>,
) -> Result<(), Error> {
    let mut memory = workspace::<T>(target.shape(), room_for_q(basis, coefficients, target))?;
    householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
        faer(basis),
        faer(coefficients),
        Conj::Yes,
        faer_mut(target),
        parallelism(),
        MemStack::new(&mut memory),
    );
    Ok(())
}
