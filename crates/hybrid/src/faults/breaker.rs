use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    time::{Duration, Instant},
};

use super::{
    Condition, Event, EventKind, Limits,
    event::Log,
    gate::Gate,
    machine::{Answer, Machine, Ticket, Verdict},
};
use crate::{Class, Error, budget::Memory, error};

/// What an operation does when the device fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// It goes on, on the CPU, and the log says so.
    #[default]
    FallbackAndReport,
    /// It returns the device's error.
    FailFast,
    /// It never goes to the device. Who asks for that alone ([`Choice::Gpu`](crate::dispatch::Choice)) gets [`Error::NoGpu`].
    CpuOnly,
}

/// How a breaker behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// When it opens, and for how long.
    pub limits: Limits,
    /// What operations do.
    pub policy: Policy,
    /// How often an operation that lacks memory is tried again with parts of half the size.
    pub halvings: u32,
    /// How many events it keeps.
    pub events: usize,
}

impl Default for Settings {
    /// 3 failures in 60 s, 30 s of rest, the CPU goes on, 3 halvings, 256 events.
    fn default() -> Self {
        Self { limits: Limits::default(), policy: Policy::default(), halvings: 3, events: 256 }
    }
}

type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// The circuit breaker of one device. Clones are the same breaker.
#[derive(Clone)]
pub struct Breaker(Arc<Inner>);

struct Inner {
    ordinal: usize,
    settings: RwLock<Settings>,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    gate: Gate,
    listeners: RwLock<Vec<Listener>>,
}

/// What a breaker says of its device.
#[derive(Clone, Debug)]
pub struct Health {
    /// The device.
    pub ordinal: usize,
    /// The breaker's state.
    pub condition: Condition,
    /// What operations do when the device fails.
    pub policy: Policy,
    /// The present epoch.
    pub epoch: u64,
    /// Failures that count towards opening.
    pub recent_failures: usize,
    /// Operations that succeeded on the device so far.
    pub successes: u64,
    /// Operations that failed on it.
    pub failures: u64,
    /// Operations that went on, on the CPU.
    pub fallbacks: u64,
    /// What the last failure said.
    pub last_failure: Option<Arc<str>>,
    /// The time of the breaker's clock.
    pub now: Duration,
}

impl Breaker {
    /// The breaker of a device that all of this process share.
    pub fn of(ordinal: usize) -> Self {
        static ALL: OnceLock<Mutex<HashMap<usize, Breaker>>> = OnceLock::new();
        let mut all = ALL.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(ordinal).or_insert_with(|| Self::new(ordinal, Settings::default())).clone()
    }

    /// A breaker of its own, with the system's clock.
    pub fn new(ordinal: usize, settings: Settings) -> Self {
        let begin = Instant::now();
        Self::with_clock(ordinal, settings, move || begin.elapsed())
    }

    /// A breaker with another clock: the time since any beginning. It never goes back.
    pub fn with_clock(
        ordinal: usize,
        settings: Settings,
        clock: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let gate = Gate::new(Machine::new(settings.limits), Log::new(settings.events));
        let listeners = RwLock::default();
        Self(Arc::new(Inner { ordinal, settings: RwLock::new(settings), clock: Box::new(clock), gate, listeners }))
    }

