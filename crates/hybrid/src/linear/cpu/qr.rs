//! QR factors, made of faer's block reflections.
//!
//! faer's own factorisation (0.24.4) finds ranks: it leaves out columns of which less than `16 * rows * epsilon` is left beside those before, in f32
//! all but the first of half a million rows. Here none is left out, however small it becomes, as LAPACK has it.

use faer::dyn_stack::MemStack;
use faer::linalg::householder::{
    apply_block_householder_on_the_left_in_place_scratch as scratch,
    apply_block_householder_transpose_on_the_left_in_place_with_conj as apply_adjoint, make_householder_in_place,
};
use faer::linalg::matmul::{triangular, triangular::BlockStructure as Structure};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::traits::{ComplexField, ext::RealFieldExt};
use faer::{Accum, Conj, MatMut, MatRef, Par};

use super::{factor::faer_mut, parallelism, workspace};
use crate::Error;
use crate::matrix::{Dense, Element};

/// Elements from which on faer shares the work of its own factorisation.
const SHARED: usize = 192 * 256;

/// R on and above the diagonal, the vectors of the reflections below it, and the factors of their blocks, as faer's sequences of blocks have them.
pub(super) fn qr_in_place<T: Element + ComplexField>(matrix: &mut Dense<T>) -> Result<Dense<T>, Error> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let size = rows.min(columns);
    let block = recommended_block_size::<T>(rows, columns);
    let par = if rows * columns < SHARED { Par::Seq } else { parallelism() };
    let mut coefficients = Dense::new(block, size)?;
    let mut memory = workspace::<T>(matrix.shape(), scratch::<T>(rows, block, columns))?;
    let stack = MemStack::new(&mut memory);
    let mut all = faer_mut(matrix);
    for first in (0..size).step_by(block) {
        let width = block.min(size - first);
        let (mut panel, rest) =
            all.as_mut().submatrix_mut(first, first, rows - first, columns - first).split_at_col_mut(width);
        let mut factor = faer_mut(&mut coefficients).submatrix_mut(0, first, width, width);
        reflect(panel.as_mut(), factor.as_mut(), par, stack);
        apply_adjoint(panel.as_ref(), factor.as_ref(), Conj::Yes, rest, par, stack);
    }
    Ok(coefficients)
}

/// Columns that are reflected one after the other.
const FEW: usize = 8;

/// The factors of columns, which have at least as many rows: of many, those of the left half, of what these leave of the right one, and what couples both.
fn reflect<T: ComplexField>(columns: MatMut<'_, T>, factor: MatMut<'_, T>, par: Par, stack: &mut MemStack) {
    let size = columns.ncols();
    if size <= FEW {
        return reflect_few(columns, factor, par, stack);
    }
    let half = size / 2;
    let (mut left, mut right) = columns.split_at_col_mut(half);
    let (mut of_left, between, _, of_right) = factor.split_at_mut(half, half);
    reflect(left.as_mut(), of_left.as_mut(), par, stack);
    apply_adjoint(left.as_ref(), of_left.as_ref(), Conj::Yes, right.as_mut(), par, stack);
    let (left, mut right) = (left.as_ref().split_at_row(half).1, right.split_at_row_mut(half).1);
    reflect(right.as_mut(), of_right, par, stack);
    couple(between, Structure::Rectangular, left, Structure::Rectangular, right.as_ref(), par);
}

fn reflect_few<T: ComplexField>(mut columns: MatMut<'_, T>, mut factor: MatMut<'_, T>, par: Par, stack: &mut MemStack) {
    for j in 0..columns.ncols() {
        let (mut column, rest) = columns.as_mut().split_at_row_mut(j).1.split_at_col_mut(j).1.split_at_col_mut(1);
        let (mut head, tail) = column.as_mut().col_mut(0).split_at_row_mut(1);
        factor[(j, j)] = make_householder_in_place(&mut head[0], tail).tau.to_cplx();
        let of_column = factor.as_ref().submatrix(j, j, 1, 1);
        apply_adjoint(column.as_ref(), of_column, Conj::Yes, rest, par, stack);
    }
    let columns = columns.as_ref();
    couple(factor, Structure::StrictTriangularUpper, columns, Structure::UnitTriangularUpper, columns, par);
}

/// What couples reflections: `adjoint(left) right`, where the upper part of the right one is ones on its diagonal, and zeros above.
fn couple<T: ComplexField>(
    factor: MatMut<'_, T>,
    wanted: Structure,
    left: MatRef<'_, T>,
    adjoint: Structure,
    right: MatRef<'_, T>,
    par: Par,
) {
    let (mut factor, one) = (factor, T::one_impl());
    let ((left, left_below), (right, right_below)) =
        (left.split_at_row(right.ncols()), right.split_at_row(right.ncols()));
    let lower = Structure::UnitTriangularLower;
    triangular::matmul(
        factor.as_mut(),
        wanted,
        Accum::Replace,
        left.adjoint(),
        adjoint,
        right,
        lower,
        one.clone(),
        par,
    );
    let all = Structure::Rectangular;
    triangular::matmul(factor, wanted, Accum::Add, left_below.adjoint(), all, right_below, all, one, par);
}
