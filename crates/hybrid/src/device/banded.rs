//! Products of what is stored, on the CPU: in tiles of the result that host memory holds, each over the whole depth.

use super::copies::Copies;
use super::diagonal;
use super::multiplicand::Multiplicand;
use super::operand::{Diagonal, Form, Operand};
use super::stored::Read;
use crate::budget::{Budget, Permit};
use crate::dispatch::MatvecExtents;
use crate::linear::{Place, Precision, matmul};
use crate::matrix::{Columns, Element, Rows};
use crate::store::{Extents, Tile};
use crate::stream::{Control, largest};
use crate::{Error, MatMut, MatRef};
use std::ops::Range;

/// What is multiplied into each tile: `c = alpha * a * b + beta * c`, or as many products of matrices with vectors one below another.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a, T: Multiplicand> {
    pub(super) operation: &'static str,
    pub(super) precision: Precision,
    pub(super) alpha: T::Factor,
    pub(super) a: Operand<'a, T>,
    pub(super) b: Operand<'a, T>,
    pub(super) beta: T::Factor,
    pub(super) batch: Option<MatvecExtents>,
}

/// Tiles of a result, and leave to take the memory for one.
pub(super) struct Tiles {
    extents: Extents,
    tile: Extents,
    _host: Permit,
}

impl Tiles {
    /// The largest that a budget holds, each of so many bytes: as square as may be, and in whole grains of a result that is stored, where there is room
    /// for one.
    pub(super) fn within(
        host: &Budget,
        extents: Extents,
        grain: Option<Extents>,
        bytes: impl Fn(Extents) -> Result<u64, Error>,
    ) -> Result<Tiles, Error> {
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
        // Of what is in memory already nobody asks how much there is.
        if bytes(extents)? == 0 {
            return Ok(Tiles { extents, tile: extents, _host: host.try_acquire(0)? });
        }
        let (tile, permit) = host.planned(host.available(), |available| {
            let fits = |side: usize| bytes(of(side)).is_ok_and(|bytes| bytes <= available);
            let tile = of(largest(rows.max(columns).max(1), fits).unwrap_or(1));
            Ok((tile, bytes(tile)?))
        })?;
        Ok(Tiles { extents, tile, _host: permit })
    }

    /// Ranges of rows, and of columns.
    pub(super) fn ranges(&self) -> [Vec<Range<usize>>; 2] {
        let Tiles { extents, tile, .. } = self;
        [bands(extents.rows, tile.rows), bands(extents.columns, tile.columns)].map(Iterator::collect)
    }

    pub(super) fn count(&self) -> u64 {
        let along = |extent: usize, tile: usize| extent.div_ceil(tile.max(1)) as u64;
        along(self.extents.rows, self.tile.rows) * along(self.extents.columns, self.tile.columns)
    }
}

/// A part of an operand: where it lies, or a copy.
pub(super) enum Part<'a, T: Element> {
    There(Operand<'a, T>),
    Read(Read<T>),
}

impl<T: Element> Part<'_, T> {
    /// It in host memory, of what is no diagonal and lies on no GPU.
    pub(super) fn host(&self) -> MatRef<'_, T> {
        match self.operand().0 {
            Form::Host(matrix) => matrix,
            Form::Gpu(_) | Form::Stored(_) | Form::Diagonal(_) => unreachable!("parts are in host memory"),
        }
    }

    pub(super) fn operand(&self) -> Operand<'_, T> {
        match self {
            Part::There(operand) => *operand,
            Part::Read(read) => read.view().into(),
        }
    }
}

impl<'a, T: Multiplicand> Factors<'a, T> {
    /// The same; what is stored in page-locked memory as matrices there.
    pub(super) fn in_memory(&self) -> Self {
        Factors { a: self.a.in_memory(), b: self.b.in_memory(), ..*self }
    }

    /// The same, of copies where there are any.
    pub(super) fn with<'b>(&self, copies: &'b Copies<'_, T, 2>) -> Factors<'b, T>
    where
        'a: 'b,
    {
        let [a, b] = copies.operands([self.a, self.b]);
        Factors { a, b, ..*self }
    }

