//! Products of integers.

use super::Device;
use super::asked::{integers, is_stored};
use super::banded::{Part, Tiles, bytes_of};
use super::copies::{Copies, Download};
use super::operand::{Form, Operand, Target};
use super::run::Route;
use super::target::Away;
use crate::Error;
use crate::budget::Budget;
use crate::dispatch::Decision;
use crate::linear::{Gpu, IntegerElement, IntegerFactor, IntegerSums, Overflow, Place, bytes_to_add, matmul_integer};
use crate::matrix::{Columns, Dense, Element, Rows};
use crate::store::{Extents, Tile};
use crate::stream::Control;
use crate::{MatMut, MatRef};
use ndarray::{Array2, s};
use std::ops::Range;

impl Device {
    /// `c = a * b` of integers, exactly, as [`crate::linear::matmul_integer`] has it. A GPU multiplies i8: what lies there, or comes there whole, is multiplied where it is, and what does not begin at
    /// multiples of 16 bytes is copied there first; what cuBLAS does not multiply as it lies is turned over there, or, without NVRTC, by the host, in memory of either's budget. Sums of more than 131,071 products come to the host in parts, which take its budget.
    ///
    /// Operands and results lie anywhere, as those of [`matmul`](Device::matmul) do, diagonals excepted ([`Error::Unsupported`]). What is not in host memory comes
    /// there whole where its budget ([`falling_back_within`](Device::falling_back_within)) holds it, and so is a result made that is wanted elsewhere; else the CPU reads
    /// what is stored in parts, and makes a stored result, in tiles over the whole depth, so that both may be larger than memory. i32 the CPU multiplies, wherever they lie: who asks for the
    /// GPU gets [`Error::Unsupported`] then.
    pub fn matmul_integer<T: IntegerElement>(
        &self,
        overflow: Overflow,
        a: Operand<'_, T>,
        b: Operand<'_, T>,
        c: Target<'_, T::Sum>,
    ) -> Result<(), Error> {
        let job = integers(self.ordinal(), &a, &b, &c)?;
        self.run(&job, Integers { overflow, operands: [a, b], c, host: self.host.clone() }).map(|ran| ran.value)
    }

    /// Where such a product would run, why, and what that is expected to take. Reads none of its operands, and leaves no record.
    pub fn plan_integers<T: IntegerElement>(
        &self,
        [a, b]: [Operand<'_, T>; 2],
        c: &Target<'_, T::Sum>,
    ) -> Result<Decision, Error> {
        self.plan(&integers(self.ordinal(), &a, &b, c)?)
    }
}

struct Integers<'a, T: IntegerElement> {
    overflow: Overflow,
    operands: [Operand<'a, T>; 2],
    c: Target<'a, T::Sum>,
    host: Budget,
}

impl<T: IntegerElement> Route<()> for Integers<'_, T> {
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<(), Error> {
        let is_stored = self.operands.iter().any(is_stored) || matches!(self.c.away(), Ok(Away::Stored(_)));
        let done = match place {
            Place::Cpu => self.on_cpu(),
            Place::Gpu(gpu) => return self.on_gpu(gpu),
        };
        match done {
            Err(Error::Budget { .. }) if is_stored => self.in_host_tiles(control),
            done => done,
        }
    }
}

