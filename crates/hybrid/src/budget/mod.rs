//! Budgets of memory: what an operation may use, granted before it is used, counted while it is.
//!
//! A [`Budget`] is a number of bytes of one kind of memory. Who wants some asks for a [`Permit`] and gives it back by dropping it.
//! Limits are set, or measured anew for each request ([`system`]): a machine's memory can grow, and a container's limit can change.

mod cgroup;
mod grant;
mod permit;
mod queue;
mod ring;
pub mod system;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tilewright_driver::Device;

pub(crate) use grant::Grant;
pub use permit::Permit;
pub use ring::{Ring, RingWish};
pub use system::Level;

use crate::Error;
use queue::Queue;

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Memory of a GPU.
    Device,
    /// Page-locked memory of the host.
    Pinned,
    /// Ordinary memory of the host.
    Host,
}

impl Memory {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Device => "device memory",
            Self::Pinned => "pinned memory",
            Self::Host => "host memory",
        }
    }
}

/// Bytes of one kind of memory that all holders of this handle share. Clones are the same budget.
///
/// Requests that wait are served in the order in which they came, so that many small ones do not keep a large one waiting for ever;
/// requests that do not wait get what those before them leave.
#[derive(Clone)]
pub struct Budget(Arc<Inner>);

struct Inner {
    memory: Memory,
    measure: Box<dyn Fn() -> Level + Send + Sync>,
    /// How often a measured limit is asked again while somebody waits; nothing else tells that it has changed.
    poll: Option<Duration>,
    /// What was measured last, for those who ask nobody.
    last: Mutex<Option<Measured>>,
    queue: Queue,
}

/// What was measured, less what was granted by it since without measuring again, and when.
#[derive(Clone, Copy)]
struct Measured {
    level: Level,
    at: Instant,
}

/// How often a measured limit is asked again by those who wait; for so long that of host memory, page-locked or not, holds for trifles.
const POLL: Duration = Duration::from_millis(20);
/// Requests for at most this part of what the host had are trifles. To ask it reads a dozen files, 50 to 80 us beside an H200: longer than many
/// small products take.
const TRIFLE: u64 = 1024;
/// At most this part of it goes by the last answer, however old that is: 128 KiB of 128 GiB.
const CRUMB: u64 = 1 << 20;

impl Budget {
    /// A budget of so many bytes.
    pub fn new(memory: Memory, limit: u64) -> Self {
        Self::with(memory, None, move || Level { capacity: limit, available: limit })
    }

    /// A budget whose limit is asked for with each request: never more is granted at once than is `available` then, nor more in all
    /// than `capacity`. What was granted and is not used yet is still among what is available: use a permit soon. Requests for less than a
    /// thousandth of the host's memory go by an answer of up to 20 ms ago, less what such requests were granted since, and for less than a millionth by the last one.
    pub fn measured(memory: Memory, measure: impl Fn() -> Level + Send + Sync + 'static) -> Self {
        Self::with(memory, Some(POLL), measure)
    }

    fn with(memory: Memory, poll: Option<Duration>, measure: impl Fn() -> Level + Send + Sync + 'static) -> Self {
        let (measure, last, queue) = (Box::new(measure), Mutex::default(), Queue::default());
        Self(Arc::new(Inner { memory, measure, poll, last, queue }))
    }

    /// What this process may use of the host: of the machine's memory and of each limit of its control groups all but an eighth, at
    /// most 4 GiB, is left to others.
    pub fn host() -> Self {
        Self::measured(Memory::Host, || system::host().with_reserve(8, 4 << 30))
    }

    /// What may be page-locked: a quarter of what the host has, and half of what is available. The driver asks no `ulimit -l`; where
    /// another library does, [`system::locked_limit`] says what it is.
    pub fn pinned() -> Self {
        Self::measured(Memory::Pinned, || {
            let host = system::host();
            Level { capacity: host.capacity / 4, available: host.available / 2 }
        })
    }

    /// What is free on a device, less a sixteenth of it, at most 1 GiB, for the libraries that take some unasked. A device that does
    /// not answer has nothing.
    pub fn device(device: Device) -> Self {
        Self::measured(Memory::Device, move || {
            let (free, total) = device.memory_info().unwrap_or((0, 0));
            Level { capacity: total as u64, available: free as u64 }.with_reserve(16, 1 << 30)
        })
    }

    /// The kind of memory.
    pub fn memory(&self) -> Memory {
        self.0.memory
    }

    /// Bytes that may be used in all, as of now.
    pub fn limit(&self) -> u64 {
        self.0.level().capacity
    }

    /// Bytes granted and not given back.
    pub fn used(&self) -> u64 {
        self.0.queue.used()
    }

    /// Most bytes that were in use at one time, since the start or since [`Budget::reset_peak`].
    pub fn peak(&self) -> u64 {
        self.0.queue.peak()
    }

