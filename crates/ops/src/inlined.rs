//! [`Function`]: an expression inside of a kernel that is written by hand, and what is kept of it for the next call like this one.

use crate::entry::Entries;
use crate::error::Error;
use crate::feed::{Feeds, Operand};
use crate::fused::Core;
use crate::kernel::gather;
use crate::signature::Signature;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_expr::bind::Axis;
use tilewright_expr::emit::{Address, Inline, Inlined, Sending, reciprocals};

/// What stands for a value that the kernel passes among operands, since it is nowhere in memory.
static GIVEN: f32 = 0.0;
/// Of the next text.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A value that the kernel passes at points along these axes, as an operand.
pub(crate) fn given(axes: &[Axis]) -> Operand<'_> {
    Operand { axes, ..GIVEN.operand() }
}

/// A function's text, under a number that no other has.
pub(crate) struct Text {
    pub(crate) number: u64,
    pub(crate) inlined: Inlined,
}

/// A function, and where its kernel's parameters have what of its operands.
pub(crate) struct Function {
    pub(crate) text: Arc<Text>,
    at: usize,
    packed: Vec<u8>,
    addresses: Vec<(usize, usize)>,
    sending: Sending,
}

impl Function {
    /// Bytes of what it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.packed.len()
    }
}

/// A function with the operands of a call, the given one among them.
#[derive(Clone, Copy)]
pub(crate) struct Filled<'a> {
    pub(crate) function: &'a Function,
    pub(crate) operands: &'a [Operand<'a>],
}

impl Filled<'_> {
    /// Writes what the function takes into the kernel's parameter block.
    pub(crate) fn write(&self, block: &mut [u8]) {
        let Function { at, packed, addresses, sending, .. } = self.function;
        block[*at..*at + packed.len()].copy_from_slice(packed);
        for (operand, at) in addresses {
            if let Some(address) = self.operands[*operand].address() {
                block[*at..*at + 8].copy_from_slice(&address.to_ne_bytes());
            }
        }
        gather(&sending.block, self.operands, block);
        for (from, place) in &sending.reciprocals {
            let (elements, places) = block.split_at_mut(place.at);
            reciprocals(&elements[*from..from + place.bytes], &mut places[..place.bytes]);
        }
    }
}

/// The functions that were made of an expression, by signatures of calls; `None` where a call has none.
#[derive(Default)]
pub(crate) struct Functions {
    known: Entries<Option<Function>>,
    texts: Mutex<HashMap<Vec<u64>, Arc<Text>>>,
}

impl Functions {
    /// The expression as a function `epilogue`, if it is one of a point and its parameters have room in these bytes of the kernel's.
    /// The first of the operands is [`given`], along the kernel's points, so that the signature says all that `plan` goes by. A call like
    /// one before allocates nothing.
    pub(crate) fn find(
        &self,
        core: &Core,
        signature: &Signature<'_>,
        plan: impl FnOnce() -> Result<Inline, tilewright_expr::Error>,
        room: Range<usize>,
    ) -> Result<Arc<Option<Function>>, Error> {
        if let Some(known) = self.known.find(signature) {
            return Ok(known);
        }
        let function = match plan() {
            Ok(inline) => self.function(core, &inline, room)?,
            Err(tilewright_expr::Error::Inline(_)) => None,
            Err(error) => return Err(error.into()),
        };
        // The values of boxes on the host are no part of the signature.
        let keep = signature.operands.iter().all(|o| o.boxes().is_none());
        Ok(if keep { self.known.keep(signature, function) } else { Arc::new(function) })
    }

    /// Nothing if an operand finds no room in a kernel's parameters, or the expression has to tell of coordinates that are wrong.
    fn function(&self, core: &Core, inline: &Inline, room: Range<usize>) -> Result<Option<Function>, Error> {
        let text = self.text(core, inline)?;
        let (inlined, at) = (&text.inlined, room.start);
        let sending = inlined.sending(inline, at);
        if inlined.guards || sending.buffer_bytes > 0 || inlined.bytes() > room.len() {
            return Ok(None);
        }
        let mut packed = vec![0; inlined.bytes()];
        inlined.pack(inline, &mut packed);
        let operand = |(address, at)| match address {
            Address::Operand(i) => Some((i, at)),
            _ => None,
        };
        let addresses = inlined.addresses(inline, at).into_iter().filter_map(operand).collect();
        Ok(Some(Function { text, at, packed, addresses, sending }))
    }

    fn text(&self, core: &Core, inline: &Inline) -> Result<Arc<Text>, Error> {
        let key = inline.key();
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = texts.get(&key) {
            return Ok(text.clone());
        }
        let inlined = inline.emit(core.graph(), "epilogue")?;
        let text = Arc::new(Text { number: NUMBER.fetch_add(1, Ordering::Relaxed), inlined });
        texts.insert(key, text.clone());
        Ok(text)
    }
}
