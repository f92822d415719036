//! The folder of compiled kernels: a file for each, named by its key.

use std::{
    collections::hash_map::RandomState,
    env, fmt,
    hash::BuildHasher,
    io,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use super::{Bundle, BundleStatistics, CacheEntry, Miss, entry};
use crate::{
    Compiled, Error, Key,
    folder::{Folder, Opened},
};

/// How exactly the last use of an entry is known: writing it at each use would cost more than the use.
const TOUCH_AFTER: Duration = Duration::from_secs(24 * 3600);

/// The limit is looked at once in this many puts.
const PUTS_PER_CHECK: u32 = 32;

/// A folder of compiled kernels that only this user can write, shared by any number of processes and hosts.
///
/// Each kernel is a file, named by the hash of what it was made from, with a checksum over all of it. Files are written
/// under a name of their own and renamed, so a reader sees a whole one or none. Which were used last is known to a day by
/// their time of change; when they are larger together than the [`limit`](Self::limit), the longest unused ones go.
pub struct CacheFolder {
    pub(super) folder: Folder,
    pub(super) limit: Option<u64>,
    puts: AtomicU32,
}

impl CacheFolder {
    /// 1 GiB, the limit unless something else is said.
    pub const DEFAULT_LIMIT: u64 = 1 << 30;

    /// Opens a folder, which is made if it is missing, with mode 0700. A symlink, another user's folder and one that group or
    /// world can write are refused with [`Error::File`]: what lies there others could have written, and it is code.
    ///
    /// Its limit is `$TILEWRIGHT_CACHE_LIMIT`: bytes, with `K`, `M` or `G` behind it for their powers of 1024, or `none`;
    /// [`DEFAULT_LIMIT`](Self::DEFAULT_LIMIT) if it is not set.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::of(path.as_ref(), Folder::open(path.as_ref()))
    }

    /// The same for a folder that must exist.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::of(path.as_ref(), Folder::open_existing(path.as_ref()))
    }

    fn of(path: &Path, folder: Result<Folder, String>) -> Result<Self, Error> {
        let folder = folder.map_err(|reason| Error::File { doing: "use", path: path.into(), reason })?;
        // Processes that put a few kernels each look at the limit now and then too: each begins at another count.
        let puts = AtomicU32::new(RandomState::new().hash_one(0) as u32);
        Ok(Self { folder, limit: limit_from_environment(), puts })
    }

    /// The same folder with another limit, in bytes; `None` for none.
    pub fn with_limit(self, limit: Option<u64>) -> Self {
        Self { limit, ..self }
    }

    /// The most bytes that entries have together. It is looked at once in 32 puts, so there can be some more.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The kernel of this key, checked as a whole and marked as used; `None` if there is none, or something is wrong with it.
    pub fn find(&self, key: &Key) -> Option<Compiled> {
        self.get(key).ok()
    }

    pub(super) fn get(&self, key: &Key) -> Result<Compiled, Miss> {
        let (compiled, opened) = self.read(key)?;
        // One from the future is left alone, or hosts whose clocks differ would touch it in turns.
        if opened.age().is_some_and(|age| age > TOUCH_AFTER)
            && let Err(error) = self.folder.touch(&opened)
        {
            tracing::debug!(%key, %error, "a cached kernel's use could not be noted");
        }
        Ok(compiled)
    }

    pub(super) fn read(&self, key: &Key) -> Result<(Compiled, Opened), Miss> {
        let opened = self.folder.open_file(&entry::file_name(key), entry::LIMIT)?;
        let content = self.folder.read(&opened)?;
        Ok((entry::decode(key, &content)?, opened))
    }

    /// Writes the kernel, and says how many others went for it.
    pub(super) fn put(&self, key: &Key, compiled: &Compiled) -> io::Result<u64> {
        let content = entry::encode(key, compiled).ok_or_else(|| io::Error::other("it is too large"))?;
        self.folder.write(&entry::file_name(key), &content)?;
        if !self.puts.fetch_add(1, Ordering::Relaxed).is_multiple_of(PUTS_PER_CHECK) {
            return Ok(0);
        }
        Ok(self.evict().unwrap_or_else(|error| {
            tracing::debug!(%error, "the kernel cache could not be kept small");
            0
        }))
    }

    /// Writes all entries that are whole into one bundle, see [`Bundle::write`]. Each is shown before it is packed.
    pub fn pack(&self, output: impl AsRef<Path>, each: &mut dyn FnMut(&CacheEntry)) -> Result<Packed, Error> {
        let entries = self.entries()?;
        let whole = entries.iter().filter_map(|entry| {
            each(entry);
            Some((entry.key, self.check(entry).ok()?))
        });
        let written = Bundle::write(output, whole)?;
        Ok(Packed { written, left_out: entries.len() as u64 - written.entries })
    }

    /// Whether it has no entry; also when that cannot be told.
    pub(super) fn is_empty(&self) -> bool {
        self.folder.names().map_or(true, |names| names.iter().all(|name| entry::key_of(name).is_none()))
    }
}

/// What [`CacheFolder::pack`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The bundle.
    pub written: BundleStatistics,
    /// Entries of the folder that could not be used and are not in it.
    pub left_out: u64,
}

impl fmt::Debug for CacheFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheFolder").field("path", &self.path()).field("limit", &self.limit).finish()
    }
}

fn limit_from_environment() -> Option<u64> {
    const VARIABLE: &str = "TILEWRIGHT_CACHE_LIMIT";
    let Some(text) = env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Some(CacheFolder::DEFAULT_LIMIT);
    };
    let text = text.to_string_lossy();
    parsed_limit(&text).unwrap_or_else(|| {
        tracing::warn!(value = %text, "{VARIABLE} is no number of bytes such as 500M, nor `none`; the limit is 1G");
        Some(CacheFolder::DEFAULT_LIMIT)
    })
}

/// `Some(None)` is no limit, `None` no limit that can be read.
fn parsed_limit(text: &str) -> Option<Option<u64>> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("none") {
        return Some(None);
    }
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.trim().parse().ok()?;
    number.checked_mul(1 << shift).map(Some)
}

#[cfg(test)]
mod tests {
    use super::parsed_limit;

    #[test]
    fn limits() {
        for (text, expected) in [("0", 0), ("17", 17), ("2K", 2048), (" 500m ", 500 << 20), ("3 G", 3 << 30)] {
            assert_eq!(parsed_limit(text), Some(Some(expected)), "{text}");
        }
        assert_eq!((parsed_limit("none"), parsed_limit("None")), (Some(None), Some(None)));
        for text in ["", "K", "-1", "1T", "1.5G", "99999999999G", "é", "1é"] {
            assert_eq!(parsed_limit(text), None, "{text}");
        }
    }
}
