//! Where results go: into sinks, or into parts of them.

use crate::Error;
use crate::budget::Budget;
use crate::dispatch::At;
use crate::store::{Element, Extents, LockedSink, QueueCopy, Sink, Tile};
use std::sync::Arc;

/// Where a result goes.
#[derive(Clone)]
pub(super) enum Goal<'a> {
    Whole(&'a dyn Sink),
    Section(Arc<Section<'a>>),
}

impl<'a> Goal<'a> {
    pub(super) fn sink(&self) -> &dyn Sink {
        match self {
            Goal::Whole(sink) => *sink,
            Goal::Section(section) => &**section,
        }
    }

    /// A tile of it as a goal of its own; `None` where it lies on a GPU, whose kernels write all of it or nothing.
    pub(super) fn section(&self, tile: Tile) -> Option<Goal<'a>> {
        if self.sink().resident().is_some() {
            return None;
        }
        Some(Goal::Section(Arc::new(Section { of: self.clone(), tile })))
    }
}

/// A tile of a sink, as a sink.
pub(super) struct Section<'a> {
    of: Goal<'a>,
    tile: Tile,
}

impl Section<'_> {
    /// A tile of it in the whole sink.
    fn within(&self, tile: &Tile) -> Tile {
        let (row, column) = (self.tile.rows.start, self.tile.columns.start);
        Tile {
            rows: tile.rows.start + row..tile.rows.end + row,
            columns: tile.columns.start + column..tile.columns.end + column,
        }
    }
}

impl Sink for Section<'_> {
    fn extents(&self) -> Extents {
        self.tile.extents()
    }

    fn element(&self) -> Element {
        self.of.sink().element()
    }

    fn grain(&self) -> Extents {
        let Extents { rows, columns } = self.of.sink().grain();
        let is_grain = self.tile.rows.start.is_multiple_of(rows) && self.tile.columns.start.is_multiple_of(columns);
        if is_grain { Extents::new(rows, columns) } else { Extents::new(1, 1) }
    }

    fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.of.sink().gather_within(host)
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        self.of.sink().write_tile(&self.within(tile), data)
    }

    fn locked(&self) -> Option<&dyn LockedSink> {
        self.of.sink().locked().map(|_| self as &dyn LockedSink)
    }

    fn at(&self) -> At {
        self.of.sink().at()
    }

    /// The whole sink is committed by whoever has it.
    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

impl LockedSink for Section<'_> {
    fn land(&self, tile: &Tile, copy: QueueCopy<'_>) -> Result<(), Error> {
        self.of.sink().locked().map_or(Ok(()), |sink| sink.land(&self.within(tile), copy))
    }

    fn landed(&self, tile: &Tile) {
        self.of.sink().locked().into_iter().for_each(|sink| sink.landed(&self.within(tile)));
    }
}
