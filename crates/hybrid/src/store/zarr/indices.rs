//! Indices of shards that hints have asked for, for those that come next.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Offsets and lengths of a shard's chunks in its file.
pub(super) type Index = Arc<[[u64; 2]]>;

/// Bytes of indices that an open array keeps, if one is not more than that.
const MOST: usize = 4 << 20;

/// The indices of an array that were asked for last: each is read once for as long as it is kept, also where several threads ask.
pub(super) struct Indices {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    slots: HashMap<[usize; 2], Arc<Mutex<Option<Index>>>>,
    /// In the order in which they came.
    order: VecDeque<[usize; 2]>,
}

impl Indices {
    /// Of shards with so many chunks each.
    pub(super) fn of(chunks: usize) -> Self {
        let bytes = chunks.saturating_mul(size_of::<[u64; 2]>()).max(1);
        Self { most: (MOST / bytes).max(1), kept: Mutex::default() }
    }

    /// That of a shard, which `read` has read unless it is kept. A shard that is not there is looked for again, and so is one that could not be read.
    pub(super) fn get<E>(
        &self,
        shard: [usize; 2],
        read: impl FnOnce() -> Result<Option<Index>, E>,
    ) -> Result<Option<Index>, E> {
        let slot = self.slot(shard);
        let mut slot = locked(&slot);
        if slot.is_none() {
            *slot = read()?;
        }
        Ok(slot.clone())
    }

    /// Where a shard's index is, or will be. The one that came first makes room.
    fn slot(&self, shard: [usize; 2]) -> Arc<Mutex<Option<Index>>> {
        let mut kept = locked(&self.kept);
        let Kept { slots, order } = &mut *kept;
        if let Some(slot) = slots.get(&shard) {
            return slot.clone();
        }
        if order.len() == self.most
            && let Some(first) = order.pop_front()
        {
            slots.remove(&first);
        }
        order.push_back(shard);
        slots.entry(shard).or_default().clone()
    }
}

/// Under a lock nothing is left half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn index(number: usize) -> Option<Index> {
        Some(vec![[number as u64; 2]].into())
    }

    #[test]
    fn an_index_is_read_once_whoever_asks() {
        let (indices, reads) = (Indices::of(4), AtomicUsize::new(0));
        let read = || {
            reads.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Error>(index(7))
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(indices.get([0, 1], read).unwrap(), index(7)));
            }
        });
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_not_there_or_was_not_read_is_asked_for_again() {
        let (indices, failed) = (Indices::of(4), Error::NoGpu { why: "any error".into() });
        assert!(indices.get([0, 0], || Err(failed)).is_err());
        assert_eq!(indices.get([0, 0], || Ok::<_, Error>(None)).unwrap(), None);
        assert_eq!(indices.get([0, 0], || Ok::<_, Error>(index(1))).unwrap(), index(1));
        assert_eq!(indices.get([0, 0], || Ok::<_, Error>(index(2))).unwrap(), index(1));
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        // Three quarters of the room each: one is kept.
        for (chunks, most) in [(MOST / 16 / 4 * 3, 1), (MOST / 16 / 3, 3), (usize::MAX, 1)] {
            let indices = Indices::of(chunks);
            let get = |shard: usize, number| indices.get([shard, 0], || Ok::<_, Error>(index(number))).unwrap();
            (0..=most).for_each(|shard| assert_eq!(get(shard, shard), index(shard)));
            assert_eq!(get(most, 99), index(most), "the last one is kept");
            assert_eq!(get(0, 99), index(99), "the first one was not");
            let kept = locked(&indices.kept);
            assert_eq!((kept.slots.len(), kept.order.len()), (most, most));
        }
    }
}
