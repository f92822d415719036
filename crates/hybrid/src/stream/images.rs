//! Stored matrices times vectors of the host, read once from begin to end.

use super::engine::Form;
use super::matmul::Factor;
use super::staging::threads;
use crate::Error;
use crate::linear::Scalar;
use crate::store::{Extents, Source, Stored, Tile, read_staged};
use rayon::prelude::*;

/// Vectors that are multiplied at once: as many as a register of the host holds twice or more.
pub(super) const LANES: usize = 8;
/// Elements of a tile that is read, and the most where grains are larger.
const TILE: usize = 1 << 20;
const LARGEST: usize = 16 << 20;
/// Sums of columns that one thread adds to.
const STRIP: usize = 64;

/// An element of [`LANES`] vectors, and how large what it is made of was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) re: [f64; LANES],
    pub(super) im: [f64; LANES],
    /// Squared absolute values of all elements of the matrices that led here, products of them where there were two.
    pub(super) square: f64,
    /// The largest part of a number in any of the vectors on the way to the sum.
    pub(super) peak: f64,
}

impl Entry {
    pub(super) const ZERO: Entry = Entry { re: [0.0; LANES], im: [0.0; LANES], square: 0.0, peak: 0.0 };

    /// An element of vectors of signs, by the bits of a number.
    pub(super) fn of_signs(bits: u64) -> Entry {
        Entry { re: std::array::from_fn(|lane| 1.0 - 2.0 * (bits >> lane & 1) as f64), square: 1.0, ..Entry::ZERO }
    }

    #[inline(always)]
    fn add<T: Scalar>(&mut self, value: T, by: &Entry) {
        let value = value.wide();
        self.square += value.norm_sqr() * by.square;
        for lane in 0..LANES {
            self.re[lane] += value.re * by.re[lane];
            if T::COMPLEX {
                self.re[lane] -= value.im * by.im[lane];
                self.im[lane] += value.re * by.im[lane] + value.im * by.re[lane];
                self.peak = self.peak.max(self.im[lane].abs());
            }
            self.peak = self.peak.max(self.re[lane].abs());
        }
    }
}

/// A matrix, in its form, times vectors, one entry a row. What `go_on` says before each tile ends it.
pub(super) fn image<T: Scalar + Stored>(
    factor: &Factor<'_>,
    by: &[Entry],
    go_on: &dyn Fn() -> Result<(), Error>,
) -> Result<Vec<Entry>, Error> {
    image_of_each::<T>(factor, factor.extents()[0], by, go_on)
}

/// The same of matrices of so many rows, one below another, each times vectors of its own, which stand below one another too.
pub(super) fn image_of_each<T: Scalar + Stored>(
    factor: &Factor<'_>,
    rows_of_each: usize,
    by: &[Entry],
    go_on: &dyn Fn() -> Result<(), Error>,
) -> Result<Vec<Entry>, Error> {
    let (source, extents) = (factor.source, factor.source.extents());
    let [all, depth] = factor.extents();
    let mut sums = vec![Entry::ZERO; all];
    let vectors_of = |row: usize| &by[row / rows_of_each.max(1) * depth..];
    let mut values: Vec<T> = Vec::new();
    for tile in extents.tiles(tile_of(source)) {
        go_on()?;
        values.resize(tile.count(), T::ZERO);
        T::fill(&mut values, &mut |bytes| read_staged(source, &tile, bytes, threads()))?;
        let (Tile { rows, columns }, width) = (&tile, tile.columns.len());
        let lines = values.chunks_exact(width);
        if factor.form == Form::Plain {
            let lines = sums[rows.clone()].par_iter_mut().zip(values.par_chunks_exact(width)).enumerate();
            lines.for_each(|(row, (sum, line))| {
                let by = &vectors_of(rows.start + row)[columns.clone()];
                line.iter().zip(by).for_each(|(value, by)| sum.add(*value, by));
            });
            continue;
        }
        let conjugated = |value: T| if factor.form == Form::Adjoint { value.conjugate() } else { value };
        sums[columns.clone()].par_chunks_mut(STRIP).enumerate().for_each(|(strip, sums)| {
            let first = columns.start + strip * STRIP;
            let vectors: [&[Entry]; STRIP] = std::array::from_fn(|at| match at < sums.len() {
                true => vectors_of(first + at),
                false => &[],
            });
            for (row, line) in rows.clone().zip(lines.clone()) {
                let line = &line[strip * STRIP..];
                let each = sums.iter_mut().zip(line).zip(&vectors);
                each.for_each(|((sum, value), by)| sum.add(conjugated(*value), &by[row]));
            }
        });
    }
    Ok(sums)
}

/// Tiles of a source that are read without reading more, of about [`TILE`] elements.
fn tile_of(source: &dyn Source) -> Extents {
    let (all, grain) = (source.extents(), source.grain());
    let columns = grain.columns.min(all.columns).clamp(1, TILE);
    let rows = grain.rows.min(all.rows).clamp(1, LARGEST / columns);
    let columns = (columns * (TILE / (rows * columns)).max(1)).min(all.columns.max(1));
    Extents::new(rows * (TILE / (rows * columns)).max(1), columns)
}
