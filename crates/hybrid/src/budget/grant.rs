//! What work is granted as it takes it.

use super::{Budget, Permit};
use crate::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tilewright_driver::{Account, Error as DriverError, accounted};

/// Bytes of a budget for a piece of work: at first what it is expected to take, more where it takes more, and afterwards what is still there of it.
pub(crate) struct Grant(Mutex<State>);

struct State {
    permit: Permit,
    /// Bytes that are there.
    taken: u64,
    /// Whether the work is over, and needs no more than is there.
    is_over: bool,
    refusal: Option<Error>,
}

impl Grant {
    /// Does work that takes memory of a GPU by this thread. It begins with a permit for what it is expected to take; [`Error::Budget`] where the
    /// permit's budget has not what it takes beyond that. What it leaves there stays granted until it is dropped.
    pub(crate) fn spent<R>(permit: Permit, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let grant = Arc::new(Self(Mutex::new(State { permit, taken: 0, is_over: false, refusal: None })));
        let _end = End(&grant);
        accounted(grant.clone(), work).map_err(|error| match (&error, grant.state().refusal.take()) {
            (Error::Driver(DriverError::OutOfMemory { .. }), Some(refusal)) => refusal,
            _ => error,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the work, also where it panics.
struct End<'a>(&'a Grant);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_over = true;
        state.settle();
    }
}

impl State {
    fn settle(&mut self) {
        if self.is_over {
            self.permit.shrink_to(self.taken);
        }
    }

    /// Has the permit for so many bytes in all.
    fn extend_to(&mut self, bytes: u64) -> Result<(), Error> {
        let missing = bytes.saturating_sub(self.permit.bytes());
        let more = self.permit.budget().try_acquire(missing)?;
        self.permit.join(more);
        Ok(())
    }
}

impl Account for Grant {
    fn take(&self, bytes: u64) -> Result<(), DriverError> {
        let mut state = self.state();
        let taken = state.taken.saturating_add(bytes);
        state.extend_to(taken).map_err(|error| {
            let budget: &Budget = state.permit.budget();
            let [requested, free, total] =
                [bytes, budget.available(), budget.limit()].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
            state.refusal = Some(error);
            DriverError::OutOfMemory { requested, free, total }
        })?;
        // Who was refused may have asked for less.
        (state.taken, state.refusal) = (taken, None);
        Ok(())
    }

    fn give_back(&self, bytes: u64) {
        let mut state = self.state();
        state.taken -= bytes;
        state.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;
    use std::panic::AssertUnwindSafe;

    fn budget() -> Budget {
        Budget::new(Memory::Device, 100)
    }

    /// An account that work of a thread sees; what it takes is not there, so that no GPU is needed.
    fn grant(permit: Permit) -> Grant {
        Grant(Mutex::new(State { permit, taken: 0, is_over: false, refusal: None }))
    }

    #[test]
    fn more_than_expected_is_granted_while_there_is_some() {
        let budget = budget();
        let grant = grant(budget.try_acquire(40).unwrap());
        grant.take(30).unwrap();
        assert_eq!(budget.used(), 40);
        grant.take(30).unwrap();
        assert_eq!(budget.used(), 60);
        let refused = grant.take(50);
        assert!(
            matches!(refused, Err(DriverError::OutOfMemory { requested: 50, free: 40, total: 100 })),
            "{refused:?}"
        );
        let refusal = grant.state().refusal.take();
        assert!(matches!(refusal, Some(Error::Budget { requested: 50, available: 40, .. })), "{refusal:?}");
        grant.give_back(30);
        assert_eq!(budget.used(), 60, "it may want it again");
        grant.take(20).unwrap();
        assert_eq!(budget.used(), 60);
    }

    #[test]
    fn what_is_left_is_held_until_it_goes() {
        let budget = budget();
        let grant = grant(budget.try_acquire(70).unwrap());
        grant.take(20).unwrap();
        grant.take(10).unwrap();
        drop(End(&grant));
        assert_eq!(budget.used(), 30);
        grant.give_back(20);
        assert_eq!(budget.used(), 10);
        grant.give_back(10);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn work_that_ends_gives_back_what_it_did_not_take() {
        let budget = budget();
        let done = Grant::spent(budget.try_acquire(70).unwrap(), || Ok(budget.used()));
        assert_eq!((done.unwrap(), budget.used()), (70, 0));
        let lacks = || Error::Driver(DriverError::OutOfMemory { requested: 1, free: 2, total: 3 });
        let failed = Grant::spent(budget.try_acquire(70).unwrap(), || Err::<(), _>(lacks()));
        assert!(
            matches!(failed, Err(Error::Driver(DriverError::OutOfMemory { requested: 1, .. }))),
            "the device's own"
        );
        let panics = || Grant::spent(budget.try_acquire(70).unwrap(), || -> Result<(), _> { panic!() });
        let unwound = std::panic::catch_unwind(AssertUnwindSafe(panics));
        assert_eq!((unwound.is_err(), budget.used()), (true, 0));
    }
}
