//! The right-hand sides of an inverse.

use crate::Error;
use crate::linear::Scalar;
use crate::store::{Element, Extents, Source, Stored, Tile};
use std::marker::PhantomData;

/// Ones on the diagonal, zeros elsewhere, of nothing in memory.
pub(crate) struct Identity<T> {
    size: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Identity<T> {
    pub(crate) fn new(size: usize) -> Self {
        Identity { size, element: PhantomData }
    }
}

impl<T: Scalar + Stored> Source for Identity<T> {
    fn extents(&self) -> Extents {
        Extents::new(self.size, self.size)
    }

    fn element(&self) -> Element {
        T::ELEMENT
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents(), T::ELEMENT, out.len())?;
        out.fill(0);
        let one = [T::ONE];
        let one = T::bytes(&one);
        for at in tile.rows.start.max(tile.columns.start)..tile.rows.end.min(tile.columns.end) {
            let place = (at - tile.rows.start) * tile.columns.len() + (at - tile.columns.start);
            out[place * one.len()..][..one.len()].copy_from_slice(one);
        }
        Ok(())
    }
}
