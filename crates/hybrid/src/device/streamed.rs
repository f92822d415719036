//! Factors of a matrix that a GPU has no room for: made there panel by panel, and kept in host memory.

use super::Accelerated;
use super::factored::Pivots;
use super::run::Route;
use super::source::MatrixSource;
use crate::faults::Scale;
use crate::linear::{Cholesky, Gpu, Lu, Place, Scalar};
use crate::matrix::Dense;
use crate::store::MemoryScratch;
use crate::stream::{self, Budgets, Control, Factor};
use crate::{Error, MatRef};
use rayon::prelude::*;

/// The factors of `a`, or what follows from them.
pub(super) struct ByFactors<'a, T, W, S> {
    pub(super) a: MatRef<'a, T>,
    /// With all of it in one place.
    pub(super) whole: W,
    /// With factors that are streamed.
    pub(super) streamed: S,
}

/// A matrix, and the GPU that it goes through.
pub(super) struct Through<'a, T> {
    a: MatRef<'a, T>,
    gpu: &'a Gpu,
    budgets: &'a Budgets,
    control: Control<'a>,
}

impl<T, R, W, S> Route<R> for ByFactors<'_, T, W, S>
where
    T: Scalar,
    W: FnMut(&Place) -> Result<R, Error>,
    S: FnMut(Through<'_, T>) -> Result<R, Error>,
{
    fn whole(&mut self, place: &Place) -> Result<R, Error> {
        (self.whole)(place)
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<R, Error> {
        let _host = gpu.host.try_acquire(self.a.shape().bytes::<T>()?.0 as u64)?;
        let (budgets, _permit) = gpu.smaller(scale)?;
        // Products alone are verified.
        let control = Control { verify: None, ..control };
        (self.streamed)(Through { a: self.a, gpu: &gpu.gpu, budgets: &budgets, control })
    }
}

/// LU factors, with rows of L where the exchanges of all panels put them.
pub(super) fn lu<T: Scalar>(Through { a, gpu, budgets, control }: Through<'_, T>) -> Result<Lu<T>, Error> {
    let source = MatrixSource(a);
    let (factors, Pivots { permutation, singular }) = lu_of(Into { a: Factor::plain(&source), gpu, budgets, control })?;
    Ok(Lu::of_factors(factors, permutation, singular, a))
}

/// Cholesky's factor.
pub(super) fn cholesky<T: Scalar>(Through { a, gpu, budgets, control }: Through<'_, T>) -> Result<Cholesky<T>, Error> {
    cholesky_of(Into { a: Factor::plain(&MatrixSource(a)), gpu, budgets, control })
}

/// A square matrix, wherever it lies, and the GPU that it goes through into factors in host memory.
pub(super) struct Into<'a> {
    pub(super) a: Factor<'a>,
    pub(super) gpu: &'a Gpu,
    pub(super) budgets: &'a Budgets,
    pub(super) control: Control<'a>,
}

pub(super) fn lu_of<T: Scalar>(Into { a, gpu, budgets, control }: Into<'_>) -> Result<(Dense<T>, Pivots), Error> {
    let [rows, columns] = a.extents();
    let mut factors = Dense::new(rows, columns)?;
    // A scratch has the columns of the matrix as its rows.
    let scratch = MemoryScratch::over(factors.values_mut(), rows);
    let made = stream::lu::<T>(gpu, budgets, a, &scratch, control)?;
    let (permutation, singular, (block, orders)) = (made.permutation(), made.singular_pivot(), made.orders());
    drop(scratch);
    let columns = factors.values_mut().par_chunks_exact_mut(rows.max(1)).enumerate();
    columns.for_each_init(Vec::new, |stored, (number, column)| {
        // Rows of its own block stand right.
        let below = (number / block + 1) * block;
        let Some(order) = orders[number / block].get(below..) else { return };
        stored.clear();
        stored.extend_from_slice(&column[below..]);
        column[below..].iter_mut().zip(order).for_each(|(value, from)| *value = stored[from - below]);
    });
    Ok((factors, Pivots { permutation, singular }))
}

pub(super) fn cholesky_of<T: Scalar>(Into { a, gpu, budgets, control }: Into<'_>) -> Result<Cholesky<T>, Error> {
    let [rows, columns] = a.extents();
    let mut factor = Dense::new(rows, columns)?;
    let scratch = MemoryScratch::over(factor.values_mut(), rows);
    stream::cholesky::<T>(gpu, budgets, a, &scratch, control)?;
    drop(scratch);
    Cholesky::of_factor(factor)
}
