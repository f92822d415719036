use std::ops::Range;

use super::Element;
use crate::Error;

/// Rows and columns of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extents {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

impl Extents {
    /// So many rows and columns.
    pub const fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    /// All of it.
    pub fn whole(self) -> Tile {
        Tile { rows: 0..self.rows, columns: 0..self.columns }
    }

    /// Its tiles of a size (of at least 1 x 1), row by row; those at the edges are smaller.
    pub fn tiles(self, size: Self) -> impl Iterator<Item = Tile> {
        let (height, width) = (size.rows.max(1), size.columns.max(1));
        let end = |start: usize, step: usize, limit: usize| start.saturating_add(step).min(limit);
        (0..self.rows).step_by(height).flat_map(move |top| {
            (0..self.columns).step_by(width).map(move |left| Tile {
                rows: top..end(top, height, self.rows),
                columns: left..end(left, width, self.columns),
            })
        })
    }

    /// Bytes of all elements; [`Error::TooLarge`] where addresses end.
    pub fn byte_count(self, element: Element) -> Result<usize, Error> {
        let bytes = self.rows.checked_mul(self.columns).and_then(|count| count.checked_mul(element.bytes()));
        bytes.filter(|bytes| *bytes <= isize::MAX as usize).ok_or(Error::TooLarge {
            rows: self.rows,
            columns: self.columns,
            element_bits: element.bytes() * 8,
        })
    }
}

/// A rectangle of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Its rows.
    pub rows: Range<usize>,
    /// Its columns.
    pub columns: Range<usize>,
}

