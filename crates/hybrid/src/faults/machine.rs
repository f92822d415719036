//! The states of a breaker and what leads from one to the next: no clock, no lock, no device.

use std::{collections::VecDeque, time::Duration};

/// When a breaker opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So many failures open it ...
    pub failures: usize,
    /// ... if they come within this time.
    pub window: Duration,
    /// How long it then stays open before an operation may try the device.
    pub cooldown: Duration,
}

impl Default for Limits {
    /// 3 failures in 60 s, and 30 s of rest.
    fn default() -> Self {
        Self { failures: 3, window: Duration::from_secs(60), cooldown: Duration::from_secs(30) }
    }
}

/// What state a breaker is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The device is used.
    Closed,
    /// It rests until this time of the breaker's clock.
    Open {
        /// When an operation may try it.
        until: Duration,
    },
    /// One operation tries it, or may.
    HalfOpen {
        /// Whether one does now.
        probing: bool,
    },
    /// Its context is damaged for good.
    Poisoned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Duration },
    HalfOpen { probe: Option<u64> },
    Poisoned,
}

/// What an operation may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Go(Ticket),
    Rest { retry_in: Duration },
    Poisoned,
}

/// Under which circumstances an operation went to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) epoch: u64,
    pub(super) probe: Option<u64>,
}

/// What an operation found out about the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Success,
    Failure,
    Poison,
    /// It ended before it could tell, or for a reason that says nothing about the device.
    Nothing,
}

/// A change that others should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Opened {
        failures: usize,
        until: Duration,
    },
    Probing,
    Closed,
    Poisoned,
    /// A verdict about times that are over.
    Late,
    Revived,
}

/// A breaker's state.
pub(super) struct Machine {
    limits: Limits,
    state: State,
    /// Times of failures within the window, oldest first.
    failures: VecDeque<Duration>,
    /// Rises whenever what runs on the device must not be mistaken for what ran there before.
    epoch: u64,
    /// Objects of this epoch and of those before belong to a context that is lost.
    lost: Option<u64>,
    next_probe: u64,
}

impl Machine {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, state: State::Closed, failures: VecDeque::new(), epoch: 0, lost: None, next_probe: 0 }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether objects of this epoch can still be used.
    pub(super) fn lives(&self, epoch: u64) -> bool {
        self.state != State::Poisoned && self.lost.is_none_or(|lost| epoch > lost)
    }

    pub(super) fn condition(&self) -> Condition {
        match self.state {
            State::Closed => Condition::Closed,
            State::Open { until } => Condition::Open { until },
            State::HalfOpen { probe } => Condition::HalfOpen { probing: probe.is_some() },
            State::Poisoned => Condition::Poisoned,
        }
    }

    /// Failures that count now.
    pub(super) fn recent_failures(&mut self, now: Duration) -> usize {
        let window = self.limits.window;
        while self.failures.front().is_some_and(|at| now.saturating_sub(*at) > window) {
            self.failures.pop_front();
        }
        self.failures.len()
    }

    pub(super) fn admit(&mut self, now: Duration) -> (Answer, Option<Change>) {
        match self.state {
            State::Closed => (Answer::Go(Ticket { epoch: self.epoch, probe: None }), None),
            State::Poisoned => (Answer::Poisoned, None),
            State::Open { until } if now < until => (Answer::Rest { retry_in: until - now }, None),
            State::HalfOpen { probe: Some(_) } => (Answer::Rest { retry_in: Duration::ZERO }, None),
            State::Open { .. } | State::HalfOpen { probe: None } => {
                let probe = Some(self.next_probe);
                self.next_probe += 1;
                self.state = State::HalfOpen { probe };
                (Answer::Go(Ticket { epoch: self.epoch, probe }), Some(Change::Probing))
            }
        }
    }

    pub(super) fn report(&mut self, ticket: Ticket, verdict: Verdict, now: Duration) -> Option<Change> {
        if verdict == Verdict::Poison {
            return if self.lives(ticket.epoch) { Some(self.poison()) } else { Some(Change::Late) };
        }
        if ticket.epoch != self.epoch {
            return matches!(verdict, Verdict::Success | Verdict::Failure).then_some(Change::Late);
        }
        match (self.state, verdict) {
            (State::Closed, Verdict::Failure) => self.fail(now),
            (State::HalfOpen { probe }, _) if probe.is_some() && probe == ticket.probe => self.judge(verdict, now),
            _ => None,
        }
    }

    fn fail(&mut self, now: Duration) -> Option<Change> {
        self.failures.push_back(now);
        let failures = self.recent_failures(now);
        (failures >= self.limits.failures.max(1)).then(|| self.open(failures, now))
    }

    fn judge(&mut self, verdict: Verdict, now: Duration) -> Option<Change> {
        match verdict {
            Verdict::Success => {
                self.state = State::Closed;
                Some(Change::Closed)
            }
            Verdict::Failure => Some(self.open(1, now)),
            Verdict::Nothing | Verdict::Poison => {
                self.state = State::HalfOpen { probe: None };
                None
            }
        }
    }

    fn open(&mut self, failures: usize, now: Duration) -> Change {
        let until = now.saturating_add(self.limits.cooldown);
        self.failures.clear();
        self.epoch += 1;
        self.state = State::Open { until };
        Change::Opened { failures, until }
    }

    /// Nothing on this device works any more.
    pub(super) fn poison(&mut self) -> Change {
        self.lost = Some(self.epoch);
        self.epoch += 1;
        self.failures.clear();
        self.state = State::Poisoned;
        Change::Poisoned
    }

    /// The device has a new context; what belongs to the old one is lost.
    pub(super) fn revive(&mut self) -> Change {
        self.lost = Some(self.epoch);
        self.epoch += 1;
        self.failures.clear();
        self.state = State::Closed;
        Change::Revived
    }
}
