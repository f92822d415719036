//! Page-locked memory that streams go through.

use crate::Error;
use crate::budget::{Budget, Ring, RingWish};
use crate::store::Extents;
use std::thread::available_parallelism;

/// Slots on the way to the device, and on the way back: one for each thread, and some that are copied meanwhile.
const SLOTS: [usize; 2] = [16, 10];
/// Bytes of a slot at best: copies of so much run at the link's full rate, and page-locking takes 0.2 ms a megabyte.
const SLOT_BYTES: usize = 4 << 20;
/// The same, of what is stored in chunks, which are read whole.
const SLOT_BYTES_OF_CHUNKS: usize = 32 << 20;
/// Threads that fill slots, and threads that empty them, at most: one has a tenth of the link's rate.
const THREADS: usize = 12;

/// Host memory that a stream goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Staging {
    /// Slots on the way to the device, at least 1.
    pub(super) slots: usize,
    /// Slots on the way back, at least 1.
    pub(super) slots_back: usize,
    /// Elements of a slot.
    pub(super) elements: usize,
    /// Threads that fill slots, and threads that empty them.
    pub(super) threads: usize,
}

/// What goes through slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// Bytes that stay together: an element, or a row. At least one element.
    pub(super) granule: usize,
    /// Bytes of the most that goes to one place: slots are no larger.
    pub(super) most: u128,
    /// Bytes that are best read or written at once.
    pub(super) chunks: usize,
    /// Whether anything goes to the device, and whether anything comes back: what nothing needs has one slot.
    pub(super) ways: [bool; 2],
}

impl Load {
    /// With tiles of so many columns of something stored in grains.
    pub(super) fn with_grain(self, grain: Extents, columns: usize, element_bytes: usize) -> Load {
        let bytes = if grain.rows > 1 { grain.rows.saturating_mul(columns).saturating_mul(element_bytes) } else { 0 };
        Load { chunks: self.chunks.max(bytes), ..self }
    }
}

impl Staging {
    /// Slots for elements of type `T` out of a budget: as many, and as large, as it has room for. [`Error::Budget`] without room for a slot each
    /// way.
    pub(super) fn new<T>(pinned: &Budget, load: Load) -> Result<(Staging, Ring), Error> {
        let granule = load.granule.max(size_of::<T>()).next_multiple_of(size_of::<T>()) as u64;
        let best = load.chunks.clamp(SLOT_BYTES, SLOT_BYTES_OF_CHUNKS) as u64;
        let slot_bytes = u64::try_from(load.most).map_or(best, |most| most.clamp(1, best)).next_multiple_of(granule);
        let [there, back] = [0, 1].map(|way| if load.ways[way] { SLOTS[way] } else { 1 });
        let wish = RingWish { slots: (there + back) as u64, slot_bytes, granule };
        let Some(ring) = pinned.ring(wish).filter(|ring| ring.slots >= 2) else {
            let (requested, available, limit) = (2 * granule, pinned.available(), pinned.limit());
            return Err(Error::Budget { what: "pinned memory for a slot each way", requested, available, limit });
        };
        let slots = ring.slots as usize;
        let slots_back = (slots * back / (there + back)).max(1);
        let elements = ring.slot_bytes as usize / size_of::<T>();
        Ok((Staging { slots: slots - slots_back, slots_back, elements, threads: threads() }, ring))
    }
}

/// Threads for each way.
pub(super) fn threads() -> usize {
    available_parallelism().map_or(1, |n| n.get() * 3 / 4).clamp(1, THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;

    #[test]
    fn slots_are_no_larger_than_what_goes_through_them_nor_than_the_budget() {
        let budget = |bytes| Budget::new(Memory::Pinned, bytes);
        let of = |bytes, load| Staging::new::<f64>(&budget(bytes), load).map(|(staging, _)| staging);
        let much = Load { granule: 8, most: 1 << 40, chunks: 0, ways: [true; 2] };
        let all = of(1 << 30, much).unwrap();
        assert_eq!([all.slots, all.slots_back, all.elements], [SLOTS[0], SLOTS[1], SLOT_BYTES / 8]);
        assert_eq!(of(1 << 30, Load { most: 1000, ..much }).unwrap().elements, 125);
        assert_eq!(of(1 << 30, Load { chunks: 8 << 20, ..much }).unwrap().elements, 1 << 20);
        let row = of(1 << 30, Load { granule: 24 << 20, ..much }).unwrap();
        assert_eq!(row.elements * 8, 24 << 20);
        for ways in [[true, false], [false, true]] {
            let one_way = of(1 << 30, Load { ways, ..much }).unwrap();
            let expected = [0, 1].map(|way| if ways[way] { SLOTS[way] } else { 1 });
            assert_eq!([one_way.slots, one_way.slots_back], expected);
        }
        let few = of(9 << 20, much).unwrap();
        assert_eq!([few.slots, few.slots_back, few.elements], [1, 1, SLOT_BYTES / 8]);
        let two = of(100, much).unwrap();
        assert_eq!([two.slots, two.slots_back, two.elements], [1, 1, 6]);
        assert!(matches!(of(15, much), Err(Error::Budget { requested: 16, available: 15, .. })));
    }
}