impl<T: IntegerElement> Integers<'_, T> {
    /// What is stored comes to host memory first.
    fn on_gpu(&mut self, gpu: &Gpu) -> Result<(), Error> {
        let (shape, depth) = (self.c.shape(), self.operands[0].shape().columns.0);
        let own = if let Ok(Away::Stored(_)) = self.c.away() { shape.bytes::<T::Sum>()?.0 as u64 } else { 0 };
        let are_stored = |form: &Form<'_, T>| matches!(form, Form::Stored(_));
        let besides = own.saturating_add(bytes_to_add(shape, depth));
        let copies = Copies::of((&self.host, besides), self.operands, are_stored, Download::WHOLE)?;
        let factors = copies.operands(self.operands).map(|operand| match operand.0 {
            Form::Host(matrix) => IntegerFactor::Host(matrix),
            Form::Gpu(matrix) => IntegerFactor::Gpu(matrix),
            Form::Stored(_) | Form::Diagonal(_) => unreachable!("what is stored was read, and diagonals were refused"),
        });
        let multiply =
            |sums: IntegerSums<'_, '_, T::Sum>| T::multiply_on_gpu(gpu, self.overflow, factors, sums, Some(&self.host));
        match self.c.away() {
            Ok(Away::Host(c)) => {
                let here = factors.map(|factor| match factor {
                    IntegerFactor::Host(matrix) => Some(matrix),
                    IntegerFactor::Gpu(_) => None,
                });
                refuse_overlap(c, here)?;
                multiply(IntegerSums::Host(c))
            }
            Ok(away) => {
                let mut sums = Dense::zeros(shape)?;
                multiply(IntegerSums::Host(&mut sums.view_mut()))?;
                away.put(&sums.into_array())
            }
            Err(there) => multiply(IntegerSums::Gpu(there)),
        }
    }

    fn on_cpu(&mut self) -> Result<(), Error> {
        let shape = self.c.shape();
        let sums = match self.c.away() {
            Ok(Away::Host(_)) => 0,
            Ok(Away::Stored(_)) | Err(_) => shape.bytes::<T::Sum>()?.0 as u64,
        };
        let elsewhere = |form: &Form<'_, T>| !matches!(form, Form::Host(_));
        let copies = Copies::of((&self.host, sums), self.operands, elsewhere, Download::WHOLE)?;
        let [a, b] = copies.operands(self.operands).map(|operand| match operand.0 {
            Form::Host(matrix) => matrix,
            Form::Gpu(_) | Form::Stored(_) | Form::Diagonal(_) => unreachable!("diagonals were refused"),
        });
        let multiply = |c: MatMut<'_, T::Sum>| matmul_integer(&Place::Cpu, self.overflow, a, b, c);
        let away = match self.c.away() {
            Ok(Away::Host(c)) => return multiply(c.reborrow()),
            away => away,
        };
        let mut sums = Dense::zeros(shape)?;
        multiply(sums.view_mut())?;
        match away {
            Ok(away) => away.put(&sums.into_array()),
            Err(there) => there.take(sums.view()),
        }
    }

    /// In tiles of the result that host memory holds with what is read for them.
    fn in_host_tiles(&mut self, control: Control<'_>) -> Result<(), Error> {
        let shape = self.c.shape();
        let (extents, host) = (Extents::new(shape.rows.0, shape.columns.0), self.host.clone());
        // Nothing of a result in memory is changed before all of it is made.
        let (made, grain) = match self.c.away() {
            Ok(Away::Stored(kept)) => {
                kept.gather_within(&host)?;
                (0, Some(kept.grain()))
            }
            Ok(Away::Host(_)) | Err(_) => (shape.bytes::<T::Sum>()?.0 as u64, None),
        };
        let are_there = |form: &Form<'_, T>| matches!(form, Form::Gpu(_));
        let copies = Copies::of((&host, made), self.operands, are_there, Download::WHOLE)?;
        let factors = copies.operands(self.operands);
        if let Ok(Away::Host(c)) = self.c.away() {
            let here = factors.map(|operand| match operand.0 {
                Form::Host(matrix) => Some(matrix),
                _ => None,
            });
            refuse_overlap(c, here)?;
        }
        let depth = factors[0].shape().columns.0;
        let read = |operand, rows, columns| if is_stored(operand) { bytes_of::<T>(rows, columns) } else { 0 };
        let tiles = Tiles::within(&host, extents, grain, |Extents { rows, columns }| {
            let c = if grain.is_some() { bytes_of::<T::Sum>(rows, columns) } else { 0 };
            let [a, b] = [read(&factors[0], rows, depth), read(&factors[1], depth, columns)];
            Ok(a.saturating_add(b).saturating_add(c))
        })?;
        let tiled = Tiled { overflow: self.overflow, factors, tiles };
        match self.c.away() {
            Ok(Away::Stored(kept)) => {
                tiled.each(control, |tile, sums| kept.write(tile, sums))?;
                kept.commit()
            }
            away => {
                let mut all = Dense::zeros(shape)?.into_array();
                tiled.each(control, |tile, sums| {
                    all.slice_mut(s![tile.rows.clone(), tile.columns.clone()]).assign(sums);
                    Ok(())
                })?;
                match away {
                    Ok(away) => away.put(&all),
                    Err(there) => there.take((&all).into()),
                }
            }
        }
    }
}

/// Refuses sums that are written where a factor in host memory is read.
fn refuse_overlap<T: IntegerElement>(c: &MatMut<'_, T::Sum>, here: [Option<MatRef<'_, T>>; 2]) -> Result<(), Error> {
    let factors = here.into_iter().zip(["a", "b"]).filter_map(|(matrix, name)| Some((matrix?, name)));
    factors.into_iter().try_for_each(|(matrix, name)| c.refuse_overlap("matmul_integer", name, matrix))
}

/// A product in tiles, whose factors are in host memory or stored.
struct Tiled<'a, T: IntegerElement> {
    overflow: Overflow,
    factors: [Operand<'a, T>; 2],
    tiles: Tiles,
}

impl<T: IntegerElement> Tiled<'_, T> {
    /// Hands out each tile, while somebody wants it. A sum that is refused is the first one in the order of columns, as it is of a whole product.
    fn each(
        &self,
        control: Control<'_>,
        mut each: impl FnMut(&Tile, &Array2<T::Sum>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ([bands_of_rows, bands_of_columns], steps, mut done) = (self.tiles.ranges(), self.tiles.count(), 0);
        let depth = self.factors[0].shape().columns.0;
        for columns in bands_of_columns {
            let right = part(&self.factors[1], 0..depth, columns.clone())?;
            let mut refused: Option<(usize, usize)> = None;
            for rows in &bands_of_rows {
                control.check(done, steps)?;
                let left = part(&self.factors[0], rows.clone(), 0..depth)?;
                let mut sums = Array2::from_elem((rows.len(), columns.len()), T::Sum::ZERO);
                match matmul_integer(&Place::Cpu, self.overflow, left.host(), right.host(), (&mut sums).into()) {
                    Ok(()) if refused.is_some() => {}
                    Ok(()) => each(&Tile { rows: rows.clone(), columns: columns.clone() }, &sums)?,
                    Err(Error::Overflow { row, column, .. }) => {
                        let here = (columns.start + column, rows.start + row);
                        refused = Some(refused.map_or(here, |before| before.min(here)));
                    }
                    Err(error) => return Err(error),
                }
                done += 1;
                control.tell(done, steps);
            }
            if let Some((column, row)) = refused {
                return Err(Error::Overflow { operation: "matmul_integer", element: T::Sum::NAME, row, column });
            }
        }
        Ok(())
    }
}

fn part<'a, T: IntegerElement>(
    operand: &Operand<'a, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> Result<Part<'a, T>, Error> {
    Ok(match operand.0 {
        Form::Stored(stored) => Part::Read(stored.read(rows, columns)?),
        Form::Host(matrix) => {
            let part = matrix.part(Rows(rows.start)..Rows(rows.end), Columns(columns.start)..Columns(columns.end))?;
            Part::There(part.into())
        }
        Form::Gpu(_) | Form::Diagonal(_) => unreachable!("copies were made, and diagonals refused"),
    })
}
