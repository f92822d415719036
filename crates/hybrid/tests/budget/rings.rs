//! M1: a ring is as large as its budget, and none where there is nothing.

use proptest::prelude::*;
use tilewright_hybrid::budget::{Budget, Memory, RingWish};

fn ring(limit: u64, wish: RingWish) -> Option<(u64, u64)> {
    let budget = Budget::new(Memory::Pinned, limit);
    let ring = budget.ring(wish)?;
    assert_eq!(ring.permit.bytes(), ring.slots * ring.slot_bytes);
    assert_eq!(budget.used(), ring.permit.bytes());
    let found = (ring.slots, ring.slot_bytes);
    drop(ring);
    assert_eq!(budget.used(), 0);
    Some(found)
}

#[test]
fn m1_a_small_cap_makes_a_smaller_ring() {
    let wish = RingWish { slots: 4, slot_bytes: 1 << 20, granule: 4096 };
    assert_eq!(ring(1 << 30, wish), Some((4, 1 << 20)));
    assert_eq!(ring((3 << 20) + 5, wish), Some((3, 1 << 20)));
    assert_eq!(ring(2 << 20, wish), Some((2, 1 << 20)));
    assert_eq!(ring((2 << 20) - 1, wish), Some((2, (1 << 20) - 4096)), "two smaller ones rather than one");
    assert_eq!(ring(1 << 20, wish), Some((2, 1 << 19)), "less than a tile for each");
    assert_eq!(ring(8191, wish), Some((1, 4096)));
    assert_eq!(ring(4096, wish), Some((1, 4096)));
}

#[test]
fn m1_a_cap_of_nothing_makes_none() {
    let wish = RingWish { slots: 4, slot_bytes: 1 << 20, granule: 4096 };
    assert_eq!(ring(0, wish), None);
    assert_eq!(ring(4095, wish), None);
    assert_eq!(ring(1 << 20, RingWish { slots: 0, ..wish }), None);
    assert_eq!(ring(1 << 20, RingWish { slot_bytes: 0, ..wish }), None);
    assert_eq!(ring(1 << 20, RingWish { slot_bytes: u64::MAX, ..wish }), None, "no multiple of a page is so large");
    assert_eq!(ring(1 << 20, RingWish { slots: u64::MAX, ..wish }), ring(1 << 20, wish), "as many as there are");
    assert_eq!(ring(10, RingWish { slots: 1, slot_bytes: 100, granule: 0 }), Some((1, 10)));
}

proptest! {
    #[test]
    fn a_ring_is_within_wish_and_budget(limit in 0u64..100_000, slots in 1u64..6, slot_bytes in 1u64..40_000, granule in 1u64..5000) {
        match ring(limit, RingWish { slots, slot_bytes, granule }) {
            Some((got, bytes)) => {
                prop_assert!(got >= 1 && got <= slots && bytes >= granule && bytes % granule == 0);
                prop_assert!(got * bytes <= limit && bytes < slot_bytes + granule);
                // Nothing that is there is given up without need.
                let whole = slot_bytes.next_multiple_of(granule);
                prop_assert!(got == slots && bytes == whole || (got + 1) * (bytes + granule) > limit);
            }
            None => prop_assert!(limit < granule),
        }
    }
}
