//! Products on the CPU: what lies on the GPU is fetched within the budget of host memory, and a result that is wanted there goes back.

use super::banded::Factors;
use super::copies::{Copies, Download};
use super::delivered::write;
use super::diagonal;
use super::multiplicand::Multiplicand;
use super::operand::{Form, Goal};
use super::own::Own;
use super::product::Multiplication;
use crate::linear::{DeviceMat, Place, matmul};
use crate::matrix::{Dense, Element};
use crate::store::Extents;
use crate::stream::Control;
use crate::{Error, MatMut, MatRef};
use ndarray::{Array2, ArrayViewMut2, s};

impl<'a, T: Multiplicand> Multiplication<'a, T> {
    /// At once: nothing is stored.
    pub(super) fn on_cpu(&mut self, control: Control<'_>) -> Result<(), Error> {
        let fetched = self.fetched(true)?;
        let Factors { operation, precision, alpha, a, b, beta, .. } = self.factors.with(&fetched);
        let multiply = |c: MatMut<'_, T>| match (a.0, b.0) {
            (Form::Host(a), Form::Host(b)) => matmul(&Place::Cpu, precision, alpha, a, b, beta, c),
            _ => diagonal::multiply(operation, alpha, [a, b], beta, c),
        };
        match &mut self.c.0 {
            Goal::Host(c) | Goal::New(c) => multiply(c.reborrow()),
            Goal::Gpu(there) => {
                let (shape, gpu) = (there.shape(), there.gpu().clone());
                let _host = self.room.host.try_acquire(shape.bytes::<T>()?.0 as u64)?;
                let mut own = Own::new(&self.room, Some(&gpu), shape)?;
                if beta != T::Factor::ZERO {
                    there.view().bring(own.values_mut())?;
                }
                multiply(MatMut::column_major(own.values_mut(), shape.rows, shape.columns)?)?;
                there.take(MatRef::column_major(own.values(), shape.rows, shape.columns)?)
            }
            Goal::Stored(_) => self.in_host_tiles(control),
        }
    }

    /// In tiles of the result that host memory holds, where something is stored.
    pub(super) fn in_host_tiles(&mut self, control: Control<'_>) -> Result<(), Error> {
        let shape = self.c.shape();
        let extents = Extents::new(shape.rows.0, shape.columns.0);
        // Of others each tile fetches its part.
        let fetched = self.fetched(!T::COMES_IN_PARTS)?;
        let factors = self.factors.with(&fetched);
        let Factors { operation, a, b, beta, .. } = factors;
        // Nothing of a result in memory is changed before all is read.
        let bytes = if matches!(self.c.0, Goal::Stored(_)) { 0 } else { shape.bytes::<T>()?.0 as u64 };
        let _copy = self.room.host.try_acquire(bytes)?;
        let grain = match &self.c.0 {
            Goal::Stored(kept) if !kept.lies() => {
                kept.gather_within(&self.room.host)?;
                Some(kept.grain())
            }
            _ => None,
        };
        let tiles = factors.tiles(&self.room.host, extents, grain)?;
        let into = |mut c: ArrayViewMut2<'_, T>| {
            factors.each(&tiles, control, |tile, multiply| {
                let mut part = c.slice_mut(s![tile.rows.clone(), tile.columns.clone()]);
                multiply((&mut part).into())
            })
        };
        match &mut self.c.0 {
            Goal::Host(c) | Goal::New(c) => {
                for (operand, name) in [(a, "a"), (b, "b")] {
                    if let Form::Host(matrix) = operand.0 {
                        c.refuse_overlap(operation, name, matrix)?;
                    }
                }
                let mut result = match beta == T::Factor::ZERO {
                    true => Dense::zeros(shape)?,
                    false => c.read().to_dense()?,
                }
                .into_array();
                into(result.view_mut())?;
                write(c, &result)
            }
            Goal::Gpu(there) => there_updated(there, beta, |c| into(c.view_mut())),
            Goal::Stored(kept) if kept.lies() => {
                kept.computed(beta, into)?;
                kept.commit()
            }
            Goal::Stored(kept) => {
                factors.each(&tiles, control, |tile, multiply| {
                    let mut values = kept.added::<T>(tile, beta)?;
                    multiply((&mut values).into())?;
                    kept.write(tile, &values)
                })?;
                kept.commit()
            }
        }
    }

    /// Copies of operands that lie on the GPU, if those come whole.
    pub(super) fn fetched(&self, comes_whole: bool) -> Result<Copies<'a, T, 2>, Error> {
        let Factors { a, b, .. } = self.factors;
        let come = |form: &Form<'_, T>| comes_whole && matches!(form, Form::Gpu(_));
        Copies::of((&self.room.host, 0), [a, b], come, Download::own(&self.room))
    }
}

/// A result on a GPU, computed here.
pub(super) fn there_updated<T: Multiplicand>(
    there: &mut DeviceMat<T>,
    beta: T::Factor,
    compute: impl FnOnce(&mut Array2<T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let reads_c = beta != T::Factor::ZERO;
    let mut c = if reads_c { T::download(there.view())? } else { Dense::zeros(there.shape())?.into_array() };
    compute(&mut c)?;
    there.take((&c).into())
}
