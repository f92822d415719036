//! Freed memory of a stream, kept for its next allocations.
//!
//! What a stream's work used until it was freed, later work of the same stream may use without waiting: the stream puts the two in
//! order. So a block goes back only to the stream that it came from.

use std::sync::{Mutex, PoisonError};

/// Larger blocks go back to the driver: what works on them takes longer than an allocation.
const LARGEST: usize = 16 << 20;
/// Most bytes that a stream keeps.
const MOST_BYTES: usize = 64 << 20;
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
    let class = (power - SMALLEST.ilog2() as usize) * STEPS + above;
    Some((class, class_bytes(class)))
}

/// The bytes of the blocks of a class.
fn class_bytes(class: usize) -> usize {
    let whole = SMALLEST << (class / STEPS);
    whole + whole / STEPS * (class % STEPS)
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

    /// Keeps a block. What is to go for it is given back: blocks of the size that has most.
    pub(super) fn put(&self, (class, bytes): (usize, usize), address: u64) -> Vec<u64> {
        let mut kept = self.kept();
        let mut gone = Vec::new();
        while kept.bytes + bytes > MOST_BYTES {
            let of = |class: usize| kept.blocks[class].len() * class_bytes(class);
            let Some(most) = (0..CLASSES).max_by_key(|c| of(*c)) else { break };
            let Some(address) = kept.blocks[most].pop() else { break };
            kept.bytes -= class_bytes(most);
            gone.push(address);
        }
        kept.bytes += bytes;
        kept.blocks[class].push(address);
        gone
    }

    /// All blocks, of which none is kept any more.
    pub(super) fn drain(&self) -> impl Iterator<Item = u64> + use<> {
        std::mem::take(&mut *self.kept()).blocks.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_as_large_as_they_say() {
        for bytes in (1..4096).chain([LARGEST - 1, LARGEST]) {
            let (class, whole) = class(bytes).unwrap();
            assert!(bytes <= whole && whole <= bytes.max(SMALLEST) * 5 / 4 && class_bytes(class) == whole, "{bytes}");
        }
        assert_eq!(class(LARGEST + 1), None);
    }

    /// Sizes of the past make room for those that are in use.
    #[test]
    fn a_full_pool_takes_another_size() {
        let pool = Pool::default();
        let [large, small] = [LARGEST, SMALLEST].map(|bytes| class(bytes).unwrap());
        for address in 0..(MOST_BYTES / LARGEST) as u64 {
            assert!(pool.put(large, address).is_empty());
        }
        assert_eq!(pool.put(small, 1000).len(), 1, "a large one goes");
        assert_eq!((pool.take(small), pool.take(small)), (Some(1000), None));
        assert!(pool.put(small, 1000).is_empty() && pool.put(small, 1001).is_empty());
        assert_eq!(pool.drain().count(), MOST_BYTES / LARGEST - 1 + 2);
    }
}
