//! The parameters of a function, as the host writes them into the parameter block of the kernel that calls it.

use super::{Inline, Inlined};
use crate::emit::{Address, Field, Sending};

/// The alignment of a function's parameters, and what their size is a multiple of.
const ALIGNMENT: usize = 16;

impl Inlined {
    /// Bytes of the function's parameters, a multiple of 16. They stand in the kernel's block at a multiple of 16 too.
    pub fn bytes(&self) -> usize {
        self.params.bytes().next_multiple_of(ALIGNMENT).max(ALIGNMENT)
    }

    /// Writes everything but addresses and host operands into `block` (at least [`Inlined::bytes`] long).
    pub fn pack(&self, inline: &Inline, block: &mut [u8]) {
        self.params.pack(&inline.plan, block);
    }

    /// Where addresses stand in the kernel's block, in which the function's parameters begin `at` a byte. An operand's is that of its
    /// element at coordinates 0; [`Address::Far`] is within a buffer of the function's own.
    pub fn addresses(&self, inline: &Inline, at: usize) -> Vec<(Address, usize)> {
        let buffered = self.params.sent.pieces(&inline.plan).buffer_bytes > 0;
        let address = |field: Field| match field {
            Field::Input(i) => Some(Address::Operand(usize::from(i))),
            Field::Error => Some(Address::Error),
            // 0 says that the operands are in the block.
            Field::Far if buffered => Some(Address::Far(0)),
            _ => None,
        };
        let fields = self.params.fields.iter();
        fields.filter_map(|(field, offset)| Some((address(*field)?, at + *offset as usize))).collect()
    }

    /// What a call sends: into the kernel's block, in which the function's parameters begin `at` a byte, and into a buffer of the
    /// function's own.
    pub fn sending(&self, inline: &Inline, at: usize) -> Sending {
        let mut sending = Sending::default();
        sending.add((&self.params, &inline.plan), at, |i| i);
        sending
    }
}
