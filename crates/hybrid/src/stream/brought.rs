//! What a product has come to the device: tiles of its operands, through slots or, where the engine reaches them, without.

use super::direct::Direct;
use super::engine::Engine;
use super::hints::{Part, Read};
use super::pipeline::{Feed, Flow};
use super::turns::Stop;
use crate::Error;
use crate::store::{Locked, Source, Tile};

/// A tile that is brought, and where the engine reads it itself.
pub(super) struct Brought<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) tile: Tile,
    pub(super) direct: Option<Locked<'a>>,
    /// Whether nobody reads it again.
    pub(super) is_last: bool,
}

impl<'a> Brought<'a> {
    /// A tile as it is stored. All tiles of a source are read by the engine itself, or none: as the widest of so many columns is.
    pub(super) fn of(direct: Direct, source: &'a dyn Source, tile: Tile, columns: usize, is_last: bool) -> Self {
        Brought { source, tile, direct: direct.from(source, columns), is_last }
    }

    /// The parts of it that go through slots of so many elements.
    pub(super) fn reads(self, elements: usize) -> impl Iterator<Item = Read<'a, Part<'a>>> {
        let Brought { source, tile, direct, is_last } = self;
        let parts = direct.is_none().then(|| tile.parts(elements, source.grain()));
        parts.into_iter().flatten().map(move |part| {
            let done = is_last.then(|| part.clone());
            Read::of(source, part, done)
        })
    }

    /// Has it come to the begin of a buffer, in parts as they were read.
    pub(super) fn bring<T, E: Engine<T>, F: Flow<T, E>>(
        &self,
        feed: &mut Feed<'_, T, E, F>,
        elements: usize,
        to: &mut E::Buffer,
    ) -> Result<(), Stop> {
        if let Some(locked) = &self.direct {
            return feed.bring_rows((locked.bytes, &locked.rows(&self.tile)), &self.tile, (to, 0));
        }
        let mut at = 0;
        for part in self.tile.parts(elements, self.source.grain()) {
            feed.bring(part.count(), to, at)?;
            at += part.count();
        }
        Ok(())
    }
}

/// Reads a part that goes through a slot.
pub(super) fn fill<T: crate::store::Stored>((source, part): Part<'_>, host: &mut [T]) -> Result<(), Error> {
    T::fill(&mut host[..part.count()], &mut |bytes| source.read_tile(&part, bytes))
}
