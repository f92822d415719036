//! What a cache did, in numbers.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use super::Origin;

/// What a [`KernelCache`](crate::KernelCache) did since it was made. Each number is exact; read while threads work, they need not fit each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Kernels that were in memory.
    pub memory: u64,
    /// Kernels found in a bundle.
    pub bundle: u64,
    /// Kernels found in the folder.
    pub disk: u64,
    /// Kernels that no layer had.
    pub misses: u64,
    /// Compilations that gave a kernel.
    pub compiles: u64,
    /// How long those took, all together, in milliseconds. Several can run at once.
    pub compile_ms: f64,
    /// Entries that were there and could not be used: damaged, unreadable, of an old compiler, refused by the driver.
    pub unusable: u64,
    /// Kernels that could not be written to the folder.
    pub dropped_writes: u64,
    /// Entries removed from the folder to keep its limit.
    pub evictions: u64,
}

/// What lies in a [`CacheFolder`](crate::CacheFolder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderStatistics {
    /// Entries, the unusable ones among them.
    pub entries: u64,
    /// Their size.
    pub bytes: u64,
    /// The longest unused entry's last use, to a day.
    pub oldest: Option<SystemTime>,
    /// The last use of all.
    pub newest: Option<SystemTime>,
    /// Files that are being written now, or were when their process ended.
    pub temporaries: u64,
    /// Entries of which some byte is wrong.
    pub unusable: u64,
}

#[derive(Default)]
pub(super) struct Counters {
    pub(super) memory: Counter,
    pub(super) bundle: Counter,
    pub(super) disk: Counter,
    pub(super) misses: Counter,
    pub(super) compiles: Counter,
    pub(super) compile_us: Counter,
    pub(super) unusable: Counter,
    pub(super) dropped_writes: Counter,
    pub(super) evictions: Counter,
}

/// Nothing is ordered by these numbers, so all accesses are relaxed.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Counts a kernel that came from there.
    pub(super) fn found(&self, origin: Origin) {
        match origin {
            Origin::Memory => self.memory.add(1),
            Origin::Bundle => self.bundle.add(1),
            Origin::Disk => self.disk.add(1),
            Origin::Compiled { ms } => {
                self.compiles.add(1);
                self.compile_us.add((ms * 1e3) as u64);
            }
        }
    }

    pub(super) fn read(&self) -> Statistics {
        Statistics {
            memory: self.memory.get(),
            bundle: self.bundle.get(),
            disk: self.disk.get(),
            misses: self.misses.get(),
            compiles: self.compiles.get(),
            compile_ms: self.compile_us.get() as f64 / 1e3,
            unusable: self.unusable.get(),
            dropped_writes: self.dropped_writes.get(),
            evictions: self.evictions.get(),
        }
    }
}
