//! Page-locked memory that nobody has any more, kept for whoever asks for as much next: locking takes longer than filling.

use super::Handle;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most bytes that a device keeps.
const MOST_BYTES: usize = 128 << 20;

/// The blocks of a device, the oldest first.
#[derive(Default)]
pub(crate) struct Spare(Mutex<VecDeque<Block>>);

/// Page-locked memory, and how many bytes.
pub(super) struct Block {
    pub(super) pointer: Handle<u8>,
    pub(super) bytes: usize,
}

impl Spare {
    fn blocks(&self) -> MutexGuard<'_, VecDeque<Block>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of just so many bytes.
    pub(super) fn take(&self, bytes: usize) -> Option<Block> {
        let mut blocks = self.blocks();
        let at = blocks.iter().position(|block| block.bytes == bytes)?;
        blocks.remove(at)
    }

    /// Keeps one, and returns what there is no room for then: the oldest.
    pub(super) fn put(&self, block: Block) -> Vec<Block> {
        let mut blocks = self.blocks();
        blocks.push_back(block);
        let mut bytes: usize = blocks.iter().map(|block| block.bytes).sum();
        let is_too_much = |block: &Block| {
            let is_too_much = bytes > MOST_BYTES;
            bytes -= if is_too_much { block.bytes } else { 0 };
            is_too_much
        };
        let many = blocks.iter().map(is_too_much).take_while(|it| *it).count();
        blocks.drain(..many).collect()
    }

    /// All of them.
    pub(super) fn drain(&self) -> Vec<Block> {
        self.blocks().drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Handle, MOST_BYTES, Spare};

    fn block(number: usize, bytes: usize) -> Block {
        Block { pointer: Handle(std::ptr::without_provenance_mut(number)), bytes }
    }

    fn numbers(blocks: Vec<Block>) -> Vec<usize> {
        blocks.iter().map(|block| block.pointer.0.addr()).collect()
    }

    #[test]
    fn the_oldest_go_where_there_is_no_room() {
        let spare = Spare::default();
        assert!(spare.take(8).is_none());
        for number in 1..5 {
            assert!(numbers(spare.put(block(number, MOST_BYTES / 4))).is_empty());
        }
        assert!(spare.take(MOST_BYTES / 4 - 1).is_none(), "of another size");
        assert_eq!(numbers(spare.put(block(5, MOST_BYTES / 2))), [1, 2]);
        assert_eq!(numbers(spare.put(block(6, MOST_BYTES + 1))), [3, 4, 5, 6], "larger than all that is kept");
        assert!(numbers(spare.put(block(7, 8))).is_empty());
        assert_eq!(spare.take(8).map(|block| block.pointer.0.addr()), Some(7));
        assert!(spare.take(8).is_none() && spare.drain().is_empty());
    }
}
