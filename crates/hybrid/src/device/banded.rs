//! Products of what is stored, on the CPU: in tiles of the result that host memory holds, each over the whole depth.

use super::diagonal;
use super::multiplicand::Multiplicand;
use super::operand::{Diagonal, Form, Operand};
use super::stored::Read;
use crate::budget::{Budget, Permit};
use crate::linear::{Place, Precision, matmul};
use crate::matrix::{Columns, Element, Rows};
use crate::store::{Extents, Tile};
use crate::stream::largest;
use crate::{Error, MatMut};
use std::ops::Range;

/// What is multiplied into each tile: `c = alpha * a * b + beta * c`.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a, T: Multiplicand> {
    pub(super) operation: &'static str,
    pub(super) precision: Precision,
    pub(super) alpha: T::Factor,
    pub(super) a: Operand<'a, T>,
    pub(super) b: Operand<'a, T>,
    pub(super) beta: T::Factor,
}

/// Tiles of a result, and leave to take the memory for one.
pub(super) struct Tiles {
    extents: Extents,
    tile: Extents,
    _host: Permit,
}

/// A part of an operand: where it lies, or a copy.
pub(super) enum Part<'a, T: Element> {
    There(Operand<'a, T>),
    Read(Read<T>),
}

impl<T: Element> Part<'_, T> {
    pub(super) fn operand(&self) -> Operand<'_, T> {
        match self {
            Part::There(operand) => *operand,
            Part::Read(read) => read.view().into(),
        }
    }
}

impl<'a, T: Multiplicand> Factors<'a, T> {
    /// The largest tiles of a result that a budget holds with what is read for them, and with the tile itself where `grain` says how the
    /// result is stored: in whole grains, where there is room for one. [`Error::Budget`] where there is no room for one element's.
    pub(super) fn tiles(&self, host: &Budget, extents: Extents, grain: Option<Extents>) -> Result<Tiles, Error> {
        let even = |side: usize, extent: usize, grain: usize| match side >= extent {
            true => extent,
            false if side >= grain => side / grain.max(1) * grain.max(1),
            false => side,
        };
        let Extents { rows, columns } = extents;
        let of = |side| {
            let grain = grain.unwrap_or(Extents::new(1, 1));
            Extents::new(even(side, rows, grain.rows), even(side, columns, grain.columns))
        };
        let bytes = |tile: Extents| {
            let (rows, columns) = (0..tile.rows, 0..tile.columns);
            let depth = self.depth(&rows, &columns).len();
            let [a, b] =
                [(&self.a, rows.len(), depth), (&self.b, depth, columns.len())].map(|(operand, rows, columns)| {
                    let is_read = matches!(operand.0, Form::Stored(_) | Form::Gpu(_));
                    if is_read { rows as u128 * columns as u128 } else { 0 }
                });
            let c = if grain.is_some() { tile.rows as u128 * tile.columns as u128 } else { 0 };
            u64::try_from((a + b + c).saturating_mul(size_of::<T>() as u128)).unwrap_or(u64::MAX)
        };
        let available = host.available();
        let side = largest(rows.max(columns).max(1), |side| bytes(of(side)) <= available).unwrap_or(1);
        Ok(Tiles { extents, tile: of(side), _host: host.try_acquire(bytes(of(side)))? })
    }

    /// Hands each tile out, with a function that multiplies into its values.
    pub(super) fn each(
        &self,
        Tiles { extents, tile, .. }: &Tiles,
        mut each: impl FnMut(&Tile, &dyn Fn(MatMut<'_, T>) -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for rows in bands(extents.rows, tile.rows) {
            // Rows of a are read once for all tiles beside one another; those that a diagonal scales for each.
            let shares = !matches!(self.b.0, Form::Diagonal(_));
            let mut rows_of_a = None;
            for columns in bands(extents.columns, tile.columns) {
                let depth = self.depth(&rows, &columns);
                let a = match rows_of_a.take().filter(|_| shares) {
                    Some(a) => a,
                    None => part(&self.a, rows.clone(), depth.clone())?,
                };
                let b = part(&self.b, depth, columns.clone())?;
                let multiply = |c: MatMut<'_, T>| self.multiply([a.operand(), b.operand()], c);
                each(&Tile { rows: rows.clone(), columns }, &multiply)?;
                rows_of_a = Some(a);
            }
        }
        Ok(())
    }

    /// Which of the products of a tile are any: a factor that is known by its diagonal has those of the tile's own rows or columns.
    fn depth(&self, rows: &Range<usize>, columns: &Range<usize>) -> Range<usize> {
        match (self.a.0, self.b.0) {
            (Form::Diagonal(_), _) => rows.clone(),
            (_, Form::Diagonal(_)) => columns.clone(),
            _ if self.alpha == T::Factor::ZERO => 0..0,
            _ => 0..self.a.shape().columns.0,
        }
    }

    fn multiply(&self, [a, b]: [Operand<'_, T>; 2], c: MatMut<'_, T>) -> Result<(), Error> {
        let Factors { operation, precision, alpha, beta, .. } = *self;
        match (a.0, b.0) {
            (Form::Host(a), Form::Host(b)) => matmul(&Place::Cpu, precision, alpha, a, b, beta, c),
            _ => diagonal::multiply(operation, alpha, [a, b], beta, c),
        }
    }
}

fn bands(extent: usize, band: usize) -> impl Iterator<Item = Range<usize>> {
    (0..extent).step_by(band.max(1)).map(move |begin| begin..extent.min(begin.saturating_add(band)))
}

pub(super) fn part<'a, T: Multiplicand>(
    operand: &Operand<'a, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> Result<Part<'a, T>, Error> {
    let within = (Rows(rows.start)..Rows(rows.end), Columns(columns.start)..Columns(columns.end));
    Ok(match operand.0 {
        Form::Host(matrix) => Part::There(matrix.part(within.0, within.1)?.into()),
        Form::Gpu(matrix) => Part::Read(Read::lying(T::download(matrix.part(within.0, within.1)?)?)),
        Form::Stored(stored) => Part::Read(stored.read(rows, columns)?),
        Form::Diagonal(Diagonal::Ones(_)) => Part::There(Operand::identity(Rows(rows.len()))),
        Form::Diagonal(Diagonal::Of(values)) => Part::There(Operand::diagonal(&values[rows])),
    })
}
