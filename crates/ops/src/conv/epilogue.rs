//! [`Epilogue`]: an expression in a kernel's parameters.

use crate::error::Error;
use crate::feed::{Feeds, Operand};
use crate::fused::Core;
use crate::kernel::gather;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use tilewright_expr::emit::{Address, Inline, Inlined, reciprocals};

/// Where in the parameter block what an expression needs begins: behind two maps and four addresses.
pub(super) const EXPRESSION_AT: usize = 288;
/// The most bytes of a parameter block.
pub(super) const BLOCK_BYTES: usize = 1024;
/// What stands for the sums among operands, since they are nowhere in memory.
static SUM: f32 = 0.0;

/// What an expression's text depends on: the address of its graph, and what is known of its operands.
pub(super) type ExpressionKey = (usize, Vec<u64>);
/// Functions that were emitted, with the expressions that they are made of: an address stays that of one.
type Emitted = HashMap<ExpressionKey, (Arc<Core>, Arc<Inlined>)>;

static EMITTED: LazyLock<RwLock<Emitted>> = LazyLock::new(RwLock::default);

/// An expression that becomes part of a kernel, and its operands, sums the first of them.
pub(super) struct Epilogue<'a> {
    pub(super) key: ExpressionKey,
    pub(super) inlined: Arc<Inlined>,
    inline: Inline,
    operands: Vec<Operand<'a>>,
}

impl<'a> Epilogue<'a> {
    /// Nothing if an operand finds no room in a kernel's parameters, or the expression has to tell of coordinates that are wrong.
    pub(super) fn new(core: &Arc<Core>, inline: Inline, others: Vec<Operand<'a>>) -> Result<Option<Self>, Error> {
        let key = (Arc::as_ptr(core).addr(), inline.key());
        let inlined = emitted(core, &inline, &key)?;
        let sending = inlined.sending(&inline, EXPRESSION_AT);
        let fits = sending.buffer_bytes == 0 && EXPRESSION_AT + inlined.bytes() <= BLOCK_BYTES;
        let operands = std::iter::once(SUM.operand()).chain(others).collect();
        Ok((fits && !inlined.guards).then_some(Epilogue { key, inlined, inline, operands }))
    }

    /// Bytes of what the expression takes.
    pub(super) fn bytes(&self) -> usize {
        self.inlined.bytes()
    }

    /// Writes what the expression takes into the kernel's parameter block.
    pub(super) fn write(&self, block: &mut [u8]) {
        let Epilogue { inlined, inline, operands, .. } = self;
        inlined.pack(inline, &mut block[EXPRESSION_AT..]);
        for (address, at) in inlined.addresses(inline, EXPRESSION_AT) {
            if let Address::Operand(i) = address
                && let Some(address) = operands[i].address()
            {
                block[at..at + 8].copy_from_slice(&address.to_ne_bytes());
            }
        }
        let sending = inlined.sending(inline, EXPRESSION_AT);
        gather(&sending.block, operands, block);
        for (from, place) in &sending.reciprocals {
            let (elements, places) = block.split_at_mut(place.at);
            reciprocals(&elements[*from..from + place.bytes], &mut places[..place.bytes]);
        }
    }
}

fn emitted(core: &Arc<Core>, inline: &Inline, key: &ExpressionKey) -> Result<Arc<Inlined>, Error> {
    if let Some((_, inlined)) = EMITTED.read().unwrap_or_else(PoisonError::into_inner).get(key) {
        return Ok(inlined.clone());
    }
    let inlined = Arc::new(inline.emit(core.graph(), "epilogue")?);
    let mut all = EMITTED.write().unwrap_or_else(PoisonError::into_inner);
    Ok(all.entry(key.clone()).or_insert((core.clone(), inlined)).1.clone())
}
