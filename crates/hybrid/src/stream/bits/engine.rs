//! What streamed products of bits need of a device beside its queues.

use super::Becomes;
use crate::Error;
use crate::stream::engine::Engine;
#[cfg(doc)]
use crate::stream::engine::Queue;

/// `rows x columns` results of `depth` pairs each.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitMultiplication {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) becomes: Becomes,
}

/// A device that multiplies bits. Rows of bits are padded to words of 128 bits, those of the left operand with zeros, and where distances are made those of both;
/// numbers lie without gaps.
pub(super) trait BitMultiplier: Engine<u32> {
    /// Queues a transposition ([`Queue::Compute`]) of so many rows and columns. Of a row of the result all words with bits of the operand are written, others are as they were.
    fn transpose(&self, from: &Self::Buffer, extents: [usize; 2], to: &mut Self::Buffer) -> Result<(), Error>;

    /// Queues zeros to all of a buffer ([`Queue::Compute`]).
    fn clear(&self, buffer: &mut Self::Buffer) -> Result<(), Error>;

    /// Queues a product ([`Queue::Compute`]) of the rows of both factors. Padding of the result is unspecified.
    fn count_pairs(
        &self,
        what: &BitMultiplication,
        factors: [&Self::Buffer; 2],
        result: &mut Self::Buffer,
    ) -> Result<(), Error>;
}
