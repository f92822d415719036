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
