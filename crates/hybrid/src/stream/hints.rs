//! What streams tell stores: what is read soon, and what is not read again.

use super::staging::Staging;
use crate::Error;
use crate::store::{Source, Tile};

/// A part of a source.
pub(super) type Part<'a> = (&'a dyn Source, Tile);

/// Something that is read, as a stream plans it.
pub(super) struct Read<'a, P> {
    pub(super) piece: P,
    /// Where it lies, if its store may hear of it.
    pub(super) part: Option<Part<'a>>,
    /// What of it nobody reads again.
    pub(super) done: Option<Tile>,
}

/// The same with what its reader says: which part is read as many pieces later as there are slots, and which one is done with.
pub(super) struct Hinted<'a, P> {
    pub(super) piece: P,
    ahead: Option<Part<'a>>,
    done: Option<Part<'a>>,
}

/// For each of the pieces of a stream the one to be fetched while it is read. Those that have slots are read at once: it is the one behind them.
pub(super) fn ahead<'a, P>(
    pieces: impl Iterator<Item = Read<'a, P>>,
    staging: &Staging,
) -> impl Iterator<Item = Option<Part<'a>>> {
    pieces.skip(staging.slots).map(|read| read.part).chain(std::iter::repeat_with(|| None))
}

/// All pieces in their order, twice the same, with what their readers say.
pub(super) fn hinted<'a, P>(
    pieces: impl Iterator<Item = Read<'a, P>>,
    again: impl Iterator<Item = Read<'a, P>>,
    staging: &Staging,
) -> impl Iterator<Item = Hinted<'a, P>> {
    let releases = staging.releases;
    pieces.zip(ahead(again, staging)).map(move |(read, ahead)| read.hinted(ahead, releases))
}

impl<'a> Read<'a, Part<'a>> {
    /// A part that is read as it lies.
    pub(super) fn of(source: &'a dyn Source, tile: Tile, done: Option<Tile>) -> Self {
        Read { piece: (source, tile.clone()), part: Some((source, tile)), done }
    }
}

impl<'a, P> Read<'a, P> {
    /// With what is fetched meanwhile. What was read for the last time is released where it would be in the way of what comes.
    pub(super) fn hinted(self, ahead: Option<Part<'a>>, releases: bool) -> Hinted<'a, P> {
        let Read { piece, part, done } = self;
        let done = done.filter(|_| releases);
        Hinted { piece, ahead, done: part.and_then(|(source, _)| Some((source, done?))) }
    }
}

impl<P> Hinted<'_, P> {
    /// Reads the piece. A hint that fails is an error, as a read that fails is.
    pub(super) fn read(self, read: impl FnOnce(P) -> Result<(), Error>) -> Result<(), Error> {
        if let Some((source, tile)) = self.ahead {
            source.prefetch(&tile)?;
        }
        read(self.piece)?;
        self.done.map_or(Ok(()), |(source, tile)| source.release(&tile))
    }
}

/// Whether a source is there more than once: what one use of it is done with another one may need.
pub(super) fn is_shared<'s>(source: &dyn Source, all: impl Iterator<Item = &'s dyn Source>) -> bool {
    all.filter(|other| std::ptr::addr_eq(source, *other)).count() > 1
}
