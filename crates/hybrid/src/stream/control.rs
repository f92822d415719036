//! How a long operation is watched, and stopped.

use super::verify::Verify;
use crate::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Says that an operation is not wanted any more. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// One that nobody has used yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops what watches it, within one step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody did.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Called with the steps that are done and those of the whole; the first grows with every call.
pub type Progress<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// Who watches an operation, who may stop it, and whether it is checked: nobody, and not, unless it is said.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Stops it.
    pub cancel: Option<&'a Cancel>,
    /// Is told how far it is.
    pub progress: Option<&'a Progress<'a>>,
    /// Has a product checked before it counts as done, or a solution or an inverse, by its residual. Other streams have no such check, and refuse it
    /// ([`Error::Unsupported`]).
    pub verify: Option<Verify>,
}

impl<'a> Control<'a> {
    /// Whom it does not name, another does.
    pub(crate) fn or_watched(self, other: Control<'a>) -> Control<'a> {
        Control { cancel: self.cancel.or(other.cancel), progress: self.progress.or(other.progress), ..self }
    }

    /// [`Error::Cancelled`] once it is.
    pub(crate) fn check(&self, done: u64, steps: u64) -> Result<(), Error> {
        match self.cancel {
            Some(cancel) if cancel.is_cancelled() => Err(Error::Cancelled { done, steps }),
            _ => Ok(()),
        }
    }

    /// That no check is asked for, where there is none.
    pub(super) fn unverified(&self, operation: &'static str, element: &'static str) -> Result<(), Error> {
        let why = || "products, solutions and inverses alone are verified; leave `verify` out".into();
        self.verify.map_or(Ok(()), |_| Err(Error::Unsupported { operation, element, place: "CPU", why: why() }))
    }

    /// Has an operation of several parts, each of which counts its own steps, told as one of so many.
    pub(super) fn in_parts<R>(
        self,
        steps: impl FnOnce() -> Result<u64, Error>,
        operation: impl FnOnce(Control<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let Some(progress) = self.progress else { return operation(self) };
        let (steps, before) = (steps()?, AtomicU64::new(0));
        let of_part = |done: u64, of: u64| {
            let all = before.load(Ordering::Relaxed) + done;
            if done == of {
                before.store(all, Ordering::Relaxed);
            }
            progress(all, steps.max(all));
        };
        operation(Control { progress: Some(&of_part), ..self })
    }

    pub(crate) fn tell(&self, done: u64, steps: u64) {
        if let Some(progress) = self.progress {
            progress(done, steps);
        }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).field("verify", &self.verify).finish_non_exhaustive()
    }
}
