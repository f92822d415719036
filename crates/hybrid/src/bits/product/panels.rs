use std::ops::Range;

use crate::{
    bits::BitMatrix,
    raw::bits::{Step, TILE, VECTOR, Vector},
};

/// Vectors of each row that lie together: of four rows 8 KiB, of 16 rows 32 KiB, which the first cache holds.
pub(super) const DEPTH: usize = 32;

/// Rows of a matrix in the order in which counting goes through them: depths of [`DEPTH`] vectors, in each all tiles, in each tile a vector of
/// each of four rows after the other. Rows and vectors that are not there are zeros.
pub(super) struct Panels {
    steps: Vec<Step>,
    tiles: usize,
}

impl Panels {
    /// Of `count` rows from `first` on, or fewer where the matrix ends.
    pub(super) fn of(matrix: &BitMatrix, first: usize, count: usize) -> Self {
        let count = count.min(matrix.rows() - first);
        let tiles = count.div_ceil(TILE);
        let vectors = matrix.columns().div_ceil(64 * VECTOR);
        let mut steps = vec![[Vector::ZERO; TILE]; vectors * tiles];
        for index in 0..count {
            for (at, words) in matrix.row_words(first + index).chunks(VECTOR).enumerate() {
                let depth = DEPTH.min(vectors - at / DEPTH * DEPTH);
                let step = at / DEPTH * DEPTH * tiles + index / TILE * depth + at % DEPTH;
                steps[step][index % TILE].0[..words.len()].copy_from_slice(words);
            }
        }
        Self { steps, tiles }
    }

    /// How many tiles there are.
    pub(super) fn tiles(&self) -> usize {
        self.tiles
    }

    /// All depths.
    pub(super) fn depths(&self) -> impl Iterator<Item = Depth<'_>> {
        self.steps.chunks((DEPTH * self.tiles).max(1)).map(|steps| Depth { steps, tiles: self.tiles })
    }
}

/// [`DEPTH`] vectors of all rows, or those that are left.
pub(super) struct Depth<'a> {
    steps: &'a [Step],
    tiles: usize,
}

impl<'a> Depth<'a> {
    /// These tiles, counted from the panels' first.
    pub(super) fn tiles(&self, range: Range<usize>) -> &'a [Step] {
        let vectors = self.steps.len() / self.tiles;
        &self.steps[range.start * vectors..range.end * vectors]
    }
}
