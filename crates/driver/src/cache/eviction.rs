//! What keeps a folder small: the longest unused entries go, and what killed processes left.

use std::{
    io,
    time::{Duration, SystemTime},
};

use super::{CacheFolder, entry};
use crate::{Error, folder::Stamp, temporary::is_temporary};

/// Whoever evicts holds this file's lock. It is never removed: a lock on a removed file keeps nobody out.
const LOCK: &str = ".evict";

/// A file that has been written for this long is not being written any more.
const STALE: Duration = Duration::from_secs(3600);

/// Hosts whose clocks or time zones are set wrong by no more than this count as right.
const CLOCKS_DIFFER: Duration = Duration::from_secs(24 * 3600);

impl CacheFolder {
    /// Brings the entries down to nine tenths of the limit, if they are larger together: the longest unused go first. Removes
    /// temporary files that are older than an hour, and says how many entries went. While another process does this, nothing is done.
    ///
    /// A clock that jumps changes who goes first and never how many go: age alone removes nothing.
    pub fn evict(&self) -> Result<u64, Error> {
        let failed = |doing| Error::file(doing, self.path());
        let Some(_lock) = self.folder.lock(LOCK).map_err(failed("lock"))? else { return Ok(0) };
        let now = SystemTime::now();
        let mut entries = Vec::new();
        for name in self.folder.names().map_err(failed("list"))? {
            let Ok(stamp) = self.folder.stamp(&name) else { continue };
            if is_temporary(&name) {
                self.sweep(&name, &stamp, now);
            } else if entry::key_of(&name).is_some() && stamp.regular {
                entries.push((name, stamp));
            }
        }
        Ok(self.limit.map_or(0, |limit| self.shrink(entries, limit, now)))
    }

    fn sweep(&self, name: &str, stamp: &Stamp, now: SystemTime) {
        let distance = now.duration_since(stamp.modified).unwrap_or_else(|ahead| ahead.duration());
        // One that is in use after all, under a wrong clock, costs its writer this one entry.
        if distance > STALE && stamp.regular {
            let _ = self.folder.remove_if(name, stamp);
        }
    }

    fn shrink(&self, mut entries: Vec<(String, Stamp)>, limit: u64, now: SystemTime) -> u64 {
        let mut total: u64 = entries.iter().map(|(_, stamp)| stamp.bytes).sum();
        if total <= limit {
            return 0;
        }
        let target = limit / 10 * 9;
        // What is from the future was last used while a clock was wrong. It must not stay for ever in the place of what is used now.
        let ahead = |stamp: &Stamp| stamp.modified.duration_since(now).is_ok_and(|ahead| ahead > CLOCKS_DIFFER);
        entries.sort_by_key(|(_, stamp)| (!ahead(stamp), stamp.modified));
        let mut removed = 0;
        for (name, stamp) in &entries {
            if total <= target {
                break;
            }
            match self.folder.remove_if(name, stamp) {
                Ok(true) => (total, removed) = (total - stamp.bytes, removed + 1),
                Err(error) if error.kind() == io::ErrorKind::NotFound => total -= stamp.bytes,
                // Used or written since it was looked at, or not to be removed.
                Ok(false) | Err(_) => {}
            }
        }
        tracing::debug!(folder = %self.path().display(), removed, bytes = total, limit, "the kernel cache was too large");
        removed
    }
}
