//! Who has how much, and who is next.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::Level;

/// The counts of a budget and those who wait, in the order in which they came.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    used: u64,
    peak: u64,
    waiting: VecDeque<Waiter>,
    next_ticket: u64,
}

struct Waiter {
    ticket: u64,
    bytes: u64,
}

impl State {
    fn free(&self, level: Level) -> u64 {
        level.capacity.saturating_sub(self.used).min(level.available)
    }

    /// What is free and not waited for.
    fn room(&self, level: Level) -> u64 {
        self.waiting.iter().fold(self.free(level), |free, waiter| free.saturating_sub(waiter.bytes))
    }

    fn grant(&mut self, bytes: u64) {
        self.used += bytes;
        self.peak = self.peak.max(self.used);
    }

    fn is_next(&self, ticket: u64) -> bool {
        self.waiting.front().is_some_and(|first| first.ticket == ticket)
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn used(&self) -> u64 {
        self.state().used
    }

    pub(super) fn peak(&self) -> u64 {
        self.state().peak
    }

    pub(super) fn reset_peak(&self) {
        let mut state = self.state();
        state.peak = state.used;
    }

    pub(super) fn room(&self, level: Level) -> u64 {
        self.state().room(level)
    }

    /// Takes bytes now; else says how many there are.
    pub(super) fn take(&self, bytes: u64, level: Level) -> Result<(), u64> {
        self.take_up_to(bytes, bytes, level).map(|_| ())
    }

    /// Takes as many bytes as there are, between the two; else says how many there are.
    pub(super) fn take_up_to(&self, least: u64, most: u64, level: Level) -> Result<u64, u64> {
        let mut state = self.state();
        let room = state.room(level);
        if room < least {
            return Err(room);
        }
        let bytes = most.min(room);
        state.grant(bytes);
        Ok(bytes)
    }

    /// Waits in turn until there are so many bytes; else says how many there were at the end.
    pub(super) fn wait(
        &self,
        bytes: u64,
        deadline: Option<Instant>,
        poll: Option<Duration>,
        measure: impl Fn() -> Level,
    ) -> Result<(), u64> {
        let level = measure();
        let mut state = self.state();
        if bytes > level.capacity {
            return Err(state.room(level));
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back(Waiter { ticket, bytes });
        let mut level = level;
        loop {
            let free = state.free(level);
            let granted = state.is_next(ticket) && bytes <= free;
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if granted || left.is_some_and(|left| left.is_zero()) {
                state.waiting.retain(|waiter| waiter.ticket != ticket);
                if granted {
                    state.grant(bytes);
                }
                // The next in the queue may have its share now.
                self.changed.notify_all();
                return if granted { Ok(()) } else { Err(free) };
            }
            let pause = left.into_iter().chain(poll).min();
            state = match pause {
                Some(pause) => {
                    self.changed.wait_timeout(state, pause).map_or_else(|error| error.into_inner().0, |it| it.0)
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            if poll.is_some() {
                // Measuring reads files: not under the lock.
                drop(state);
                level = measure();
                state = self.state();
            }
        }
    }

    pub(super) fn give_back(&self, bytes: u64) {
        if bytes > 0 {
            self.state().used -= bytes;
            self.changed.notify_all();
        }
    }
}
