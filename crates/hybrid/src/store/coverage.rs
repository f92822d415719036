//! Which parts of a matrix have been written.

use std::sync::{Mutex, PoisonError};

use super::{Extents, Tile};

/// The tiles written so far.
#[derive(Default)]
pub(super) struct Coverage(Mutex<Vec<Tile>>);

impl Coverage {
    pub(super) fn add(&self, tile: &Tile) {
        if !tile.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(tile.clone());
        }
    }

    /// The tiles, in the order in which they came.
    #[cfg(feature = "zarr")]
    pub(super) fn tiles(&self) -> Vec<Tile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A place that no tile covers. The edges of all tiles cut the matrix into cells: as many as there are tiles, where these lie in
    /// a grid.
    pub(super) fn hole(&self, extents: Extents) -> Option<(usize, usize)> {
        let tiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if extents.rows == 0 || extents.columns == 0 {
            return None;
        }
        let rows = cuts(tiles.iter().flat_map(|tile| [tile.rows.start, tile.rows.end]), extents.rows);
        let columns = cuts(tiles.iter().flat_map(|tile| [tile.columns.start, tile.columns.end]), extents.columns);
        let (height, width) = (rows.len() - 1, columns.len() - 1);
        let mut written = vec![false; height * width];
        let cell = |cuts: &[usize], place: usize| cuts.partition_point(|cut| *cut < place);
        for tile in tiles.iter() {
            let across = cell(&columns, tile.columns.start)..cell(&columns, tile.columns.end);
            for row in cell(&rows, tile.rows.start)..cell(&rows, tile.rows.end) {
                written[row * width..][across.clone()].fill(true);
            }
        }
        let at = written.iter().position(|written| !written)?;
        Some((rows[at / width], columns[at % width]))
    }
}

/// The edges in order, each once, with the first and the last.
fn cuts(edges: impl Iterator<Item = usize>, extent: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = edges.chain([0, extent]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_what_a_bitmap_says(
            rows in 1usize..12,
            columns in 1usize..12,
            tiles in proptest::collection::vec((0usize..12, 0usize..13, 0usize..12, 0usize..13), 0..12),
        ) {
            let coverage = Coverage::default();
            let mut bitmap = vec![false; rows * columns];
            for (top, height, left, width) in tiles {
                let range = |start: usize, length: usize, limit: usize| start.min(limit)..(start + length).min(limit);
                let tile = Tile { rows: range(top, height, rows), columns: range(left, width, columns) };
                for row in tile.rows.clone() {
                    tile.columns.clone().for_each(|column| bitmap[row * columns + column] = true);
                }
                coverage.add(&tile);
            }
            let hole = coverage.hole(Extents::new(rows, columns));
            match hole {
                Some((row, column)) => prop_assert!(!bitmap[row * columns + column]),
                None => prop_assert!(bitmap.iter().all(|written| *written)),
            }
        }
    }

    #[test]
    fn nothing_is_whole_already() {
        assert_eq!(Coverage::default().hole(Extents::new(0, 5)), None);
        assert_eq!(Coverage::default().hole(Extents::new(2, 5)), Some((0, 0)));
    }
}
