//! Solutions and inverses, and how they go through a GPU that has no room for the matrix.

use super::Accelerated;
use super::run::Route;
use super::source::MatrixSource;
use crate::faults::Scale;
use crate::linear::{self, Place, Scalar};
use crate::store::{Extents, MemoryScratch, MemorySink, Sink};
use crate::stream::{self, Control, Factor};
use crate::{Error, MatRef};
use ndarray::Array2;

/// x with `a x = b`, or the inverse of `a` where there is no b.
pub(super) struct Solution<'a, T> {
    pub(super) a: MatRef<'a, T>,
    pub(super) b: Option<MatRef<'a, T>>,
}

impl<T: Scalar> Route<Array2<T>> for Solution<'_, T> {
    fn whole(&mut self, place: &Place) -> Result<Array2<T>, Error> {
        match self.b {
            Some(b) => linear::solve(place, self.a, b),
            None => linear::inverse(place, self.a),
        }
    }

    /// The factors go through host memory of the matrix's size.
    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<Array2<T>, Error> {
        let extents = Extents::new(self.a.rows(), self.a.columns());
        let _host = gpu.host.try_acquire(extents.byte_count(T::ELEMENT)? as u64)?;
        let scratch = MemoryScratch::new(extents, T::ELEMENT)?;
        let (budgets, _permit) = gpu.smaller(scale)?;
        let a = MatrixSource(self.a);
        let a = Factor::plain(&a);
        // Products alone are verified.
        let control = Control { verify: None, ..control };
        let columns = self.b.map_or(extents.columns, |b| b.columns());
        let mut x = Array2::from_elem((extents.columns, columns), T::ZERO);
        let sink = MemorySink::new(x.view_mut());
        match self.b {
            Some(b) => {
                let b = MatrixSource(b);
                stream::solve::<T>(&gpu.gpu, &budgets, [a, Factor::plain(&b)], &scratch, &sink, control)?;
            }
            None => {
                stream::inverse::<T>(&gpu.gpu, &budgets, a, &scratch, &sink, control)?;
            }
        }
        Box::new(sink).commit()?;
        Ok(x)
    }
}
