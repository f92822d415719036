//! What was decided, to be read back.

use super::{Choice, Decision, Job, Rates, Tiles, trace};
use crate::faults::Why;
use crate::stream::Traffic;
use crate::{Error, Side};
use std::cell::{Cell, RefCell};

/// What became of a decision.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The processor that gave the result.
    pub side: Side,
    /// How often parts were halved until the GPU had room.
    pub halvings: u32,
    /// Why it was the CPU, where the GPU was chosen.
    pub why: Option<Why>,
    /// What it was streamed in, where it was: as the decision has it ([`OnGpu::tiles`](super::OnGpu), [`OnHost::tiles`](super::OnHost)), unless memory was short.
    pub tiles: Option<Tiles>,
    /// Bytes of operands and results that were copied between the host and the GPU, also by what failed there; of a stream that failed none. What routines
    /// are told besides, as pivots, is not counted.
    pub traffic: Traffic,
    /// The largest difference that a check found ([`Device::verifying`](crate::Device::verifying)), in parts of what is allowed, so at most 1; nothing where nothing was checked.
    pub checked: Option<f64>,
}

/// What moved, and was checked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moved {
    pub(crate) tiles: Option<Tiles>,
    pub(crate) traffic: Traffic,
    pub(crate) checked: Option<f64>,
}

thread_local! {
    static LAST: RefCell<Option<Decision>> = const { RefCell::new(None) };
    static OUTCOME: RefCell<Option<Outcome>> = const { RefCell::new(None) };
    static MOVED: Cell<Moved> = const { Cell::new(Moved { tiles: None, traffic: Traffic { to_gpu: 0, to_host: 0 }, checked: None }) };
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
    MOVED.take();
}

/// Notes bytes that this thread had copied to a GPU.
pub(crate) fn to_gpu(bytes: usize) {
    copied(Traffic { to_gpu: bytes as u64, to_host: 0 });
}

/// Notes bytes that this thread had copied from one.
pub(crate) fn to_host(bytes: usize) {
    copied(Traffic { to_gpu: 0, to_host: bytes as u64 });
}

/// Notes what this thread had copied either way.
pub(crate) fn copied(more: Traffic) {
    let before = MOVED.get();
    MOVED.set(Moved { traffic: before.traffic.and(more), ..before });
}

/// Notes a stream of this thread that ended well: what it went in, and what it copied.
pub(crate) fn streamed(tiles: Tiles, traffic: Traffic) {
    copied(traffic);
    MOVED.set(Moved { tiles: Some(tiles), ..MOVED.get() });
}

/// Notes what a stream of this thread went in that had several parts.
pub(crate) fn in_tiles(tiles: Tiles) {
    MOVED.set(Moved { tiles: Some(tiles), ..MOVED.get() });
}

/// Notes what a check of a result of this thread found, in parts of what is allowed.
pub(crate) fn checked(difference: f64) {
    let before = MOVED.get();
    MOVED.set(Moved { checked: Some(before.checked.map_or(difference, |most| most.max(difference))), ..before });
}

/// Notes that what begins now on the CPU goes in nothing that failed on the GPU before, and is not what was checked.
pub(crate) fn begun_anew() {
    MOVED.set(Moved { tiles: None, checked: None, ..MOVED.get() });
}

/// What moved since this thread's last decision.
pub(crate) fn moved() -> Moved {
    MOVED.get()
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