    /// The largest tiles of a result that a budget holds with what is read for them, and with the tile itself where `grain` says how the
    /// result is stored. [`Error::Budget`] where there is no room for one element's.
    pub(super) fn tiles(&self, host: &Budget, extents: Extents, grain: Option<Extents>) -> Result<Tiles, Error> {
        Tiles::within(host, extents, grain, |tile| {
            let (rows, columns) = (0..tile.rows, 0..tile.columns);
            let depth = self.depth(&rows, &columns);
            let c = if grain.is_some() { bytes_of::<T>(tile.rows, tile.columns) } else { 0 };
            let [a, b] = [Taken::by(&self.a, rows, depth.clone())?, Taken::by(&self.b, depth, columns)?];
            let both = a.then.saturating_add(b.then);
            Ok(a.first.max(a.then.saturating_add(b.first)).max(both.saturating_add(c)))
        })
    }

    /// Hands each tile out while somebody wants it, with a function that multiplies into its values, and tells it.
    pub(super) fn each(
        &self,
        tiles: &Tiles,
        control: Control<'_>,
        mut each: impl FnMut(&Tile, &dyn Fn(MatMut<'_, T>) -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (Tiles { extents, tile, .. }, steps, mut done) = (tiles, tiles.count(), 0);
        for rows in bands(extents.rows, tile.rows) {
            // Rows of a are read once for all tiles beside one another; those that a diagonal scales for each.
            let shares = !matches!(self.b.0, Form::Diagonal(_));
            let mut rows_of_a = None;
            for columns in bands(extents.columns, tile.columns) {
                control.check(done, steps)?;
                let depth = self.depth(&rows, &columns);
                let a = match rows_of_a.take().filter(|_| shares) {
                    Some(a) => a,
                    None => part(&self.a, rows.clone(), depth.clone())?,
                };
                let b = part(&self.b, depth, columns.clone())?;
                let multiply = |c: MatMut<'_, T>| self.multiply([a.operand(), b.operand()], c);
                each(&Tile { rows: rows.clone(), columns }, &multiply)?;
                rows_of_a = Some(a);
                done += 1;
                control.tell(done, steps);
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

/// Bytes of host memory that a part of an operand takes: when it is read, and from then on.
struct Taken {
    first: u64,
    then: u64,
}

impl Taken {
    fn by<T: Multiplicand>(
        operand: &Operand<'_, T>,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Taken, Error> {
        let then = bytes_of::<T>(rows.len(), columns.len());
        Ok(match operand.0 {
            Form::Stored(stored) if stored.lying::<T>().is_some() => Taken { first: 0, then: 0 },
            Form::Stored(_) => Taken { first: then, then },
            // What is turned here is there twice meanwhile.
            Form::Gpu(matrix) => {
                let part =
                    matrix.part(Rows(rows.start)..Rows(rows.end), Columns(columns.start)..Columns(columns.end))?;
                Taken { first: part.bytes_of_download()?, then }
            }
            Form::Host(_) | Form::Diagonal(_) => Taken { first: 0, then: 0 },
        })
    }
}

/// Bytes of so many elements; those that nobody can count are more than any budget has.
pub(super) fn bytes_of<T>(rows: usize, columns: usize) -> u64 {
    u64::try_from((rows as u128 * columns as u128).saturating_mul(size_of::<T>() as u128)).unwrap_or(u64::MAX)
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
        Form::Stored(stored) => match stored.lying() {
            Some(matrix) => Part::There(matrix.part(within.0, within.1)?.into()),
            None => Part::Read(stored.read(rows, columns)?),
        },
        Form::Diagonal(Diagonal::Ones(_)) => Part::There(Operand::identity(Rows(rows.len()))),
        Form::Diagonal(Diagonal::Of(values)) => Part::There(Operand::diagonal(&values[rows])),
    })
}