impl Tile {
    /// How many rows and columns it has; a range that runs backwards has none.
    pub fn extents(&self) -> Extents {
        Extents::new(self.rows.len(), self.columns.len())
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Its rows, or its columns, that lie before another tile, or else behind it: what is left of it where windows move on, or backwards, along either.
    pub(crate) fn beside(&self, next: &Tile) -> Option<Tile> {
        let before = |range: &Range<usize>, next: &Range<usize>| range.start..range.end.min(next.start);
        let behind = |range: &Range<usize>, next: &Range<usize>| range.start.max(next.end)..range.end;
        let rows = |rows: Range<usize>| Tile { rows, columns: self.columns.clone() };
        let columns = |columns: Range<usize>| Tile { rows: self.rows.clone(), columns };
        let tiles = [
            rows(before(&self.rows, &next.rows)),
            columns(before(&self.columns, &next.columns)),
            rows(behind(&self.rows, &next.rows)),
            columns(behind(&self.columns, &next.columns)),
        ];
        tiles.into_iter().find(|tile| !tile.is_empty())
    }

    /// Whether some element lies in both.
    #[cfg(test)]
    pub(crate) fn meets(&self, other: &Tile) -> bool {
        let both = |one: &Range<usize>, other: &Range<usize>| one.start.max(other.start) < one.end.min(other.end);
        both(&self.rows, &other.rows) && both(&self.columns, &other.columns)
    }

    /// What lies in both; where nothing does, something empty.
    #[cfg(feature = "zarr")]
    pub(super) fn meet(&self, other: &Tile) -> Tile {
        let both = |one: &Range<usize>, other: &Range<usize>| one.start.max(other.start)..one.end.min(other.end);
        Tile { rows: both(&self.rows, &other.rows), columns: both(&self.columns, &other.columns) }
    }

    /// The same, counted from a place at or before its begin.
    #[cfg(feature = "zarr")]
    pub(super) fn from(&self, [row, column]: [usize; 2]) -> Tile {
        let from = |range: &Range<usize>, begin: usize| range.start - begin..range.end - begin;
        Tile { rows: from(&self.rows, row), columns: from(&self.columns, column) }
    }

    /// How many elements it has.
    pub(crate) fn count(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Parts of it of at most so many elements, in the order of its elements: some of its rows, or a part of one. Where there is room for them,
    /// parts end where grains do.
    pub(crate) fn parts(&self, elements: usize, grain: Extents) -> impl Iterator<Item = Tile> + use<> {
        let (rows, columns) = (self.rows.clone(), self.columns.clone());
        let elements = elements.max(1);
        let height = (elements / columns.len().max(1)).max(1);
        let rows = (!self.is_empty()).then(|| steps(rows, height, grain.rows)).into_iter().flatten();
        rows.flat_map(move |rows| {
            steps(columns.clone(), elements, grain.columns).map(move |columns| Tile { rows: rows.clone(), columns })
        })
    }

    /// That the tile lies in a matrix and fills a buffer: else [`Error::Shape`].
    pub(crate) fn check(
        &self,
        operation: &'static str,
        within: Extents,
        element: Element,
        buffer: usize,
    ) -> Result<(), Error> {
        let inside = |what, range: &Range<usize>, limit: usize| match range.start > range.end || range.end > limit {
            true => Err(Error::Shape { operation, what, expected: limit, got: range.start.max(range.end) }),
            false => Ok(()),
        };
        inside("the last row of the tile", &self.rows, within.rows)?;
        inside("the last column of the tile", &self.columns, within.columns)?;
        let expected = self.extents().byte_count(element)?;
        match buffer == expected {
            true => Ok(()),
            false => Err(Error::Shape { operation, what: "bytes of the buffer for the tile", expected, got: buffer }),
        }
    }
}

/// A range in parts of at most so many, which end at multiples of a grain where they reach one.
fn steps(range: Range<usize>, most: usize, grain: usize) -> impl Iterator<Item = Range<usize>> {
    let mut begin = range.start;
    std::iter::from_fn(move || {
        if begin >= range.end {
            return None;
        }
        let far = begin.saturating_add(most);
        let even = far / grain.max(1) * grain.max(1);
        let end = if far >= range.end {
            range.end
        } else if even > begin {
            even
        } else {
            far
        };
        Some(std::mem::replace(&mut begin, end)..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_tile_in_its_order() {
        for (rows, columns) in [(3..8, 2..9), (0..1, 0..50), (4..4, 0..3), (2..5, 7..7), (0..9, 1..2)] {
            let tile = Tile { rows, columns };
            for (elements, grain) in [0, 1, 3, 7, 8, 20, 1000].into_iter().zip([1, 2, 3, 1, 4, 2, 5]) {
                let places = |tile: Tile| -> Vec<(usize, usize)> {
                    let columns = tile.columns;
                    tile.rows.flat_map(|row| columns.clone().map(move |column| (row, column))).collect()
                };
                let all: Vec<Tile> = tile.parts(elements, Extents::new(grain, grain)).collect();
                let fits = |part: &Tile| (1..=elements.max(1)).contains(&part.count());
                assert!(all.iter().all(fits), "{tile:?} by {elements}: {all:?}");
                assert_eq!(all.into_iter().flat_map(places).collect::<Vec<_>>(), places(tile.clone()));
            }
        }
    }

    #[test]
    fn parts_end_where_grains_do() {
        let ends = |rows: Range<usize>, elements: usize, grain: usize| -> Vec<usize> {
            let tile = Tile { rows, columns: 5..15 };
            tile.parts(elements, Extents::new(grain, 1)).map(|part| part.rows.end).collect()
        };
        assert_eq!(ends(3..20, 60, 4), [8, 12, 16, 20]);
        assert_eq!(ends(3..22, 95, 4), [12, 20, 22]);
        // No room for a grain.
        assert_eq!(ends(3..12, 30, 4), [4, 7, 8, 11, 12]);
        let row = Tile { rows: 0..1, columns: 5..35 };
        let columns: Vec<Range<usize>> = row.parts(16, Extents::new(4, 8)).map(|part| part.columns).collect();
        assert_eq!(columns, [5..16, 16..32, 32..35]);
    }
}
