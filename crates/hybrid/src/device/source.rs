//! Matrices in memory as sources of tiles.

use crate::matrix::{self, Columns, Rows};
use crate::raw::copy_line;
use crate::store::{Element, Extents, Source, Stored, Tile};
use crate::{Error, MatRef};

/// A view of a matrix, whatever its strides, scale and conjugation.
pub(super) struct MatrixSource<'a, T: matrix::Element>(pub(super) MatRef<'a, T>);

impl<T: matrix::Element + Stored> Source for MatrixSource<'_, T> {
    fn extents(&self) -> Extents {
        Extents::new(self.0.rows(), self.0.columns())
    }

    fn element(&self) -> Element {
        T::ELEMENT
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        let expected = tile.extents().byte_count(T::ELEMENT)?;
        if expected != out.len() {
            let (operation, what) = ("read", "bytes of the buffer for the tile");
            return Err(Error::Shape { operation, what, expected, got: out.len() });
        }
        let (rows, columns) = (&tile.rows, &tile.columns);
        let part = self.0.part(Rows(rows.start)..Rows(rows.end), Columns(columns.start)..Columns(columns.end))?;
        let size = size_of::<T>();
        for (row, line) in out.chunks_exact_mut((tile.columns.len() * size).max(1)).enumerate() {
            let row = part.part(Rows(row)..Rows(row + 1), Columns(0)..Columns(part.columns()))?.t();
            match row.as_columns() {
                Some(values) => copy_line(T::bytes(values), line),
                None => {
                    // Rows across memory are taken together, in squares.
                    part.t().each(|index, value| out[index * size..][..size].copy_from_slice(T::bytes(&[value])));
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
