//! Factors of a matrix that a GPU has no room for, or host memory beside them, and what follows from them: made there panel by panel, and kept in host memory.

use super::factored::Pivots;
use super::placed::Through;
use crate::Error;
use crate::budget::Budget;
use crate::cores::cores;
use crate::linear::{Cholesky, Lu, Scalar};
use crate::matrix::{Columns, Dense, Element, Rows, Shape};
use crate::raw::bring_pages;
use crate::store::{Extents, MemoryScratch, MemorySink, Sink, Stored, Tile, read_staged};
use crate::stream::{self, Control, Factor};
use ndarray::Array2;
use rayon::prelude::*;

/// Of factors there is no check.
fn unverified<const N: usize>(through: Through<'_, N>) -> Through<'_, N> {
    Through { control: Control { verify: None, ..through.control }, ..through }
}

/// LU factors, with rows of L where the exchanges of all panels put them.
pub(super) fn lu<T: Scalar>(through: Through<'_, 1>) -> Result<(Dense<T>, Pivots), Error> {
    let Through { operands: [a], on, scratches, control } = unverified(through);
    let [rows, columns] = a.extents();
    let _host = scratches.host.try_acquire(Shape::new(Rows(rows), Columns(columns)).bytes::<T>()?.0 as u64)?;
    let mut factors = Dense::new(rows, columns)?;
    bring_pages(factors.values_mut());
    // A scratch has the columns of the matrix as its rows.
    let scratch = MemoryScratch::over(factors.values_mut(), rows);
    let made = stream::lu::<T>(on, a, &scratch, control)?;
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

/// The same, to be asked for determinants alone, which know of no norm.
pub(super) fn unmeasured_lu<T: Scalar>(through: Through<'_, 1>) -> Result<Lu<T>, Error> {
    let (factors, Pivots { permutation, singular }) = lu(through)?;
    Ok(Lu::of_factors(factors, permutation, singular, None))
}

/// The same, to be asked for anything.
pub(super) fn measured_lu<T: Scalar>(through: Through<'_, 1>) -> Result<Lu<T>, Error> {
    let (a, host) = (through.operands[0], &through.scratches.host);
    let (factors, Pivots { permutation, singular }) = lu(through)?;
    Ok(Lu::of_factors(factors, permutation, singular, Some(norm_one::<T>(a, host)?)))
}

/// Bytes of a band that a norm is taken of, where host memory has so many.
const BAND: u64 = 16 << 20;

/// The largest sum of absolute values in a column, of what is read band by band.
fn norm_one<T: Scalar>(a: Factor<'_>, host: &Budget) -> Result<f64, Error> {
    let (extents, threads) = (a.source.extents(), cores());
    let grain = a.source.grain().rows.clamp(1, extents.rows.max(1));
    let of_grain = grain.saturating_mul(extents.columns).saturating_mul(size_of::<T>()).max(1) as u64;
    let room = host.acquire_up_to(of_grain, of_grain.max(BAND))?;
    let height = (room.bytes() / of_grain) as usize * grain;
    // Of a transposed matrix the columns are rows here.
    let is_plain = a.form == stream::Form::Plain;
    let mut sums = vec![0.0; if is_plain { extents.columns } else { extents.rows }];
    for Tile { rows, columns } in extents.tiles(Extents::new(height, extents.columns)) {
        let mut band = vec![T::ZERO; rows.len() * columns.len()];
        read_staged(
            a.source,
            &Tile { rows: rows.clone(), columns: columns.clone() },
            bytemuck::cast_slice_mut(&mut band),
            threads,
        )?;
        for (row, values) in rows.zip(band.chunks_exact(columns.len().max(1))) {
            match is_plain {
                true => sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.modulus()),
                false => sums[row] += values.iter().map(|value| value.modulus()).sum::<f64>(),
            }
        }
    }
    Ok(crate::linear::largest(sums))
}

pub(super) fn cholesky<T: Scalar>(through: Through<'_, 1>) -> Result<Cholesky<T>, Error> {
    let Through { operands: [a], on, scratches, control } = unverified(through);
    let [rows, columns] = a.extents();
    let _host = scratches.host.try_acquire(Shape::new(Rows(rows), Columns(columns)).bytes::<T>()?.0 as u64)?;
    let mut factor = Dense::new(rows, columns)?;
    bring_pages(factor.values_mut());
    let scratch = MemoryScratch::over(factor.values_mut(), rows);
    stream::cholesky::<T>(on, a, &scratch, control)?;
    drop(scratch);
    Cholesky::of_factor(factor)
}

/// x with `a x = b`, into a sink.
pub(super) fn solve<T: Scalar>(through: Through<'_, 2>, sink: &dyn Sink) -> Result<(), Error> {
    let Through { operands, on, scratches, control } = through;
    let kept = scratches.square::<T>(operands[0].extents()[0])?;
    stream::solve::<T>(on, operands, &*kept.scratch, sink, control).map(drop)
}

/// The inverse, into a sink.
pub(super) fn inverse<T: Scalar>(through: Through<'_, 1>, sink: &dyn Sink) -> Result<(), Error> {
    let Through { operands: [a], on, scratches, control } = through;
    let kept = scratches.square::<T>(a.extents()[0])?;
    stream::inverse::<T>(on, a, &*kept.scratch, sink, control).map(drop)
}

/// What a stream puts into a sink, in memory.
pub(super) fn in_memory<T: Element + Stored>(
    (rows, columns): (usize, usize),
    stream: impl FnOnce(&dyn Sink) -> Result<(), Error>,
) -> Result<Array2<T>, Error> {
    let mut values = Array2::from_elem((rows, columns), T::ZERO);
    // What is granted and nobody has written to is free to a budget that is measured.
    bring_pages(values.as_slice_mut().unwrap_or_default());
    let sink = MemorySink::new(values.view_mut());
    stream(&sink)?;
    Box::new(sink).commit()?;
    Ok(values)
}
