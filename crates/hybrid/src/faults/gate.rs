//! A machine that threads share, with the log of its changes in their order.

use std::time::Duration;

use super::{
    event::{Event, EventKind, Log},
    machine::{Answer, Change, Machine, Ticket, Verdict},
    sync::{AtomicU64, Mutex, MutexGuard, Ordering, PoisonError},
};

pub(super) struct Gate {
    inside: Mutex<Inside>,
    /// The machine's epoch, for who looks at it often.
    epoch: AtomicU64,
}

pub(super) struct Inside {
    pub(super) machine: Machine,
    pub(super) log: Log,
}

impl Gate {
    pub(super) fn new(machine: Machine, log: Log) -> Self {
        Self { epoch: AtomicU64::new(machine.epoch()), inside: Mutex::new(Inside { machine, log }) }
    }

    pub(super) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether an operation may go to the device, and what it should tell others.
    pub(super) fn admit(&self, now: Duration) -> (Answer, Option<Event>) {
        let mut inside = self.inside();
        let (answer, change) = inside.machine.admit(now);
        (answer, self.note(&mut inside, change, now))
    }

    /// Takes what an operation found out.
    pub(super) fn report(&self, ticket: Ticket, verdict: Verdict, now: Duration) -> Option<Event> {
        let mut inside = self.inside();
        let change = inside.machine.report(ticket, verdict, now);
        self.note(&mut inside, change, now)
    }

    /// Changes the machine from outside of an operation.
    pub(super) fn change(&self, now: Duration, change: impl FnOnce(&mut Machine) -> Change) -> Option<Event> {
        let mut inside = self.inside();
        let change = change(&mut inside.machine);
        self.note(&mut inside, Some(change), now)
    }

    fn note(&self, inside: &mut Inside, change: Option<Change>, now: Duration) -> Option<Event> {
        self.epoch.store(inside.machine.epoch(), Ordering::Release);
        let kind = match change? {
            Change::Opened { failures, until } => EventKind::Opened { failures, until },
            Change::Probing => EventKind::Probing,
            Change::Closed => EventKind::Closed,
            Change::Poisoned => EventKind::Poisoned,
            Change::Late => EventKind::Late,
            Change::Revived => EventKind::Revived,
        };
        Some(inside.log.push(now, kind))
    }
}
