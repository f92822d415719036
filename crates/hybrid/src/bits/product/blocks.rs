//! Blocks of 64 x 64 counts, and in them what the caches hold.

use super::panels::Panels;
use crate::{
    bits::Path,
    raw::bits::{self, Sums, TILE},
};

/// Rows and columns of a block of counts.
pub(super) const BLOCK: usize = 64;
/// Tiles of a block's rows, and of its columns.
const TILES: usize = BLOCK / TILE;
/// Tiles of rows that a tile of columns meets before the next one: their depth stays in the first cache.
const NEAR: usize = 4;

/// Counts of a block, tile by tile: a tile's place is (column, row).
pub(super) struct Counts([[Sums; TILES]; TILES]);

impl Counts {
    pub(super) fn zeros() -> Box<Self> {
        Box::new(Self([[Sums::ZERO; TILES]; TILES]))
    }

    /// A row's counts.
    pub(super) fn row(&self, row: usize) -> [u64; BLOCK] {
        let mut counts = [0; BLOCK];
        for (to, tiles) in counts.as_chunks_mut::<TILE>().0.iter_mut().zip(&self.0) {
            *to = tiles[row / TILE].0[row % TILE];
        }
        counts
    }

    /// Makes it the counts of `left`, of one block of rows, with `right`'s rows of block `block`. What lies behind the last rows is zero.
    pub(super) fn count(&mut self, left: &Panels, right: &Panels, block: usize, path: Path) {
        self.0 = [[Sums::ZERO; TILES]; TILES];
        let first = block * TILES;
        let columns = TILES.min(right.tiles().saturating_sub(first));
        for (a, b) in left.depths().zip(right.depths()) {
            for near in (0..left.tiles()).step_by(NEAR) {
                let rows = near..left.tiles().min(near + NEAR);
                for (column, sums) in self.0[..columns].iter_mut().enumerate() {
                    bits::count(
                        path,
                        a.tiles(rows.clone()),
                        b.tiles(first + column..first + column + 1),
                        &mut sums[rows.clone()],
                    );
                }
            }
        }
    }
}
