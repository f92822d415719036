//! What was decided, to be read back.

use super::{Choice, Decision, Job, Rates};
use crate::Error;
use std::cell::RefCell;

thread_local! {
    static LAST: RefCell<Option<Decision>> = const { RefCell::new(None) };
}

/// As [`Decision::of`], for an operation that is run now: the decision is this thread's last, and who listens is told (`tracing`,
/// target `tilewright::dispatch`, level debug).
pub fn decide(job: &Job, choice: Choice, rates: &Rates, budget: u64) -> Result<Decision, Error> {
    let decision = Decision::of(job, choice, rates, budget)?;
    tracing::debug!(target: "tilewright::dispatch", %decision);
    LAST.with(|last| *last.borrow_mut() = Some(decision.clone()));
    Ok(decision)
}

/// What was decided last on this thread; nothing before the first operation.
pub fn last_decision() -> Option<Decision> {
    LAST.with(|last| last.borrow().clone())
}
