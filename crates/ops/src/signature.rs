//! The call key: everything about a call that its plan depends on, compared in full and without allocation.

use crate::device::Gpu;
use crate::feed::{Operand, Source, Targets};
use tilewright_expr::bind::Axis;

/// A call as its key says it: places, extents, strides and alignments of its operands and results. Addresses and the values of host
/// operands are not part of it.
pub(crate) struct Signature<'a> {
    /// Where it runs; `None` is the host.
    pub(crate) gpu: Option<&'a Gpu>,
    pub(crate) operands: &'a [Operand<'a>],
    /// Results that the caller gave.
    pub(crate) targets: Option<&'a Targets<'a>>,
}

impl Signature<'_> {
    /// Calls `word` with the words of the key.
    #[inline]
    fn words(&self, mut word: impl FnMut(u64)) {
        word(self.gpu.map_or(0, |g| 1 + g.context_number()));
        for operand in self.operands {
            let place = match operand.memory {
                Source::Host { dense, .. } => u64::from(dense),
                Source::Gpu { gpu, .. } => 2 + u64::from(operand.alignment()) + (gpu.context_number() << 8),
            };
            word(place << 8 | operand.axes.len() as u64);
            axes(operand.axes, &mut word);
        }
        if let Some(targets) = self.targets {
            word(1);
            for target in targets.iter().flatten() {
                word(u64::from(target.alignment()));
                axes(target.axes, &mut word);
            }
        }
    }

    /// What finds the call among others: equal keys have equal hashes.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = 0u64;
        self.words(|word| hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95));
        hash
    }

    /// Whether this is its key.
    pub(crate) fn is(&self, key: &[u64]) -> bool {
        let (mut rest, mut same) = (key.iter(), true);
        self.words(|word| same &= rest.next() == Some(&word));
        same && rest.next().is_none()
    }

    /// Its key.
    pub(crate) fn key(&self) -> Box<[u64]> {
        let mut key = Vec::new();
        self.words(|word| key.push(word));
        key.into()
    }
}

#[inline]
fn axes(axes: &[Axis], word: &mut impl FnMut(u64)) {
    for a in axes {
        word(a.dim);
        word(a.extent as u64);
        word(a.stride as u64);
    }
}
