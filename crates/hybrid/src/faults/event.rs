use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::Why;
use crate::Class;

/// Something that happened to a device, or to an operation for its sake.
#[derive(Clone, Debug)]
pub struct Event {
    /// Counted from 0, in the order in which things happened.
    pub number: u64,
    /// The time of the breaker's clock.
    pub at: Duration,
    /// What it was.
    pub kind: EventKind,
}

/// What can happen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// An operation failed on the device.
    Failed {
        /// The operation.
        operation: &'static str,
        /// What kind of failure it was.
        class: Class,
        /// Its message.
        error: Arc<str>,
    },
    /// An operation is tried again with smaller parts.
    Smaller {
        /// The operation.
        operation: &'static str,
        /// How often its parts were halved.
        halvings: u32,
    },
    /// An operation goes to the CPU.
    FellBack {
        /// The operation.
        operation: &'static str,
        /// Why.
        why: Why,
    },
    /// Failures opened the breaker.
    Opened {
        /// How many.
        failures: usize,
        /// When an operation may try the device.
        until: Duration,
    },
    /// One operation tries the device.
    Probing,
    /// The device is used again.
    Closed,
    /// The device's context is damaged for good.
    Poisoned,
    /// The device has a new context.
    Revived,
    /// An operation that began before the last change ended after it; it was not counted.
    Late,
}

/// How often things happened since the breaker was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) successes: u64,
    pub(super) failures: u64,
    pub(super) fallbacks: u64,
}

/// The last events.
pub(super) struct Log {
    events: VecDeque<Event>,
    most: usize,
    next: u64,
    pub(super) counts: Counts,
    pub(super) last_failure: Option<Arc<str>>,
}

impl Log {
    pub(super) fn new(most: usize) -> Self {
        Self { events: VecDeque::new(), most, next: 0, counts: Counts::default(), last_failure: None }
    }

    pub(super) fn push(&mut self, at: Duration, kind: EventKind) -> Event {
        match &kind {
            EventKind::Failed { error, .. } => {
                self.counts.failures += 1;
                self.last_failure = Some(error.clone());
            }
            EventKind::FellBack { .. } => self.counts.fallbacks += 1,
            _ => {}
        }
        let event = Event { number: self.next, at, kind };
        self.next += 1;
        self.events.push_back(event.clone());
        while self.events.len() > self.most {
            self.events.pop_front();
        }
        event
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.events.iter().cloned().collect()
    }
}
