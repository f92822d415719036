//! The call key: everything about a call that its plan depends on, compared in full and without allocation.

use crate::feed::{Operand, Source, Target};
use tilewright_expr::bind::Axis;

/// Words of a signature that are kept in place: enough for eight operands of rank four.
const WORDS: usize = 128;

/// The key of a call: places, extents, strides and alignments of its operands and results. Addresses and the values of host
/// operands are not part of it.
pub(crate) struct Signature {
    words: [u64; WORDS],
    len: usize,
    more: Vec<u64>,
    hash: u64,
}

impl Signature {
    pub(crate) fn new() -> Self {
        Signature { words: [0; WORDS], len: 0, more: Vec::new(), hash: 0 }
    }

    #[inline]
    fn push(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        match self.words.get_mut(self.len) {
            Some(place) => {
                *place = word;
                self.len += 1;
            }
            None => self.more.push(word),
        }
    }

    fn axes(&mut self, axes: &[Axis]) {
        for a in axes {
            self.push(a.dim);
            self.push(a.extent as u64);
            self.push(a.stride as u64);
        }
    }

    /// Adds an operand.
    pub(crate) fn operand(&mut self, operand: &Operand<'_>) {
        let place = match operand.memory {
            Source::Host { dense, .. } => u64::from(dense),
            Source::Gpu { gpu, .. } => 2 + u64::from(operand.alignment()) + ((gpu.ordinal() as u64) << 8),
        };
        self.push(place << 8 | operand.axes.len() as u64);
        self.axes(operand.axes);
    }

    /// Adds a result that the caller gave.
    pub(crate) fn target(&mut self, target: &Target<'_>) {
        self.push(u64::from(target.view().alignment));
        self.axes(target.axes.as_slice());
    }

    /// Adds a word that tells kinds of calls apart.
    pub(crate) fn mark(&mut self, word: u64) {
        self.push(word);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn matches(&self, known: &[u64]) -> bool {
        let (first, rest) = known.split_at(self.len.min(known.len()));
        first == &self.words[..self.len] && rest == self.more
    }

    pub(crate) fn to_boxed(&self) -> Box<[u64]> {
        self.words[..self.len].iter().chain(&self.more).copied().collect()
    }
}
