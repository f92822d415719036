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