    /// The device.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// How it behaves now.
    pub fn settings(&self) -> Settings {
        *self.0.settings.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what operations that begin later do when the device fails.
    pub fn set_policy(&self, policy: Policy) {
        self.0.settings.write().unwrap_or_else(PoisonError::into_inner).policy = policy;
    }

    /// Has every later event told to a function, after it is in the log and on the thread that caused it. Events of several threads
    /// may come out of order: they are numbered.
    pub fn on_event(&self, listener: impl Fn(&Event) + Send + Sync + 'static) {
        self.0.listeners.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    /// The last events, oldest first.
    pub fn events(&self) -> Vec<Event> {
        self.0.gate.inside().log.events()
    }

    /// How the device is now.
    pub fn health(&self) -> Health {
        let now = self.now();
        let policy = self.settings().policy;
        let mut inside = self.0.gate.inside();
        let counts = inside.log.counts;
        Health {
            ordinal: self.0.ordinal,
            condition: inside.machine.condition(),
            policy,
            epoch: inside.machine.epoch(),
            recent_failures: inside.machine.recent_failures(now),
            successes: counts.successes,
            failures: counts.failures,
            fallbacks: counts.fallbacks,
            last_failure: inside.log.last_failure.clone(),
            now,
        }
    }

    /// The present epoch. It rises when the breaker opens, when the device is poisoned and when it is revived.
    pub fn epoch(&self) -> u64 {
        self.0.gate.epoch()
    }

    /// Whether objects that were made on the device in this epoch can be used: [`Error::DevicePoisoned`] when their context is lost.
    pub fn check(&self, epoch: u64) -> Result<(), Error> {
        if self.0.gate.inside().machine.lives(epoch) { Ok(()) } else { Err(self.poisoned()) }
    }

    /// Leave to go to the device; a verdict is expected for it. [`Error::DeviceResting`] while the breaker is open or a probe is under
    /// way, [`Error::DevicePoisoned`] for a device that is.
    pub fn admit(&self) -> Result<Admission, Error> {
        let (answer, event) = self.0.gate.admit(self.now());
        self.tell(event);
        match answer {
            Answer::Go(ticket) => Ok(Admission { breaker: self.clone(), ticket: Some(ticket), epoch: ticket.epoch }),
            Answer::Rest { retry_in } => Err(Error::DeviceResting { ordinal: self.0.ordinal, retry_in }),
            Answer::Poisoned => Err(self.poisoned()),
        }
    }

    /// Says that the device's context is damaged for good, as an error outside of an operation showed.
    pub fn poison(&self, error: &Error) {
        self.0.gate.inside().log.last_failure = Some(error.to_string().into());
        let event = self.0.gate.change(self.now(), Machine::poison);
        self.tell(event);
    }

    /// Says that the device has a new context and can be used. What was made in earlier epochs stays lost.
    pub fn revive(&self) {
        let event = self.0.gate.change(self.now(), Machine::revive);
        self.tell(event);
    }

    pub(super) fn now(&self) -> Duration {
        (self.0.clock)()
    }

    /// Puts an event into the log and tells it.
    pub(super) fn record(&self, kind: EventKind) {
        let event = self.0.gate.inside().log.push(self.now(), kind);
        self.tell(Some(event));
    }

    fn poisoned(&self) -> Error {
        let failure = self.0.gate.inside().log.last_failure.clone();
        let what = failure.as_deref().unwrap_or("its context is damaged");
        Error::DevicePoisoned { ordinal: self.0.ordinal, why: error::lost(&what) }
    }

    /// Without the lock: a listener may ask the breaker, and may panic.
    fn tell(&self, event: Option<Event>) {
        let Some(event) = event else { return };
        tracing::info!(device = self.0.ordinal, number = event.number, at = ?event.at, event = ?event.kind);
        let listeners = self.0.listeners.read().unwrap_or_else(PoisonError::into_inner).clone();
        listeners.iter().for_each(|listener| listener(&event));
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Breaker of GPU {}: {:?}", self.0.ordinal, self.0.gate.inside().machine.condition())
    }
}

/// Leave to use a device. Dropped without a verdict, say by a panic, it says nothing about the device.
#[must_use = "say how it went: `succeed` or `fail`"]
pub struct Admission {
    breaker: Breaker,
    ticket: Option<Ticket>,
    epoch: u64,
}

impl Admission {
    /// The epoch in which it was given.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether nothing has changed since: whoever works for long can stop early when it has.
    pub fn is_current(&self) -> bool {
        self.epoch == self.breaker.epoch()
    }

    /// The operation succeeded on the device.
    pub fn succeed(mut self) {
        self.breaker.0.gate.inside().log.counts.successes += 1;
        self.report(Verdict::Success);
    }

    /// The operation failed. Errors of the user, of the numbers, of files, a lack of host memory and cancellations change nothing; one after which nothing
    /// works poisons the device.
    pub fn fail(mut self, operation: &'static str, error: &Error) {
        let verdict = self.verdict(error);
        if verdict != Verdict::Nothing {
            let kind = EventKind::Failed { operation, class: error.class(), error: error.to_string().into() };
            self.breaker.record(kind);
        }
        self.report(verdict);
    }

    fn verdict(&self, error: &Error) -> Verdict {
        match error {
            // It is new only while nobody has said so.
            Error::DevicePoisoned { .. } if self.breaker.check(self.epoch).is_err() => Verdict::Nothing,
            error if error.is_sticky() => Verdict::Poison,
            // What a breaker said itself.
            Error::DeviceResting { .. } => Verdict::Nothing,
            // What the host has no room for says nothing about the device.
            Error::Budget { what, .. } if *what == Memory::Host.name() => Verdict::Nothing,
            error => match error.class() {
                Class::Resource | Class::Device => Verdict::Failure,
                Class::User | Class::Numeric | Class::Io | Class::Cancelled => Verdict::Nothing,
            },
        }
    }

    fn report(&mut self, verdict: Verdict) {
        if let Some(ticket) = self.ticket.take() {
            let event = self.breaker.0.gate.report(ticket, verdict, self.breaker.now());
            self.breaker.tell(event);
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.report(Verdict::Nothing);
    }
}
