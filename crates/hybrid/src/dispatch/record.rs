//! What was decided, to be read back.

use super::{Choice, Decision, Job, Rates, trace};
use crate::faults::Why;
use crate::{Error, Side};
use std::cell::RefCell;

/// What became of a decision.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The processor that gave the result.
    pub side: Side,
    /// How often parts were halved until the GPU had room.
    pub halvings: u32,
    /// Why it was the CPU, where the GPU was chosen.
    pub why: Option<Why>,
}

thread_local! {
    static LAST: RefCell<Option<Decision>> = const { RefCell::new(None) };
    static OUTCOME: RefCell<Option<Outcome>> = const { RefCell::new(None) };
}

/// As [`Decision::of`], for an operation that is run now: the decision is this thread's last, and who listens is told (`tracing`,
/// target `tilewright::dispatch`, level debug).
pub fn decide(job: &Job, choice: Choice, rates: &Rates, budget: u64) -> Result<Decision, Error> {
    let decision = Decision::of(job, choice, rates, budget)?;
    noted(&decision);
    Ok(decision)
}

/// Leaves the record of a decision that is carried out now.
pub(crate) fn noted(decision: &Decision) {
    tracing::debug!(target: "tilewright::dispatch", %decision);
    trace::decided(decision);
    LAST.with(|last| *last.borrow_mut() = Some(decision.clone()));
    OUTCOME.with(|last| *last.borrow_mut() = None);
}

/// Notes what became of this thread's last decision.
pub(crate) fn ended(outcome: Outcome) {
    OUTCOME.with(|last| *last.borrow_mut() = Some(outcome));
}

/// What became of [`last_decision`]: nothing while it runs, and where it failed.
pub fn last_outcome() -> Option<Outcome> {
    OUTCOME.with(|last| last.borrow().clone())
}

/// What was decided last on this thread; nothing before the first operation.
pub fn last_decision() -> Option<Decision> {
    LAST.with(|last| last.borrow().clone())
}
