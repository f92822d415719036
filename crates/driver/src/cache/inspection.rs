//! What lies in a folder: all entries, whether they are whole, and how to be rid of them.

use std::{io, time::SystemTime};

use super::{CacheFolder, FolderStatistics, entry};
use crate::{Compiled, Error, Key, folder::Stamp, temporary::is_temporary};

/// An entry of a [`CacheFolder`], as it was when it was listed.
#[derive(Clone, Debug)]
pub struct CacheEntry {
    /// What it is the kernel of.
    pub key: Key,
    /// Its size, checksum and metadata included.
    pub bytes: u64,
    /// Its last use, to a day.
    pub used: SystemTime,
    stamp: Stamp,
}

impl CacheEntry {
    /// The name of its file.
    pub fn file_name(&self) -> String {
        entry::file_name(&self.key)
    }
}

impl CacheFolder {
    /// All entries by their keys, whatever is in them. Files of other names are not listed.
    pub fn entries(&self) -> Result<Vec<CacheEntry>, Error> {
        let mut entries = Vec::new();
        for name in self.names()? {
            let Some(key) = entry::key_of(&name) else { continue };
            match self.folder.stamp(&name) {
                Ok(stamp) => entries.push(CacheEntry { key, bytes: stamp.bytes, used: stamp.modified, stamp }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::file("look at", &self.path().join(name))(error)),
            }
        }
        entries.sort_by_key(|entry| entry.key);
        Ok(entries)
    }

    /// The kernel of an entry, if every byte is as it was written. [`Error::File`] says what is wrong. It is not marked as used.
    pub fn check(&self, entry: &CacheEntry) -> Result<Compiled, Error> {
        self.read(&entry.key).map(|(compiled, _)| compiled).map_err(|miss| {
            let path = self.path().join(entry.file_name());
            Error::File { doing: "use", path, reason: miss.to_string() }
        })
    }

    /// Removes an entry, unless it was written or used since it was listed; says whether it is gone.
    pub fn remove(&self, entry: &CacheEntry) -> Result<bool, Error> {
        self.removed(&entry.file_name(), &entry.stamp)
    }

    /// Removes all entries and temporary files, and tells the name of each. Nothing else is touched: what `failed/` holds,
    /// files of other names, the lock file.
    pub fn clear(&self, removed: &mut dyn FnMut(&str, u64)) -> Result<(), Error> {
        for name in self.names()? {
            if entry::key_of(&name).is_none() && !is_temporary(&name) {
                continue;
            }
            let Ok(stamp) = self.folder.stamp(&name) else { continue };
            if self.removed(&name, &stamp)? {
                removed(&name, stamp.bytes);
            }
        }
        Ok(())
    }

    /// Counts what is here. Every entry is read and checked.
    pub fn statistics(&self) -> Result<FolderStatistics, Error> {
        self.survey(&mut |_, _| {})
    }

    /// The same, and shows each entry with its kernel, or with what is wrong.
    pub fn survey(
        &self,
        each: &mut dyn FnMut(&CacheEntry, Result<Compiled, Error>),
    ) -> Result<FolderStatistics, Error> {
        let temporaries = self.names()?.iter().filter(|name| is_temporary(name)).count() as u64;
        let mut statistics = FolderStatistics { temporaries, ..FolderStatistics::default() };
        for entry in self.entries()? {
            let checked = self.check(&entry);
            statistics.entries += 1;
            statistics.bytes += entry.bytes;
            statistics.unusable += u64::from(checked.is_err());
            statistics.oldest = Some(statistics.oldest.map_or(entry.used, |oldest| oldest.min(entry.used)));
            statistics.newest = Some(statistics.newest.map_or(entry.used, |newest| newest.max(entry.used)));
            each(&entry, checked);
        }
        Ok(statistics)
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        self.folder.names().map_err(Error::file("list", self.path()))
    }

    fn removed(&self, name: &str, seen: &Stamp) -> Result<bool, Error> {
        match self.folder.remove_if(name, seen) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            outcome => outcome.map_err(Error::file("remove", &self.path().join(name))),
        }
    }
}
