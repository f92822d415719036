use super::{Budget, Permit};

/// A ring of equal slots that somebody would like to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingWish {
    /// Slots at best; 3 keep a reader, a copy and a kernel busy.
    pub slots: u64,
    /// Bytes of a slot at best, say of a tile.
    pub slot_bytes: u64,
    /// A slot's bytes are a multiple of this, and at least this: a row, or a page.
    pub granule: u64,
}

/// Room for a ring of slots, as large as the budget allows.
#[derive(Debug)]
pub struct Ring {
    /// Slots, at least 1.
    pub slots: u64,
    /// Bytes of each, a multiple of the granule.
    pub slot_bytes: u64,
    /// The room itself.
    pub permit: Permit,
}

impl Budget {
    /// Room for a ring: the wish; where that is too much fewer slots, down to 2; then smaller ones, down to a granule; then a single
    /// one. `None` when there is not even a granule, or nothing is wished: then data goes without a ring, as it lies.
    pub fn ring(&self, wish: RingWish) -> Option<Ring> {
        let granule = wish.granule.max(1);
        let wanted = wish.slot_bytes.checked_next_multiple_of(granule)?;
        if wish.slots == 0 || wanted == 0 {
            return None;
        }
        let mut permit = self.acquire_up_to(granule, wanted.saturating_mul(wish.slots)).ok()?;
        let (slots, slot_bytes) = divide(permit.bytes(), wish.slots, wanted, granule);
        permit.shrink_to(slots * slot_bytes);
        Some(Ring { slots, slot_bytes, permit })
    }
}

/// Slots and the bytes of each, out of at least a granule.
fn divide(bytes: u64, slots: u64, wanted: u64, granule: u64) -> (u64, u64) {
    let whole = (bytes / wanted).min(slots);
    if whole >= slots.min(2) {
        return (whole, wanted);
    }
    let half = bytes / 2 / granule * granule;
    if slots >= 2 && half > 0 {
        return (2, half);
    }
    (1, (bytes / granule * granule).min(wanted))
}
