//! What a stream says to the pipeline that it goes through.

use super::engine::Engine;
use super::turns::Stop;
use crate::Error;
use crate::store::Tile;
use serde_json::Value;

/// What streams: what fills slots, and what becomes of results.
pub(super) trait Flow<T, E: Engine<T>>: Sync {
    /// What fills a slot.
    type Piece: Send;
    /// Memory of the device for results that are finished together.
    type Memory: AsRef<[E::Buffer]> + Send;
    /// What stands in such memory.
    type Results: Send;
    /// What of it a slot has room for.
    type Part: Send;

    /// All that goes to the device, in the order in which it is taken. It may wait for what is written, and is an error where nothing more will be.
    fn pieces(&self) -> impl Iterator<Item = Result<Self::Piece, Stop>> + Send;

    /// What a trace says of a piece.
    fn facts_of_piece(&self, piece: &Self::Piece) -> Value;

    /// The same of a part.
    fn facts_of_part(&self, part: &Self::Part) -> Value;

    /// Fills a slot.
    fn read(&self, piece: Self::Piece, host: &mut E::Host) -> Result<(), Error>;

    /// Queues copies back of results that need no slot, and says which parts these are.
    fn land(&self, _engine: &E, _memory: &Self::Memory, _results: &Self::Results) -> Result<Vec<Self::Part>, Error> {
        Ok(Vec::new())
    }

    /// What landed like this is there.
    fn landed(&self, _part: &Self::Part) {}

    /// What goes back, slot by slot: all that did not land otherwise.
    fn parts(&self, results: Self::Results) -> impl Iterator<Item = Back<Self::Part>>;

    /// Empties a slot.
    fn write(&self, part: &Self::Part, host: &mut E::Host) -> Result<(), Error>;

    /// Nothing more will be written: nobody should wait for it.
    fn stop(&self) {}
}

/// A copy back.
pub(super) struct Back<P> {
    /// Which buffer of the memory, from which element on, and how many.
    pub(super) buffer: usize,
    pub(super) at: usize,
    pub(super) elements: usize,
    pub(super) part: P,
}

/// Copies back of tiles that lie in one buffer, one behind the other, from an element on.
pub(super) fn backwards(mut at: usize, parts: impl Iterator<Item = Tile>) -> impl Iterator<Item = Back<Tile>> {
    parts.map(move |part| {
        let elements = part.count();
        at += elements;
        Back { buffer: 0, at: at - elements, elements, part }
    })
}
