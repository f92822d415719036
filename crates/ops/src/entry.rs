//! What is kept of a call for the next one like it.

use crate::error::Error;
use crate::feed::{Operand, Sink, Source, Targets};
use crate::kernel::Launch;
use crate::launches::{self, LaunchKind, launched};
use crate::signature::Signature;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tilewright_expr::bind::{Bounds, check_boxes};
use tilewright_expr::dtype::{HostSlice, HostSliceMut};
use tilewright_expr::eval::HostKernel;

/// What is known about calls, by their signature.
pub(crate) struct Entries<E = Entry> {
    known: RwLock<Known<E>>,
    /// The number of the entry that was found last: mostly that of the next call too.
    last: AtomicUsize,
}

struct Known<E> {
    /// Each with its key.
    entries: Vec<(Box<[u64]>, Arc<E>)>,
    /// Numbers of entries, by the signature's hash.
    numbers: HashMap<u64, Vec<usize>>,
}

impl<E> Default for Entries<E> {
    fn default() -> Self {
        let known = RwLock::new(Known { entries: Vec::new(), numbers: HashMap::new() });
        Entries { known, last: AtomicUsize::new(0) }
    }
}

impl<E> Entries<E> {
    /// The entry of this signature.
    pub(crate) fn find(&self, signature: &Signature<'_>) -> Option<Arc<E>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let last = known.entries.get(self.last.load(Ordering::Relaxed));
        if let Some((_, entry)) = last.filter(|(key, _)| signature.is(key)) {
            return Some(entry.clone());
        }
        let numbers = known.numbers.get(&signature.hash())?;
        let number = *numbers.iter().find(|n| signature.is(&known.entries[**n].0))?;
        self.last.store(number, Ordering::Relaxed);
        Some(known.entries[number].1.clone())
    }

    /// Keeps a new entry.
    pub(crate) fn keep(&self, signature: &Signature<'_>, entry: E) -> Arc<E> {
        let entry = Arc::new(entry);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let number = known.entries.len();
        known.entries.push((signature.key(), entry.clone()));
        known.numbers.entry(signature.hash()).or_default().push(number);
        entry
    }
}

/// What is known about calls of one signature.
pub(crate) struct Entry {
    pub(crate) outputs: Vec<Vec<i64>>,
    /// Host operands with boxes, and the size of what they crop.
    pub(crate) limits: Vec<(u16, Bounds)>,
    pub(crate) run: Run,
}

/// How it is computed.
pub(crate) enum Run {
    /// Results without elements.
    Nothing,
    /// On the host.
    Cpu(HostKernel),
    /// What gives places of results their first value, if anything does, and what stores to them, if there is anything to store.
    Gpu(Box<[Option<Launch>; 2]>),
}

impl Entry {
    /// Checks what a signature does not tell: boxes on the host.
    pub(crate) fn check(&self, operands: &[Operand<'_>]) -> Result<(), Error> {
        check_all_boxes(&self.limits, operands)
    }

    /// Computes the results.
    pub(crate) fn execute(
        &self,
        operands: &[Operand<'_>],
        targets: &mut Targets<'_>,
        (name, [of_fill, known]): (&str, [launches::Known; 2]),
    ) -> Result<(), Error> {
        match &self.run {
            Run::Nothing => Ok(()),
            Run::Gpu(launches) => {
                for (launch, known) in launches.iter().zip([of_fill, known]) {
                    launch.iter().try_for_each(|launch| launch.run(operands, targets, known))?;
                }
                Ok(())
            }
            Run::Cpu(kernel) => {
                let inputs: Vec<HostSlice<'_>> = operands
                    .iter()
                    .filter_map(|o| match o.memory {
                        Source::Host { slice, .. } => Some(slice),
                        Source::Gpu { .. } => None,
                    })
                    .collect();
                let mut outputs: Vec<HostSliceMut<'_>> = targets
                    .iter_mut()
                    .filter_map(Option::take)
                    .filter_map(|t| match t.memory {
                        Sink::Host(slice) => Some(slice),
                        Sink::Gpu { .. } => None,
                    })
                    .collect();
                kernel.run(&inputs, &mut outputs)?;
                launched(LaunchKind::Host, name, known, [[1; 3]; 2]);
                Ok(())
            }
        }
    }
}

/// Checks the boxes of these operands, where they are on the host.
pub(crate) fn check_all_boxes(limits: &[(u16, Bounds)], operands: &[Operand<'_>]) -> Result<(), Error> {
    for (operand, bounds) in limits {
        if let Some(boxes) = operands[usize::from(*operand)].boxes() {
            check_boxes(boxes, *bounds)?;
        }
    }
    Ok(())
}
