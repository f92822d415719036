//! Freed memory of a stream, kept for its next allocations.
//!
//! What a stream's work used until it was freed, later work of the same stream may use without waiting: the stream puts the two in
//! order. So a block goes back only to the stream that it came from.

use std::sync::{Mutex, PoisonError};

/// Larger blocks go back to the driver: what works on them takes longer than an allocation.
const LARGEST: usize = 1 << 20;
/// Most bytes that a stream keeps.
const MOST_BYTES: usize = 32 << 20;
/// Bytes of the smallest block.
const SMALLEST: usize = 512;
/// Blocks come in so many sizes between two powers of two.
const STEPS: usize = 4;
/// Sizes from [`SMALLEST`] to [`LARGEST`].
const CLASSES: usize = (LARGEST / SMALLEST).ilog2() as usize * STEPS + 1;

/// The blocks of a stream that nobody has.
#[derive(Default)]
pub(super) struct Pool(Mutex<Kept>);

struct Kept {
    /// Addresses, by class of size.
    blocks: [Vec<u64>; CLASSES],
    bytes: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Kept { blocks: [const { Vec::new() }; CLASSES], bytes: 0 }
    }
}

/// The class of an allocation of `bytes`, and the bytes of all its blocks; `None` for one that is not kept.
pub(super) fn class(bytes: usize) -> Option<(usize, usize)> {
    if bytes > LARGEST {
        return None;
    }
    let bytes = bytes.max(SMALLEST);
    let power = bytes.ilog2() as usize;
    let step = (1 << power) / STEPS;
    let above = (bytes - (1 << power)).div_ceil(step);
    Some(((power - SMALLEST.ilog2() as usize) * STEPS + above, (1 << power) + above * step))
}

impl Pool {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of this class, if one is kept.
    pub(super) fn take(&self, (class, bytes): (usize, usize)) -> Option<u64> {
        let mut kept = self.kept();
        let address = kept.blocks.get_mut(class)?.pop()?;
        kept.bytes -= bytes;
        Some(address)
    }

    /// Keeps a block, if there is room; whether it does.
    pub(super) fn put(&self, (class, bytes): (usize, usize), address: u64) -> bool {
        let mut kept = self.kept();
        if kept.bytes + bytes > MOST_BYTES {
            return false;
        }
        kept.bytes += bytes;
        kept.blocks[class].push(address);
        true
    }

    /// All blocks, of which none is kept any more.
    pub(super) fn drain(&self) -> impl Iterator<Item = u64> + use<> {
        std::mem::take(&mut *self.kept()).blocks.into_iter().flatten()
    }
}
