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
        target.values_mut().par_chunks_mut(rows).for_each(|values| {
            let mut column: Vec<_> = values.iter().map(|value| value.wide()).collect();
            apply(&mut column);
            values.iter_mut().zip(column).for_each(|(value, exact)| *value = T::nearest(exact));
        });
    }

    fn reflect(&self, j: usize, tau: Complex64, column: &mut [Complex64]) {
        let rows = self.basis.rows();
        let (below, (first, rest)) = (&self.basis.values()[j * rows..][j + 1..rows], halves(column, j));
        let along = below.iter().zip(&*rest).fold(*first, |sum, (v, x)| sum + v.wide().conj() * x);
        let by = tau * along;
        *first -= by;
        below.iter().zip(rest).for_each(|(v, x)| *x -= v.wide() * by);
    }
}

/// An element and those behind it.
fn halves(column: &mut [Complex64], at: usize) -> (&mut Complex64, &mut [Complex64]) {
    let (to, rest) = column.split_at_mut(at + 1);
    (&mut to[at], rest)
}
