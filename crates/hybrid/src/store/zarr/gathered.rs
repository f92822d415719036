//! Shards of which a part has been written.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::{Extents, Tile, coverage::Coverage};
use crate::Error;
use crate::budget::{Budget, Permit};

/// A shard's place among all shards: its row and its column.
pub(super) type Index = [usize; 2];

/// What of a shard has been written, until it is whole.
pub(super) struct Unfinished {
    /// As the shard will be.
    pub(super) content: Vec<u8>,
    /// Counted from the shard's first element.
    pub(super) parts: Coverage,
    /// Elements that have been written, those that were written twice counted twice.
    count: usize,
    room: Permit,
}

impl Unfinished {
    /// Nothing yet.
    pub(super) fn new(bytes: usize, room: Permit) -> Self {
        Self { content: vec![0; bytes], parts: Coverage::default(), count: 0, room }
    }

    /// Says that a part is there, and whether all is: of so many rows and columns.
    pub(super) fn has(&mut self, part: &Tile, all: Extents) -> bool {
        self.parts.add(part);
        self.count += part.count();
        self.count >= all.rows * all.columns && self.parts.hole(all).is_none()
    }
}

/// One shard. Whoever writes it holds it.
#[derive(Default)]
pub(super) struct Shard(Mutex<Option<Unfinished>>);

impl Shard {
    pub(super) fn hold(&self) -> MutexGuard<'_, Option<Unfinished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shards that are written in parts. Their memory is a budget's; where that has no room for another one, the oldest has to go.
pub(super) struct Gathered {
    room: Mutex<Room>,
    /// Those that somebody holds or that have parts, in the order in which they came.
    shards: Mutex<Vec<(Index, Arc<Shard>)>>,
}

struct Room {
    host: Budget,
    /// Leave to have one shard, while none has it: others may take all that is left of the budget.
    one: Option<Permit>,
    /// Shards that have room.
    taken: usize,
}

impl Gathered {
    pub(super) fn within(host: Budget) -> Self {
        Self { room: Mutex::new(Room { host, one: None, taken: 0 }), shards: Mutex::default() }
    }

    fn lock_room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on within another budget, of which it takes what one shard needs; one that it is within already has given that.
    pub(super) fn set_budget(&self, host: &Budget, bytes: usize) -> Result<(), Error> {
        let mut room = self.lock_room();
        if room.host.is(host) && (room.one.is_some() || room.taken > 0) {
            return Ok(());
        }
        room.one = None;
        room.one = Some(host.try_acquire(bytes as u64)?);
        room.host = host.clone();
        Ok(())
    }

    /// Room for another shard; nothing where another one has to go first.
    pub(super) fn room(&self, bytes: usize) -> Result<Option<Permit>, Error> {
        let mut room = self.lock_room();
        match room.one.take().map_or_else(|| room.host.try_acquire(bytes as u64), Ok) {
            Ok(permit) => {
                room.taken += 1;
                Ok(Some(permit))
            }
            Err(_) if room.taken > 0 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes back what an unfinished shard had.
    pub(super) fn done(&self, unfinished: Option<Unfinished>) {
        if let Some(Unfinished { content, room, .. }) = unfinished {
            drop(content);
            let mut all = self.lock_room();
            all.one.get_or_insert(room);
            all.taken -= 1;
        }
    }

    fn shards(&self) -> MutexGuard<'_, Vec<(Index, Arc<Shard>)>> {
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A shard, to be held and to be [`left`](Self::leave).
    pub(super) fn shard(&self, index: Index) -> Arc<Shard> {
        let mut shards = self.shards();
        if let Some((_, shard)) = shards.iter().find(|(at, _)| *at == index) {
            return shard.clone();
        }
        let shard = Arc::<Shard>::default();
        shards.push((index, shard.clone()));
        shard
    }

    /// Forgets a shard that nobody else wants and that has no parts.
    pub(super) fn leave(&self, index: Index, shard: Arc<Shard>) {
        let mut shards = self.shards();
        // Not before the list is held: of two who leave it at once one is the last.
        drop(shard);
        shards.retain(|(at, shard)| *at != index || Arc::strong_count(shard) > 1 || shard.hold().is_some());
    }

    /// Those that may have parts, the oldest first.
    pub(super) fn all(&self) -> Vec<Index> {
        self.shards().iter().map(|(index, _)| *index).collect()
    }

    /// One of them, if it is still among them, to be held and to be [`left`](Self::leave).
    pub(super) fn known(&self, index: Index) -> Option<Arc<Shard>> {
        self.shards().iter().find(|(at, _)| *at == index).map(|(_, shard)| shard.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;

    /// The last one to leave a shard without parts takes it off the list, which nobody who only looks through it keeps it on.
    #[test]
    fn shards_that_all_have_left_are_forgotten() {
        let gathered = Gathered::within(Budget::new(Memory::Host, 1 << 20));
        let [one, two] = [(); 2].map(|()| gathered.shard([0, 0]));
        let listed = gathered.all();
        gathered.leave([0, 0], one);
        assert_eq!(gathered.all(), [[0, 0]], "another one has it");
        gathered.leave([0, 0], two);
        assert_eq!(gathered.all(), [[0; 2]; 0]);
        assert!(listed.iter().all(|index| gathered.known(*index).is_none()));
        // One with parts stays, whoever leaves it.
        let shard = gathered.shard([1, 2]);
        *shard.hold() = gathered.room(8).unwrap().map(|room| Unfinished::new(8, room));
        gathered.leave([1, 2], shard);
        assert_eq!(gathered.all(), [[1, 2]]);
    }
}
