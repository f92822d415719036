//! What threads of a pipeline share: work that is done at once and taken in its order, and work that is ended in any.

use crate::Error;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvError, SendError, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Why a thread of a pipeline ended early.
pub(super) enum Stop {
    /// Another thread has the reason.
    Elsewhere,
    Here(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Here(error)
    }
}

/// A channel that is closed is one whose thread ended.
impl From<RecvError> for Stop {
    fn from(_: RecvError) -> Stop {
        Stop::Elsewhere
    }
}

impl<T> From<SendError<T>> for Stop {
    fn from(_: SendError<T>) -> Stop {
        Stop::Elsewhere
    }
}

impl Stop {
    /// The error, where this thread has one.
    pub(super) fn into_result(stopped: Result<(), Stop>) -> Result<(), Error> {
        match stopped {
            Err(Stop::Here(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// A channel with values in it already.
pub(super) fn filled_with<V>(values: impl IntoIterator<Item = V>) -> (Sender<V>, Receiver<V>) {
    let (sender, receiver) = channel();
    for value in values {
        // The other end is here.
        let _ = sender.send(value);
    }
    (sender, receiver)
}

/// Work that several threads do at once, each with memory of its own, and whose results are taken in the work's order.
///
/// Memory is given to work in that order too. So what is taken next has memory, or will have some that is free before all later work does:
/// no thread waits for ever.
pub(super) struct Turns<W, H> {
    next: Mutex<(usize, W, Receiver<H>)>,
    done: Mutex<Sender<(usize, Result<H, Stop>)>>,
}

/// The results of [`Turns`], in the order of the work.
pub(super) struct InTurn<H> {
    next: usize,
    early: BTreeMap<usize, H>,
    done: Receiver<(usize, Result<H, Stop>)>,
}

impl<J, W: Iterator<Item = Result<J, Stop>>, H> Turns<W, H> {
    /// Work, and the memory that is free for it. There is no more behind work that is an error.
    pub(super) fn new(work: W, free: Receiver<H>) -> (Self, InTurn<H>) {
        let (sender, done) = channel();
        let turns = Turns { next: Mutex::new((0, work, free)), done: Mutex::new(sender) };
        (turns, InTurn { next: 0, early: BTreeMap::new(), done })
    }

    /// Does some of the work, on this thread, until there is no more, no memory comes, or nobody takes the results. A failure is a result.
    pub(super) fn take_part(&self, fill: impl Fn(J, &mut H) -> Result<(), Error>) {
        loop {
            // If something panics, whoever waits for it has to know.
            let mut turn = Turn { turns: self, number: 0, result: Some(Err(Stop::Elsewhere)) };
            let (job, mut memory) = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let (number, work, free) = &mut *next;
                turn.number = *number;
                let job = match work.next() {
                    Some(Ok(job)) => job,
                    Some(Err(stop)) => return turn.result = Some(Err(stop)),
                    None => return turn.result = None,
                };
                let Ok(memory) = free.recv() else { return turn.result = None };
                *number += 1;
                (job, memory)
            };
            turn.result = Some(fill(job, &mut memory).map(|()| memory).map_err(Stop::Here));
        }
    }
}

/// A piece of work; what became of it is sent when it ends, in whatever way.
struct Turn<'a, W, H> {
    turns: &'a Turns<W, H>,
    number: usize,
    result: Option<Result<H, Stop>>,
}

impl<W, H> Drop for Turn<'_, W, H> {
    fn drop(&mut self) {
        let done = self.turns.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = self.result.take() {
            // Nobody takes it where the pipeline has ended.
            let _ = done.send((self.number, result));
        }
    }
}

impl<H> InTurn<H> {
    /// The memory that the next piece of work filled, or why it did not.
    pub(super) fn next(&mut self) -> Result<H, Stop> {
        loop {
            if let Some(memory) = self.early.remove(&self.next) {
                self.next += 1;
                return Ok(memory);
            }
            let (number, result) = self.done.recv()?;
            self.early.insert(number, result?);
        }
    }
}

/// What several threads end, one after the other, and whether one of them failed.
pub(super) struct Shared<V> {
    values: Mutex<Receiver<V>>,
    failed: AtomicBool,
}

impl<V> Shared<V> {
    pub(super) fn new(values: Receiver<V>) -> Self {
        Shared { values: Mutex::new(values), failed: AtomicBool::new(false) }
    }

    /// Whether a thread failed, so that no more should come.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Ends values on this thread until no more come. After a failure, or a panic of a thread, the rest goes through `drop` alone, so that nobody
    /// waits for it; so does what was in its hands.
    pub(super) fn take_part(&self, end: impl Fn(&mut V) -> Result<(), Error>, drop: impl Fn(V)) -> Result<(), Error> {
        let mut result = Ok(());
        loop {
            let next = self.values.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(value) = next else { return result };
            let mut ending = Ending { value: Some(value), failed: &self.failed, drop: &drop };
            if let Some(value) = ending.value.as_mut().filter(|_| !self.has_failed()) {
                let ended = end(value);
                self.failed.fetch_or(ended.is_err(), Ordering::Relaxed);
                result = result.and(ended);
            }
        }
    }
}

/// A value in a thread's hands; it is dropped when it is ended, in whatever way.
struct Ending<'a, V, D: Fn(V)> {
    value: Option<V>,
    failed: &'a AtomicBool,
    drop: &'a D,
}

impl<V, D: Fn(V)> Drop for Ending<'_, V, D> {
    fn drop(&mut self) {
        self.failed.fetch_or(std::thread::panicking(), Ordering::Relaxed);
        self.value.take().into_iter().for_each(self.drop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> impl Iterator<Item = Result<usize, Stop>> {
        (0..count).map(Ok)
    }

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for threads in [1, 3, 8] {
            let (free, slots) = filled_with(vec![0usize; 4]);
            let (turns, mut in_turn) = Turns::new(numbers(100), slots);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        turns.take_part(|job, slot| {
                            std::thread::yield_now();
                            *slot = job * job;
                            Ok(())
                        });
                    });
                }
                for job in 0..100 {
                    let slot = in_turn.next().ok().unwrap();
                    assert_eq!(slot, job * job);
                    free.send(slot).unwrap();
                }
                drop(free);
            });
        }
    }

    #[test]
    fn a_failure_comes_in_its_turn_and_a_panic_ends_it() {
        let failed = || Error::Nested { operation: "test" };
        let (free, slots) = filled_with([0usize, 0]);
        let (turns, mut in_turn) = Turns::new(numbers(10), slots);
        std::thread::scope(|scope| {
            scope.spawn(|| turns.take_part(|job, _| if job == 1 { Err(failed()) } else { Ok(()) }));
            assert!(in_turn.next().is_ok());
            assert!(matches!(in_turn.next(), Err(Stop::Here(Error::Nested { .. }))));
            drop(free);
        });
        let (free, slots) = filled_with([0usize, 0]);
        let (turns, mut in_turn) = Turns::new(numbers(10), slots);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| turns.take_part(|_, _| panic!("as asked")));
                assert!(matches!(in_turn.next(), Err(Stop::Elsewhere)));
                drop(free);
            });
        }));
        assert!(panicked.is_err());
    }

    /// Else the others would wait for memory that nobody has any more.
    #[test]
    fn what_a_thread_had_when_it_panicked_goes_on() {
        let ((sender, values), (back, dropped)) = (channel(), channel());
        let shared = Shared::new(values);
        [1, 2].into_iter().for_each(|value| sender.send(value).unwrap());
        let ends = |_: &mut usize| panic!("as asked");
        let drops = |value| back.send(value).unwrap();
        let takes = std::panic::AssertUnwindSafe(|| shared.take_part(ends, drops));
        assert!(std::panic::catch_unwind(takes).is_err() && shared.has_failed());
        drop(sender);
        assert!(shared.take_part(|_| unreachable!("after a failure"), drops).is_ok());
        drop(back);
        assert_eq!(dropped.into_iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn work_that_is_an_error_ends_it_in_its_turn() {
        let (free, slots) = filled_with([0usize, 0]);
        let work = numbers(1).chain([Err(Stop::Elsewhere)]).chain(numbers(5));
        let (turns, mut in_turn) = Turns::new(work, slots);
        std::thread::scope(|scope| {
            scope.spawn(|| turns.take_part(|_, _| Ok(())));
            assert!(in_turn.next().is_ok());
            assert!(matches!(in_turn.next(), Err(Stop::Elsewhere)));
            drop(free);
        });
    }
}
