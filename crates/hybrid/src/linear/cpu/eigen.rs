//! Eigenvalues and singular values.

use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::traits::{ComplexField, RealField};
use faer::{Col, MatMut, MatRef};
use num_complex::Complex;

use super::{parallelism, workspace};
use crate::{
    Error,
    matrix::{Dense, Element},
};

fn faer<T: Element>(matrix: &Dense<T>) -> MatRef<'_, T> {
    matrix.view().elements().faer()
}

fn faer_mut<T: Element>(matrix: &mut Dense<T>) -> MatMut<'_, T> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    MatMut::from_column_major_slice_mut(matrix.values_mut(), rows, columns)
}

fn diagonal<T: ComplexField>(values: &mut Col<T>) -> DiagMut<'_, T> {
    values.as_mut().as_diagonal_mut()
}

fn wanted<T>(vectors: &Option<T>) -> ComputeEigenvectors {
    if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

/// faer gives up after 30 sweeps a value.
fn not_converged(operation: &'static str, size: usize) -> Error {
    Error::NotConverged { operation, iterations: 30 * size }
}

pub(super) fn hermitian<T: Element + ComplexField>(
    matrix: &Dense<T>,
    vectors: Option<&mut Dense<T>>,
) -> Result<Vec<T>, Error> {
    let (size, par) = (matrix.rows(), parallelism());
    let request = evd::self_adjoint_evd_scratch::<T>(size, wanted(&vectors), par, Default::default());
    let (mut memory, mut values) = (workspace::<T>(matrix.shape(), request)?, Col::<T>::zeros(size));
    let (stack, vectors) = (MemStack::new(&mut memory), vectors.map(faer_mut));
    evd::self_adjoint_evd(faer(matrix), diagonal(&mut values), vectors, par, stack, Default::default())
        .map_err(|_| not_converged("eigenvalues of a Hermitian matrix", size))?;
    Ok(values.iter().copied().collect())
}

pub(super) fn general_real<T: Element + RealField>(
    matrix: &Dense<T>,
    vectors: Option<&mut Dense<T>>,
) -> Result<[Vec<T>; 2], Error> {
    let (size, par) = (matrix.rows(), parallelism());
    let request = evd::evd_scratch::<T>(size, ComputeEigenvectors::No, wanted(&vectors), par, Default::default());
    let mut memory = workspace::<T>(matrix.shape(), request)?;
    let (mut real, mut imaginary) = (Col::<T>::zeros(size), Col::<T>::zeros(size));
    let (stack, vectors) = (MemStack::new(&mut memory), vectors.map(faer_mut));
    let values = (diagonal(&mut real), diagonal(&mut imaginary));
    evd::evd_real(faer(matrix), values.0, values.1, None, vectors, par, stack, Default::default())
        .map_err(|_| not_converged("eigenvalues", size))?;
    Ok([real, imaginary].map(|part| part.iter().copied().collect()))
}

pub(super) fn general_complex<T: RealField>(
    matrix: &Dense<Complex<T>>,
    vectors: Option<&mut Dense<Complex<T>>>,
) -> Result<[Vec<Complex<T>>; 2], Error>
where
    Complex<T>: Element + ComplexField,
{
    let (size, par) = (matrix.rows(), parallelism());
    let request =
        evd::evd_scratch::<Complex<T>>(size, ComputeEigenvectors::No, wanted(&vectors), par, Default::default());
    let mut memory = workspace::<Complex<T>>(matrix.shape(), request)?;
    let mut values = Col::<Complex<T>>::zeros(size);
    let (stack, vectors) = (MemStack::new(&mut memory), vectors.map(faer_mut));
    evd::evd_cplx(faer(matrix), diagonal(&mut values), None, vectors, par, stack, Default::default())
        .map_err(|_| not_converged("eigenvalues", size))?;
    Ok([values.iter().copied().collect(), Vec::new()])
}

pub(super) fn singular<T: Element + ComplexField>(
    matrix: &Dense<T>,
    vectors: Option<[&mut Dense<T>; 2]>,
) -> Result<Vec<T>, Error> {
    let (rows, columns, par) = (matrix.rows(), matrix.columns(), parallelism());
    let compute = if vectors.is_some() { ComputeSvdVectors::Thin } else { ComputeSvdVectors::No };
    let request = svd::svd_scratch::<T>(rows, columns, compute, compute, par, Default::default());
    let (mut memory, mut values) = (workspace::<T>(matrix.shape(), request)?, Col::<T>::zeros(rows.min(columns)));
    let (stack, [left, right]) = (MemStack::new(&mut memory), vectors.map_or([None, None], |both| both.map(Some)));
    let (left, right) = (left.map(faer_mut), right.map(faer_mut));
    svd::svd(faer(matrix), diagonal(&mut values), left, right, par, stack, Default::default())
        .map_err(|_| not_converged("singular values", rows.min(columns)))?;
    Ok(values.iter().copied().collect())
}
