//! [`Function`]: an expression inside of a kernel that is written by hand, and what is kept of it for the next call like this one.

use crate::entry::{Entries, check_all_boxes};
use crate::error::Error;
use crate::feed::{Feeds, Operand};
use crate::fused::Core;
use crate::kernel::gather;
use crate::signature::Signature;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_expr::bind::{Axis, Binding, Bounds, View};
use tilewright_expr::emit::{Address, Inline, Inlined, Sending, reciprocals};
use tilewright_expr::graph::Graph;

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

/// A function, and where its parameters have what of its operands.
pub(crate) struct Function {
    pub(crate) text: Arc<Text>,
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

/// A function with the operands of a call, the given one among them if one is.
#[derive(Clone, Copy)]
pub(crate) struct Filled<'a> {
    pub(crate) function: &'a Function,
    pub(crate) operands: &'a [Operand<'a>],
}

impl Filled<'_> {
    /// Writes what the function takes over as many bytes, [`Function::bytes`], of the kernel's parameters.
    pub(crate) fn write(&self, params: &mut [u8]) {
        let Function { packed, addresses, sending, .. } = self.function;
        params.copy_from_slice(packed);
        for (operand, at) in addresses {
            if let Some(address) = self.operands[*operand].address() {
                params[*at..*at + 8].copy_from_slice(&address.to_ne_bytes());
            }
        }
        gather(&sending.block, self.operands, params);
        for (from, place) in &sending.reciprocals {
            let (elements, places) = params.split_at_mut(place.at);
            reciprocals(&elements[*from..from + place.bytes], &mut places[..place.bytes]);
        }
    }
}

/// What is known of an expression inside of kernels, by signatures of calls, and the texts of its functions.
pub(crate) struct Functions<E> {
    /// The functions' name.
    name: &'static str,
    known: Entries<E>,
    texts: Mutex<HashMap<Vec<u64>, Arc<Text>>>,
}

impl<E> Functions<E> {
    pub(crate) fn new(name: &'static str) -> Functions<E> {
        Functions { name, known: Entries::default(), texts: Mutex::default() }
    }

    /// What is known of calls with this signature. A call like one before allocates nothing.
    pub(crate) fn known(&self, signature: &Signature<'_>) -> Option<Arc<E>> {
        self.known.find(signature)
    }

    pub(crate) fn keep(&self, signature: &Signature<'_>, entry: E) -> Arc<E> {
        self.known.keep(signature, entry)
    }

    /// The function of a plan. Nothing if no point can compute it by itself, if it takes more than so many bytes of parameters or an
    /// operand finds no room there, or if it has to tell of coordinates that are wrong.
    pub(crate) fn function(
        &self,
        graph: &Graph,
        plan: Result<Inline, tilewright_expr::Error>,
        room: usize,
    ) -> Result<Option<Function>, Error> {
        let inline = match plan {
            Ok(inline) => inline,
            Err(tilewright_expr::Error::Inline(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let text = self.text(graph, &inline)?;
        let inlined = &text.inlined;
        let sending = inlined.sending(&inline, 0);
        if inlined.guards || sending.buffer_bytes > 0 || inlined.bytes() > room {
            return Ok(None);
        }
        let mut packed = vec![0; inlined.bytes()];
        inlined.pack(&inline, &mut packed);
        let operand = |(address, at)| match address {
            Address::Operand(i) => Some((i, at)),
            _ => None,
        };
        let addresses = inlined.addresses(&inline, 0).into_iter().filter_map(operand).collect();
        Ok(Some(Function { text, packed, addresses, sending }))
    }

    fn text(&self, graph: &Graph, inline: &Inline) -> Result<Arc<Text>, Error> {
        let key = inline.key();
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = texts.get(&key) {
            return Ok(text.clone());
        }
        let inlined = inline.emit(graph, self.name)?;
        let text = Arc::new(Text { number: NUMBER.fetch_add(1, Ordering::Relaxed), inlined });
        texts.insert(key, text.clone());
        Ok(text)
    }
}

/// An expression that a kernel reads: its sizes, and the function, where it is one of a point.
pub(crate) struct Computed {
    pub(crate) extents: Vec<i64>,
    limits: Vec<(u16, Bounds)>,
    pub(crate) function: Option<Function>,
}

impl Computed {
    /// What is known of an expression with these operands. `plan` is asked for the function of points of the sizes that it is given, by
    /// calls on a GPU.
    pub(crate) fn of(
        core: &Core,
        signature: &Signature<'_>,
        plan: impl FnOnce(&[View<'_>], &[i64]) -> Result<Inline, tilewright_expr::Error>,
        room: usize,
    ) -> Result<Arc<Computed>, Error> {
        let (functions, operands) = (core.images(), signature.operands);
        if let Some(known) = functions.known(signature) {
            check_all_boxes(&known.limits, operands)?;
            return Ok(known);
        }
        let views: Vec<View<'_>> = operands.iter().map(Operand::view).collect();
        let binding = Binding::new(core.graph(), &views)?;
        let extents = binding.results()?.swap_remove(0);
        let function = match signature.gpu {
            Some(_) if !extents.contains(&0) => functions.function(core.graph(), plan(&views, &extents), room)?,
            _ => None,
        };
        let computed = Computed { extents, limits: binding.limits()?, function };
        // Where a size is that of boxes, their values decide, which are no part of the signature.
        Ok(if binding.sized_by_boxes() { Arc::new(computed) } else { functions.keep(signature, computed) })
    }
}
