use ndarray::Array2;
use rayon::prelude::*;

use super::{
    blocks::{BLOCK, Counts},
    panels::Panels,
};
use crate::{
    Error,
    bits::{BitMatrix, Path},
    raw::bits::above,
};

/// `value(count, row, column)` for each pair of rows, row behind row.
pub(super) fn counted<T: Copy + Default + Send>(
    left: &BitMatrix,
    right: &BitMatrix,
    path: Path,
    value: impl Fn(u64, usize, usize) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let (rows, columns) = (left.rows(), right.rows());
    let too_large = || Error::TooLarge { rows, columns, element_bits: 8 * size_of::<T>() };
    let elements = rows.checked_mul(columns).filter(|&all| all <= isize::MAX as usize / size_of::<T>());
    let mut result = vec![T::default(); elements.ok_or_else(too_large)?];
    let panels = Panels::of(right, 0, columns);
    let strips = result.par_chunks_mut((BLOCK * columns).max(1)).enumerate();
    strips.for_each(|(strip, values)| {
        each_block(&Panels::of(left, BLOCK * strip, BLOCK), &panels, columns, path, |column, counts| {
            let width = BLOCK.min(columns - column);
            for (index, row) in values.chunks_mut(columns).enumerate() {
                for (at, (to, count)) in row[column..column + width].iter_mut().zip(counts.row(index)).enumerate() {
                    *to = value(count, BLOCK * strip + index, column + at);
                }
            }
        });
    });
    Ok(result)
}

/// Whether the count is more than `threshold`, for each pair of rows.
pub(super) fn more_than(left: &BitMatrix, right: &BitMatrix, path: Path, threshold: u64) -> Result<BitMatrix, Error> {
    let mut result = BitMatrix::zeros(left.rows(), right.rows())?;
    let per_row = result.words_per_row();
    let (columns, panels) = (right.rows(), Panels::of(right, 0, right.rows()));
    let strips = result.words_mut().par_chunks_mut((BLOCK * per_row).max(1)).enumerate();
    strips.for_each(|(strip, words)| {
        each_block(&Panels::of(left, BLOCK * strip, BLOCK), &panels, columns, path, |column, counts| {
            for (index, row) in words.chunks_mut(per_row).enumerate() {
                row[column / 64] = above(path, &counts.row(index), threshold);
            }
        });
    });
    Ok(result)
}

pub(crate) fn as_array<T>(rows: usize, columns: usize, values: Vec<T>) -> Result<Array2<T>, Error> {
    let element_bits = 8 * size_of::<T>();
    Array2::from_shape_vec((rows, columns), values).map_err(|_| Error::TooLarge { rows, columns, element_bits })
}

fn each_block(left: &Panels, right: &Panels, columns: usize, path: Path, mut take: impl FnMut(usize, &Counts)) {
    let mut counts = Counts::zeros();
    for block in 0..columns.div_ceil(BLOCK) {
        counts.count(left, right, block, path);
        take(BLOCK * block, &counts);
    }
}
