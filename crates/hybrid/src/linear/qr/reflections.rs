use num_complex::Complex64;
use rayon::prelude::*;

use crate::linear::Scalar;
use crate::matrix::Dense;

/// Reflections as LAPACK has them, and cuSOLVER: Q is the product, from left to right, of `I - tau[j] v adjoint(v)`, where v has zeros above row j,
/// a one there, and column j of the basis below.
#[derive(Debug)]
pub(super) struct Reflections<T: Scalar> {
    pub(super) basis: Dense<T>,
    pub(super) tau: Vec<T>,
}

impl<T: Scalar> Reflections<T> {
    /// `Q target` in place of it.
    pub(super) fn apply(&self, target: &mut Dense<T>) {
        self.each(target, |column| {
            (0..self.tau.len()).rev().for_each(|j| self.reflect(j, self.tau[j].wide(), column));
        });
    }

    /// `adjoint(Q) target` in place of it.
    pub(super) fn apply_adjoint(&self, target: &mut Dense<T>) {
        self.each(target, |column| {
            (0..self.tau.len()).for_each(|j| self.reflect(j, self.tau[j].wide().conj(), column));
        });
    }

    /// Columns side by side, each rounded once.
    fn each(&self, target: &mut Dense<T>, apply: impl Fn(&mut [Complex64]) + Sync) {
        let rows = target.rows().max(1);
        target.values_mut().par_chunks_mut(rows).for_each(|values| in_wide(values, &apply));
    }

    fn reflect(&self, j: usize, tau: Complex64, column: &mut [Complex64]) {
        let rows = self.basis.rows();
        reflect(&self.basis.values()[j * rows..][j + 1..rows], tau, &mut column[j..]);
    }

    /// Of a matrix, which R takes the place of, on and above the diagonal. No column is left out, however small it becomes.
    pub(super) fn of(mut matrix: Dense<T>) -> Self {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let mut tau = Vec::with_capacity(rows.min(columns));
        for j in 0..rows.min(columns) {
            let (left, right) = matrix.values_mut().split_at_mut((j + 1) * rows);
            let column = &mut left[j * rows + j..];
            tau.push(T::nearest(reflection(column)));
            let (below, by) = (&column[1..], tau[j].wide().conj());
            right
                .par_chunks_mut(rows)
                .for_each(|values| in_wide(&mut values[j..], |column| reflect(below, by, column)));
        }
        Self { basis: matrix, tau }
    }
}

/// Has numbers computed with as c128, and rounds them once.
fn in_wide<T: Scalar>(values: &mut [T], compute: impl FnOnce(&mut [Complex64])) {
    let mut wide: Vec<_> = values.iter().map(|value| value.wide()).collect();
    compute(&mut wide);
    values.iter_mut().zip(wide).for_each(|(value, exact)| *value = T::nearest(exact));
}

/// `(I - tau v adjoint(v)) column`, where v is a one and what is below it.
fn reflect<T: Scalar>(below: &[T], tau: Complex64, column: &mut [Complex64]) {
    let (first, rest) = column.split_at_mut(1);
    let along = below.iter().zip(&*rest).fold(first[0], |sum, (v, x)| sum + v.wide().conj() * x);
    let by = tau * along;
    first[0] -= by;
    below.iter().zip(rest).for_each(|(v, x)| *x -= v.wide() * by);
}

/// Makes a column the vector of a reflection, below its first element, which becomes what that leaves of the column; its `tau` (LAPACK's `larfg`).
fn reflection<T: Scalar>(column: &mut [T]) -> Complex64 {
    let norm = norm(&column[1..]);
    let first = column[0].wide();
    if norm == 0.0 && first.im == 0.0 {
        return Complex64::ZERO;
    }
    let left = -first.re.hypot(first.im).hypot(norm).copysign(first.re);
    let by = first - left;
    column[1..].iter_mut().for_each(|value| *value = T::nearest(value.wide() / by));
    column[0] = T::from_f64(left);
    -by / left
}

/// The root of the sum of squares, none of which overflows.
fn norm<T: Scalar>(values: &[T]) -> f64 {
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.modulus()));
    let squares = |sum: f64, value: &T| sum + (value.modulus() / largest).powi(2);
    if largest == 0.0 { 0.0 } else { largest * values.iter().fold(0.0, squares).sqrt() }
}
