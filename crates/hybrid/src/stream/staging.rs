//! Memory of the host that streams go through: page-locked, where the budget has some.

use crate::budget::{Budget, Ring, RingWish, system};
use crate::cores::cores;
use crate::store::{Extents, Source};

/// Slots on the way to the device, and on the way back, at most: one for each thread, and some that are copied meanwhile.
const SLOTS: [usize; 2] = [16, 10];
/// Bytes of a slot at best: copies of so much run at the link's full rate, and page-locking takes 0.2 ms a megabyte.
const SLOT_BYTES: usize = 4 << 20;
/// The same, of what is stored in chunks, which are read whole.
const SLOT_BYTES_OF_CHUNKS: usize = 32 << 20;
/// The same of a little, which threads share.
const LITTLE_SLOT_BYTES: usize = 64 << 10;
/// Bytes that a thread copies at 5 GB/s while another one begins, which takes 30 us (24 of them begin and end in 0.7 ms, beside an H200, 2026-11-29): of n * n times as many n threads
/// make the least.
const BEGINS: u128 = 160 << 10;
/// Bytes of which nobody asks whether the host has room for them.
const LITTLE: u128 = 64 << 20;
/// Slots each way in ordinary memory, whose copies are waited for: one is copied while others are filled or emptied.
const ORDINARY: usize = 4;
/// Threads that fill slots, and threads that empty them, at most: one has a tenth of the link's rate.
const THREADS: usize = 12;

/// Host memory that a stream goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Staging {
    /// Slots on the way to the device; none where nothing goes through them.
    pub(super) slots: usize,
    /// Slots on the way back.
    pub(super) slots_back: usize,
    /// Elements of a slot.
    pub(super) elements: usize,
    /// Threads that fill slots, and threads that empty them.
    pub(super) threads: usize,
    /// Whether slots are page-locked.
    pub(super) is_locked: bool,
    /// Whether stores are told what is not read again: all that is read does not fit into the host's memory.
    pub(super) releases: bool,
}

/// What goes through slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// Bytes that stay together: an element, or a row. At least one element.
    pub(super) granule: usize,
    /// Bytes of the most that goes to one place, where that is known: slots are no larger.
    pub(super) most: u128,
    /// Bytes that are best read or written at once.
    pub(super) chunks: usize,
    /// Bytes that go to the device, and that come back. What goes several times may count once.
    pub(super) bytes: [u128; 2],
    /// Bytes of all that is stored and read.
    pub(super) stored: u128,
}

impl Load {
    /// With another source.
    pub(super) fn reading(self, source: &dyn Source) -> Load {
        let Extents { rows, columns } = source.extents();
        let bytes = rows as u128 * columns as u128 * source.element().bytes() as u128;
        Load { stored: self.stored + bytes, ..self }
    }

    /// Whether all that is read does not fit into what the host has left, its cache of files included: then it is better told what is not read again.
    /// What fits may be wanted by others, or once more.
    pub(super) fn is_too_much(&self) -> bool {
        self.stored > LITTLE && self.stored > u128::from(system::host().available) / 2
    }

    /// Bytes of a slot at best: what is large goes through as many threads as may be, what is little through fewer, so that it does not wait for them.
    fn slot_bytes(&self) -> usize {
        if self.chunks > 0 {
            return self.chunks.clamp(SLOT_BYTES, SLOT_BYTES_OF_CHUNKS);
        }
        let bytes = self.bytes[0].max(self.bytes[1]);
        let share = bytes / (bytes / BEGINS).isqrt().clamp(1, THREADS as u128);
        // Of few sizes, so that slots that are kept serve others.
        let share = share.checked_ilog2().map_or(0, |log| 1 << log.min(SLOT_BYTES.ilog2()));
        share.max(LITTLE_SLOT_BYTES)
    }

    /// With tiles of so many columns of something stored in grains.
    pub(super) fn with_grain(self, grain: Extents, columns: usize, element_bytes: usize) -> Load {
        let bytes = if grain.rows > 1 { grain.rows.saturating_mul(columns).saturating_mul(element_bytes) } else { 0 };
        Load { chunks: self.chunks.max(bytes), ..self }
    }
}

impl Staging {
    /// Slots for elements of type `T` out of a budget: as many, and as large, as it has room for. Where that is not a slot each way, they lie in
    /// ordinary memory, a few of them.
    pub(super) fn new<T>(pinned: &Budget, load: Load) -> (Staging, Option<Ring>) {
        let element = size_of::<T>();
        let granule = load.granule.max(element).next_multiple_of(element) as u64;
        let best = load.slot_bytes() as u64;
        let most = if load.most == 0 { best } else { u64::try_from(load.most).unwrap_or(best).min(best) };
        let slot_bytes = most.next_multiple_of(granule);
        let parts = load.bytes.map(|bytes| usize::try_from(bytes.div_ceil(slot_bytes.into())).unwrap_or(usize::MAX));
        let [there, back] = [0, 1].map(|way| parts[way].min(SLOTS[way]));
        let wish = RingWish { slots: (there + back) as u64, slot_bytes, granule };
        let ring = pinned.ring(wish).filter(|ring| ring.slots >= wish.slots.min(2));
        let (slots, slots_back, slot_bytes) = match &ring {
            Some(ring) => {
                let (slots, slot_bytes) = (ring.slots as usize, ring.slot_bytes);
                let slots_back = (slots * back / (there + back)).max(back.min(1));
                (slots - slots_back, slots_back, slot_bytes)
            }
            None => (there.min(ORDINARY), back.min(ORDINARY), slot_bytes),
        };
        let elements = slot_bytes as usize / element;
        let releases = load.is_too_much();
        (Staging { slots, slots_back, elements, threads: threads(), is_locked: ring.is_some(), releases }, ring)
    }
}