    /// Begins to count the peak anew, from what is in use now.
    pub fn reset_peak(&self) {
        self.0.queue.reset_peak();
    }

    /// Bytes that a request would get now without waiting.
    pub fn available(&self) -> u64 {
        self.0.queue.room(self.0.level())
    }

    /// The same; for who would request so many, and they are a trifle, by an answer of before.
    pub(crate) fn available_for(&self, bytes: u64) -> u64 {
        self.0.last_for(bytes).map_or_else(|| self.available(), |last| self.0.queue.room(last.level))
    }

    /// The same by what was measured last, without measuring; nothing where that is what it takes and nobody has.
    pub(crate) fn last_available(&self) -> Option<u64> {
        match self.0.poll {
            None => Some(self.available()),
            Some(_) => self.0.last().map(|last| self.0.queue.room(last.level)),
        }
    }

    /// So many bytes, now. [`Error::Budget`] when they are not free, or when others wait for them. Nobody is asked for none.
    pub fn try_acquire(&self, bytes: u64) -> Result<Permit, Error> {
        if bytes == 0 {
            return Ok(Permit::new(self.clone(), 0));
        }
        let by_the_last = self.0.for_a_trifle(bytes).and_then(|level| self.0.queue.take(bytes, level).ok());
        match by_the_last.map_or_else(|| self.0.queue.take(bytes, self.0.level()), Ok) {
            Ok(()) => Ok(Permit::new(self.clone(), bytes)),
            Err(available) => Err(self.refusal(bytes, available)),
        }
    }

    /// So many bytes, when those before it have theirs and enough are free. [`Error::Budget`] at once for more than the limit, and
    /// when `patience` is over.
    pub fn acquire(&self, bytes: u64, patience: Duration) -> Result<Permit, Error> {
        // A patience that no clock can count is endless.
        let deadline = Instant::now().checked_add(patience);
        match self.0.queue.wait(bytes, deadline, self.0.poll, || self.0.level()) {
            Ok(()) => Ok(Permit::new(self.clone(), bytes)),
            Err(available) => Err(self.refusal(bytes, available)),
        }
    }

    /// As many bytes as there are, between the two. [`Error::Budget`] when there are fewer than `least`.
    pub fn acquire_up_to(&self, least: u64, most: u64) -> Result<Permit, Error> {
        let most = most.max(least);
        let by_the_last = self.0.for_a_trifle(most).and_then(|level| self.0.queue.take_up_to(most, most, level).ok());
        match by_the_last.map_or_else(|| self.0.queue.take_up_to(least, most, self.0.level()), Ok) {
            Ok(bytes) => Ok(Permit::new(self.clone(), bytes)),
            Err(available) => Err(self.refusal(least, available)),
        }
    }

    /// Plans by what was available, and takes what the plan needs; by less where there is less by then.
    pub(crate) fn planned<P>(
        &self,
        mut available: u64,
        plan: impl Fn(u64) -> Result<(P, u64), Error>,
    ) -> Result<(P, Permit), Error> {
        loop {
            let (planned, bytes) = plan(available)?;
            match self.try_acquire(bytes) {
                Ok(permit) => return Ok((planned, permit)),
                Err(Error::Budget { available: now, .. }) if now < available => available = now,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether it is the same one.
    #[cfg(feature = "zarr")]
    pub(crate) fn is(&self, other: &Budget) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn refusal(&self, requested: u64, available: u64) -> Error {
        Error::Budget { what: self.0.memory.name(), requested, available, limit: self.limit() }
    }

    fn give_back(&self, bytes: u64) {
        self.0.queue.give_back(bytes);
    }
}

impl Inner {
    fn level(&self) -> Level {
        let level = (self.measure)();
        if self.poll.is_some() {
            *self.last() = Some(Measured { level, at: Instant::now() });
        }
        level
    }

    /// What was measured a moment ago, where that is enough to go by; so many bytes less are left of it.
    fn for_a_trifle(&self, bytes: u64) -> Option<Level> {
        let mut last = self.last();
        let last = last.as_mut().filter(|it| self.holds_for(bytes, it))?;
        let level = last.level;
        last.level.available -= bytes;
        Some(level)
    }

    /// What was measured last, if a request for so many bytes goes by it.
    fn last_for(&self, bytes: u64) -> Option<Measured> {
        self.last().filter(|it| self.holds_for(bytes, it))
    }

    fn holds_for(&self, bytes: u64, last: &Measured) -> bool {
        let Some(poll) = self.poll.filter(|_| self.memory != Memory::Device) else { return false };
        let available = last.level.available;
        bytes <= available / CRUMB || bytes <= available / TRIFLE && last.at.elapsed() < poll
    }

    fn last(&self) -> MutexGuard<'_, Option<Measured>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget of {}: {} of {} bytes used", self.0.memory.name(), self.used(), self.limit())
    }
}
