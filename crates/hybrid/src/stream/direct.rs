//! Copies without slots: what lies in page-locked memory already.

use super::engine::Engine;
use crate::Error;
use crate::store::{Locked, LockedSink, Sink, Source, Tile};

/// Whether an engine reaches page-locked memory of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direct(bool);

impl Direct {
    pub(super) fn of<T, E: Engine<T>>(engine: &E) -> Direct {
        Direct(engine.reaches_locked())
    }

    /// Where the engine reads a source itself.
    pub(super) fn from<'a>(self, source: &'a dyn Source) -> Option<Locked<'a>> {
        self.0.then(|| source.locked()).flatten()
    }

    /// Where it writes to a sink itself.
    pub(super) fn to<'a>(self, sink: &'a dyn Sink) -> Option<&'a dyn LockedSink> {
        self.0.then(|| sink.locked()).flatten()
    }

    /// Queues a copy back of a tile, which begins at an element of a buffer. Whether it is one that needs no slot.
    pub(super) fn land<T, E: Engine<T>>(
        self,
        engine: &E,
        (from, at): (&E::Buffer, usize),
        (sink, tile): (&dyn Sink, &Tile),
    ) -> Result<bool, Error> {
        let Some(sink) = self.to(sink) else { return Ok(false) };
        sink.land(tile, &mut |bytes, rows| engine.take_rows_back(from, at, (bytes, rows)))?;
        Ok(true)
    }
}
