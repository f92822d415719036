//! Whether a matrix that is read tile by tile is singular.

use super::super::matmul::Factor;
use crate::Error;
use crate::linear::{Scalar, Suspicion, line_hash, suspicion};
use crate::store::{Extents, ReadTyped, Source, Stored, Tile};
use std::collections::HashMap;

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

/// A line as far as it was read.
#[derive(Clone, Copy)]
struct Line {
    hash: u64,
    is_zero: bool,
}

impl Line {
    const NONE: Line = Line { hash: 0, is_zero: true };

    fn add<T: Scalar>(&mut self, element: T) {
        self.hash = line_hash(self.hash, element);
        self.is_zero &= element == T::ZERO;
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
    let row = |at: usize| Tile { rows: at..at + 1, columns: 0..columns };
    let column = |at: usize| Tile { rows: 0..rows, columns: at..at + 1 };
    Ok(are_dependent::<T>(source, &of_rows, row)? || are_dependent::<T>(source, &of_columns, column)?)
}

/// Lines with the same hash are compared themselves.
fn are_dependent<T: Scalar + Stored>(
    source: &dyn Source,
    lines: &[Line],
    tile: impl Fn(usize) -> Tile,
) -> Result<bool, Error> {
    let read = |at: usize| {
        let tile = tile(at);
        let mut values = vec![T::ZERO; tile.rows.len() * tile.columns.len()];
        source.read(&tile, &mut values).map(|()| values)
    };
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if line.is_zero {
            return Ok(true);
        }
        let alike = seen.entry(line.hash).or_default();
        if !alike.is_empty() {
            let own = read(at)?;
            for earlier in alike.iter() {
                if read(*earlier)? == own {
                    return Ok(true);
                }
            }
        }
        alike.push(at);
    }
    Ok(false)
}
