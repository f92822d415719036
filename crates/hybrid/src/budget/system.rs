//! What the machine and its limits say about memory, asked anew each time: nothing here is kept.

use std::{fs, path::Path};

use super::cgroup;

/// How much memory there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Bytes that may be used in all.
    pub capacity: u64,
    /// Bytes of them that are free now.
    pub available: u64,
}

impl Level {
    /// The lesser of two, number by number.
    pub(super) fn min(self, other: Self) -> Self {
        Self { capacity: self.capacity.min(other.capacity), available: self.available.min(other.available) }
    }

    /// What is left when a part of the capacity, but at most so many bytes, is kept free.
    pub(super) fn with_reserve(self, part: u64, most: u64) -> Self {
        let reserve = (self.capacity / part).min(most);
        Self { capacity: self.capacity - reserve, available: self.available.saturating_sub(reserve) }
    }
}

/// Memory of the host that this process may use: the machine's, and the limits of its control groups (`memory.max` and `memory.high`
/// of version 2, `memory.limit_in_bytes` of version 1) with those of all groups above them. Pages that only cache files count as free.
pub fn host() -> Level {
    host_at(Path::new("/"))
}

/// [`host`] of a machine whose `proc` and control groups lie under another root: what tests use.
pub fn host_at(root: &Path) -> Level {
    let machine = machine(&root.join("proc/meminfo"));
    cgroup::levels(root).into_iter().fold(machine, Level::min)
}

fn machine(meminfo: &Path) -> Level {
    let text = fs::read_to_string(meminfo).unwrap_or_default();
    let bytes = |key: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        rest.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
    };
    match (bytes("MemTotal"), bytes("MemAvailable")) {
        (Some(capacity), Some(available)) => Level { capacity, available: available.min(capacity) },
        // A machine without `proc`: what the kernel says of free pages, which leaves out those that cache files.
        _ => {
            let about = rustix::system::sysinfo();
            let unit = u64::from(about.mem_unit.max(1));
            Level { capacity: about.totalram as u64 * unit, available: about.freeram as u64 * unit }
        }
    }
}

/// Most ranges of memory that a process may map (`vm.max_map_count`, 65,530 by default), where the machine says it.
pub fn most_maps() -> Option<u64> {
    fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

/// Ranges of memory that this process maps now.
pub fn maps() -> Option<u64> {
    Some(fs::read_to_string("/proc/self/maps").ok()?.lines().count() as u64)
}

/// Bytes that this process may lock (`ulimit -l`); `None` for any number.
pub fn locked_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Memlock).current
}
