//! Products on the CPU: what lies on the GPU is fetched within the budget of host memory, and a result that is wanted there goes back.

use super::banded::Factors;
use super::diagonal;
use super::multiplicand::Multiplicand;
use super::operand::{Form, Goal, Operand};
use super::product::{Multiplication, write};
use crate::budget::Permit;
use crate::linear::{DeviceMat, Place, matmul};
use crate::matrix::{Dense, Element};
use crate::store::Extents;
use crate::{Error, MatMut};
use ndarray::{Array2, s};

/// Copies of operands, where they have any, and leave to take the memory.
struct Fetched<T> {
    copies: [Option<Array2<T>>; 2],
    _host: Permit,
}

impl<T: Multiplicand> Multiplication<'_, T> {
    /// At once: nothing is stored.
    pub(super) fn on_cpu(&mut self) -> Result<(), Error> {
        let fetched = self.fetched(true)?;
        let Factors { operation, precision, alpha, a, b, beta } = fetched.factors(self.factors);
        let multiply = |c: MatMut<'_, T>| match (a.0, b.0) {
            (Form::Host(a), Form::Host(b)) => matmul(&Place::Cpu, precision, alpha, a, b, beta, c),
            _ => diagonal::multiply(operation, alpha, [a, b], beta, c),
        };
        match &mut self.c.0 {
            Goal::Host(c) | Goal::New(c) => multiply(c.reborrow()),
            Goal::Gpu(there) => {
                let _host = self.host.try_acquire(there.shape().bytes::<T>()?.0 as u64)?;
                there_updated(there, beta, |c| multiply(c.into()))
            }
            Goal::Stored(_) => self.in_host_tiles(),
        }
    }

    /// In tiles of the result that host memory holds, where something is stored.
    pub(super) fn in_host_tiles(&mut self) -> Result<(), Error> {
        let shape = self.c.shape();
        let extents = Extents::new(shape.rows.0, shape.columns.0);
        // Of others each tile fetches its part.
        let fetched = self.fetched(!T::COMES_IN_PARTS)?;
        let factors = fetched.factors(self.factors);
        let Factors { operation, a, b, beta, .. } = factors;
        // Nothing of a result in memory is changed before all is read.
        let bytes = if matches!(self.c.0, Goal::Stored(_)) { 0 } else { shape.bytes::<T>()?.0 as u64 };
        let _copy = self.host.try_acquire(bytes)?;
        let grain = match &self.c.0 {
            Goal::Stored(kept) => kept.sink.as_ref().map(|sink| sink.grain()),
            _ => None,
        };
        let tiles = factors.tiles(&self.host, extents, grain)?;
        let into = |c: &mut Array2<T>| {
            factors.each(&tiles, |tile, multiply| {
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
                into(&mut result)?;
                write(c, &result)
            }
            Goal::Gpu(there) => there_updated(there, beta, into),
            Goal::Stored(kept) => {
                factors.each(&tiles, |tile, multiply| {
                    let mut values = kept.added::<T>(tile, beta)?;
                    multiply((&mut values).into())?;
                    kept.write(tile, &values)
                })?;
                kept.commit()
            }
        }
    }

    /// Copies of operands that lie on the GPU, if those come whole.
    fn fetched(&self, comes_whole: bool) -> Result<Fetched<T>, Error> {
        let there = [self.factors.a, self.factors.b].map(|operand| match operand.0 {
            Form::Gpu(matrix) if comes_whole => Some(matrix),
            _ => None,
        });
        let mut bytes = 0u64;
        for matrix in there.iter().flatten() {
            bytes = bytes.saturating_add(match T::COMES_IN_PARTS {
                true => matrix.bytes_of_download()?,
                false => matrix.bytes_of_whole()?,
            });
        }
        let _host = self.host.try_acquire(bytes)?;
        let [a, b] = there.map(|matrix| matrix.map(T::download).transpose());
        Ok(Fetched { copies: [a?, b?], _host })
    }
}

impl<T: Multiplicand> Fetched<T> {
    /// A product with copies where there are any.
    fn factors<'a>(&'a self, factors: Factors<'a, T>) -> Factors<'a, T> {
        let [a, b] = &self.copies;
        let of = |copy: &'a Option<Array2<T>>, own| copy.as_ref().map_or(own, Operand::from);
        Factors { a: of(a, factors.a), b: of(b, factors.b), ..factors }
    }
}

/// A result on a GPU, computed here.
fn there_updated<T: Multiplicand>(
    there: &mut DeviceMat<T>,
    beta: T::Factor,
    compute: impl FnOnce(&mut Array2<T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let reads_c = beta != T::Factor::ZERO;
    let mut c = if reads_c { T::download(there.view())? } else { Dense::zeros(there.shape())?.into_array() };
    compute(&mut c)?;
    there.take((&c).into())
}