/// Threads for each way.
pub(super) fn threads() -> usize {
    (cores() * 3 / 4).clamp(1, THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;

    #[test]
    fn slots_are_no_larger_than_what_goes_through_them_nor_than_the_budget() {
        let budget = |bytes| Budget::new(Memory::Pinned, bytes);
        let of = |bytes, load| Staging::new::<f64>(&budget(bytes), load).0;
        let much = Load { granule: 8, most: 1 << 40, bytes: [1 << 40; 2], ..Load::default() };
        let all = of(1 << 30, much);
        assert_eq!([all.slots, all.slots_back, all.elements], [SLOTS[0], SLOTS[1], SLOT_BYTES / 8]);
        assert_eq!(of(1 << 30, Load { most: 1000, ..much }).elements, 125);
        assert_eq!(of(1 << 30, Load { chunks: 8 << 20, ..much }).elements, 1 << 20);
        let row = of(1 << 30, Load { granule: 24 << 20, ..much });
        assert_eq!(row.elements * 8, 24 << 20);
        for bytes in [[1 << 40, 0], [0, 1 << 40]] {
            let one_way = of(1 << 30, Load { bytes, ..much });
            let expected = [0, 1].map(|way| if bytes[way] > 0 { SLOTS[way] } else { 0 });
            assert_eq!([one_way.slots, one_way.slots_back], expected);
        }
        let few = of(9 << 20, much);
        assert_eq!([few.slots, few.slots_back, few.elements], [1, 1, SLOT_BYTES / 8]);
        let two = of(100, much);
        assert_eq!([two.slots, two.slots_back, two.elements], [1, 1, 6]);
        assert!([all, few, two].iter().all(|staging| staging.is_locked && !staging.releases));
    }

    /// Threads and slots that a little does not need would take longer than itself.
    #[test]
    fn of_a_little_there_are_few_slots_and_of_nothing_none() {
        let of = |bytes: [u128; 2]| {
            let load = Load { granule: 8, most: 1 << 40, bytes, ..Load::default() };
            let (staging, ring) = Staging::new::<f64>(&Budget::new(Memory::Pinned, 1 << 30), load);
            (ring.map_or(0, |ring| ring.permit.bytes()), [staging.slots, staging.slots_back, staging.elements * 8])
        };
        assert_eq!(of([0; 2]).0, 0);
        assert_eq!(of([0; 2]).1, [0, 0, 64 << 10]);
        assert_eq!(of([1, 0]), (64 << 10, [1, 0, 64 << 10]));
        assert_eq!(of([100 << 10, 0]).1, [2, 0, 64 << 10]);
        assert_eq!(of([1 << 20, 200 << 10]).1, [2, 1, 512 << 10]);
        assert_eq!(of([8 << 20, 8 << 20]).1, [8, 8, 1 << 20]);
        assert_eq!(of([64 << 20, 8 << 20]).1, [16, 2, 4 << 20]);
    }

    /// M1: too little for a slot each way, and nothing, are no reason to fail.
    #[test]
    fn m1_without_page_locked_memory_slots_are_ordinary() {
        for bytes in [0, 15] {
            let budget = Budget::new(Memory::Pinned, bytes);
            let load = Load { granule: 8, most: 1 << 40, bytes: [1 << 40; 2], ..Load::default() };
            let (staging, ring) = Staging::new::<f64>(&budget, load);
            assert!(ring.is_none() && !staging.is_locked);
            assert_eq!([staging.slots, staging.slots_back, staging.elements], [ORDINARY, ORDINARY, SLOT_BYTES / 8]);
            let (one_way, _) = Staging::new::<f64>(&budget, Load { most: 1000, bytes: [1 << 40, 0], ..load });
            assert_eq!([one_way.slots, one_way.slots_back, one_way.elements], [ORDINARY, 0, 125]);
            assert_eq!(budget.used(), 0);
        }
    }

    /// What fits into memory may be wanted again; what does not is in the way.
    #[test]
    fn what_was_read_is_released_where_all_of_it_does_not_fit() {
        let pinned = Budget::new(Memory::Pinned, 1 << 20);
        let host = u128::from(system::host().capacity);
        for (stored, releases) in [(0, false), (host / 1000, false), (host, true), (u128::MAX, true)] {
            let load = Load { granule: 8, stored, ..Load::default() };
            assert_eq!(Staging::new::<f64>(&pinned, load).0.releases, releases, "{stored}");
        }
    }
}
