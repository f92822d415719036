//! Copies without slots: what lies in page-locked memory already.

use super::engine::Engine;
use crate::Error;
use crate::store::{Extents, Locked, LockedSink, Sink, Source, Tile};

/// Bytes of a row from which on rows with gaps between them are worth a copy of their own. Short ones are slow: a product of 32768 x 32768 f64 took
/// 9.0 s with rows of 8 KB and of 128 KB among its copies, 1.5 where threads copied them into slots (H200, 2026-11-24). Long ones were not timed.
const WIDE: usize = 1 << 20;

/// Whether an engine reaches page-locked memory of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direct(bool);

impl Direct {
    /// Of a GPU's engine.
    pub(super) const ON_GPU: Direct = Direct(true);

    pub(super) fn of<T, E: Engine<T>>(engine: &E) -> Direct {
        Direct(engine.reaches_locked())
    }

    /// Where the engine reads tiles of so many columns of a source itself.
    pub(super) fn from(self, source: &dyn Source, columns: usize) -> Option<Locked<'_>> {
        let pays = self.0 && pays(source.extents(), columns, source.element().bytes());
        pays.then(|| source.locked()).flatten()
    }

    /// Where it writes tiles of so many columns to a sink itself.
    pub(super) fn to(self, sink: &dyn Sink, columns: usize) -> Option<&dyn LockedSink> {
        let pays = self.0 && pays(sink.extents(), columns, sink.element().bytes());
        pays.then(|| sink.locked()).flatten()
    }

    /// Queues a copy back of a tile, which begins at an element of a buffer. Whether it is one that needs no slot: so are all of a sink, or none.
    pub(super) fn land<T, E: Engine<T>>(
        self,
        engine: &E,
        (from, at): (&E::Buffer, usize),
        (sink, tile, columns): (&dyn Sink, &Tile, usize),
    ) -> Result<bool, Error> {
        let Some(sink) = self.to(sink, columns) else { return Ok(false) };
        sink.land(tile, &mut |bytes, rows| engine.take_rows_back(from, at, (bytes, rows)))?;
        Ok(true)
    }
}

/// Whole rows have no gaps.
fn pays(all: Extents, columns: usize, element_bytes: usize) -> bool {
    columns >= all.columns || columns.saturating_mul(element_bytes) >= WIDE
}
