//! What bands come to, in host memory.

use super::shape::Shape;
use crate::Error;
use crate::store::{Element, Extents, MemoryScratch, Scratch as _, Sink, Source, Tile};

/// What bands come to, a row each.
pub(super) struct Parts(MemoryScratch);

impl Parts {
    pub(super) fn new(bands: usize, shape: &Shape) -> Result<Parts, Error> {
        let extents = Extents::new(bands, shape.bytes() / shape.element_bytes());
        MemoryScratch::new(extents, shape.element()).map(Parts)
    }
}

impl Source for Parts {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> Element {
        self.0.element()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.0.read_tile(tile, out)
    }
}

impl Sink for Parts {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> Element {
        self.0.element()
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        self.0.write_tile(tile, data)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// Where results go that are planned and not made, and operands come from that are not made yet.
pub(super) struct Nowhere {
    pub(super) extents: Extents,
    pub(super) element: Element,
}

impl Nowhere {
    /// For what has no extents yet.
    pub(super) const NOTHING: Nowhere = Nowhere { extents: Extents { rows: 0, columns: 0 }, element: Element::U8 };
}

impl Source for Nowhere {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        self.element
    }

    fn read_tile(&self, _: &Tile, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }
}

impl Sink for Nowhere {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        self.element
    }

    fn write_tile(&self, _: &Tile, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}
