//! Whether a matrix that is read tile by tile is singular.

use super::super::matmul::Factor;
use crate::Error;
use crate::linear::{Line, Scalar, Suspicion, are_dependent, suspicion};
use crate::store::{Extents, ReadTyped, Source, Stored, Tile};
use std::ops::Range;

/// Bytes that are read at once.
const BAND_BYTES: usize = 16 << 20;

/// The first pivot by which a matrix is singular, by the rules of factors in memory: the matrix is read once more where a pivot is so small
/// that it may be the rounding of a zero.
pub(super) fn pivot<T: Scalar + Stored>(diagonal: &[T], a: &Factor<'_>) -> Result<Option<usize>, Error> {
    match suspicion(diagonal) {
        Suspicion::None => Ok(None),
        Suspicion::Zero(at) => Ok(Some(at)),
        Suspicion::Small(at) => Ok(has_dependent_lines::<T>(a.source)?.then_some(at)),
    }
}

/// Whether a row or a column is 0 or there twice.
fn has_dependent_lines<T: Scalar + Stored>(source: &dyn Source) -> Result<bool, Error> {
    let Extents { rows, columns } = source.extents();
    let (mut of_rows, mut of_columns) = (vec![Line::NONE; rows], vec![Line::NONE; columns]);
    let height = (BAND_BYTES / size_of::<T>() / columns.max(1)).max(1);
    for band in source.extents().tiles(Extents::new(height, columns)) {
        let mut values = vec![T::ZERO; band.rows.len() * columns];
        source.read(&band, &mut values)?;
        for (row, line) in band.rows.clone().zip(values.chunks_exact(columns.max(1))) {
            for (value, of_column) in line.iter().zip(&mut of_columns) {
                of_rows[row].add(*value);
                of_column.add(*value);
            }
        }
    }
    let read = |rows: Range<usize>, columns: Range<usize>| {
        let mut values = vec![T::ZERO; rows.len() * columns.len()];
        source.read(&Tile { rows, columns }, &mut values).map(|()| values)
    };
    Ok(are_dependent(&of_rows, |at| read(at..at + 1, 0..columns))?
        || are_dependent(&of_columns, |at| read(0..rows, at..at + 1))?)
}
