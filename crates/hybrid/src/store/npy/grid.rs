//! Where the elements of a matrix stand in a file.

use std::ops::Range;

use super::{
    super::{Element, Extents, Tile},
    header::Header,
};

/// Which index of an array varies fastest in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last: rows lie one after the other.
    #[default]
    C,
    /// The first: columns lie one after the other.
    Fortran,
}

/// Lines of elements without gaps: rows in C order, columns in Fortran order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) offset: u64,
    pub(super) order: Order,
    pub(super) element: Element,
    pub(super) extents: Extents,
}

/// The part of a tile in lines: which, and which bytes of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) lines: Range<usize>,
    pub(super) bytes: Range<usize>,
}

impl Grid {
    /// The grid of an array, if its bytes can be counted.
    pub(super) fn new(header: &Header, offset: u64) -> Option<Self> {
        let product = |shape: &[usize]| {
            // An extent of zero makes an empty array, whatever the others are.
            if shape.contains(&0) {
                Some(0)
            } else {
                shape.iter().try_fold(1usize, |sum, extent| sum.checked_mul(*extent))
            }
        };
        let shape = &header.shape[..];
        let extents = match (header.order, shape) {
            (_, []) => Extents::new(1, 1),
            (Order::C, [outer @ .., last]) => Extents::new(product(outer)?, *last),
            (Order::Fortran, [one]) => Extents::new(1, *one),
            (Order::Fortran, [first, inner @ ..]) => Extents::new(*first, product(inner)?),
        };
        extents.byte_count(header.element).ok()?;
        Some(Self { offset, order: header.order, element: header.element, extents })
    }

    /// Bytes of a line.
    pub(super) fn pitch(&self) -> usize {
        let length = if self.order == Order::C { self.extents.columns } else { self.extents.rows };
        length * self.element.bytes()
    }

    /// Bytes of the file.
    pub(super) fn end(&self) -> Option<u64> {
        let bytes = self.extents.byte_count(self.element).ok()?;
        self.offset.checked_add(bytes as u64)
    }

    pub(super) fn part(&self, tile: &Tile) -> Part {
        let (lines, along) = match self.order {
            Order::C => (tile.rows.clone(), tile.columns.clone()),
            Order::Fortran => (tile.columns.clone(), tile.rows.clone()),
        };
        let size = self.element.bytes();
        Part { lines, bytes: along.start * size..along.end * size }
    }

    /// Where a part of a line begins in the file.
    pub(super) fn at(&self, line: usize, byte: usize) -> u64 {
        self.offset + line as u64 * self.pitch() as u64 + byte as u64
    }

    /// A line, or a column of tiles that are one line wide.
    pub(super) fn grain(&self) -> Extents {
        match self.order {
            Order::C => Extents::new(1, self.extents.columns.max(1)),
            Order::Fortran => Extents::new(self.extents.rows.max(1), 1),
        }
    }
}

impl Part {
    /// Bytes of it in one line.
    pub(super) fn width(&self) -> usize {
        self.bytes.len()
    }

    /// Some of its lines at a time, so that they have about so many bytes, and at least one.
    pub(super) fn blocks(&self, bytes_per_line: usize, bytes: usize) -> impl Iterator<Item = Self> {
        let count = (bytes / bytes_per_line.max(1)).max(1);
        let (end, bytes) = (self.lines.end, self.bytes.clone());
        self.lines
            .clone()
            .step_by(count)
            .map(move |first| Self { lines: first..end.min(first.saturating_add(count)), bytes: bytes.clone() })
    }
}
