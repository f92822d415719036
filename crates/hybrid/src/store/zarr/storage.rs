//! Files of an array, as the library asks for them.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::Advice;
use zarrs::{
    array::{ArrayError, CodecError},
    storage::{
        Bytes, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits, StorageError, StoreKey, StorePrefix,
        WritableStorageTraits,
        byte_range::{ByteRange, ByteRangeIterator},
    },
};

use super::{
    super::files::{Files, Step, is_one_of},
    folder::TemporaryFolder,
};
use crate::Error;

/// Files that are read.
pub(super) struct ReadFiles {
    pub(super) files: Files,
    pub(super) path: PathBuf,
}

impl ReadFiles {
    /// A file of the array, if it is there, with its length.
    fn open(&self, key: &StoreKey) -> Result<Option<(File, u64, PathBuf)>, Error> {
        let path = self.path.join(key.as_str());
        let file = match self.files.open(&path) {
            Ok(file) => file,
            Err(error) if is_one_of(&error, &[rustix::io::Errno::NOENT]) => return Ok(None),
            Err(error) => return Err(Step::Open.failed(&path)(error)),
        };
        let bytes = self.files.bytes(&file).map_err(Step::Stat.failed(&path))?;
        Ok(Some((file, bytes, path)))
    }

    /// A hint about places of a file, offsets with lengths, or about all of it; about a file that is not there, none.
    pub(super) fn advise(&self, key: &StoreKey, places: Option<Vec<[u64; 2]>>, advice: Advice) -> Result<(), Error> {
        let Some((file, size, path)) = self.open(key)? else { return Ok(()) };
        let mut places = places.unwrap_or_else(|| vec![[0, size]]);
        places.sort_unstable();
        // Those that follow each other are one. A damaged index asks for anything; that is an error where it is read.
        let follow = |[offset, bytes]: &[u64; 2], next: &[u64; 2]| offset.checked_add(*bytes) == Some(next[0]);
        for run in places.chunk_by(follow) {
            let (begin, bytes) = (run[0][0], run.iter().fold(0, |sum: u64, [_, bytes]| sum.saturating_add(*bytes)));
            if begin.checked_add(bytes).is_some_and(|end| end <= size) {
                self.files.advise(&file, begin, bytes, advice).map_err(Step::Advise.failed(&path))?;
            }
        }
        Ok(())
    }

    fn read(&self, (file, size, path): &(File, u64, PathBuf), range: ByteRange) -> Result<Bytes, StorageError> {
        let (offset, length) = match range {
            ByteRange::FromStart(offset, length) => (offset, length.unwrap_or(size.saturating_sub(offset))),
            ByteRange::Suffix(length) => (size.saturating_sub(length), length),
        };
        // A damaged index asks for anything.
        if offset.checked_add(length).is_none_or(|end| end > *size) {
            return Err(StorageError::Other(format!("{length} bytes at {offset} are not in a file of {size} bytes")));
        }
        let mut content = vec![0; length as usize];
        self.files.read(file, &mut content, offset).map_err(Step::Read.failed(path)).map_err(outward)?;
        Ok(content.into())
    }
}

impl ReadableStorageTraits for ReadFiles {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some(opened) = self.open(key).map_err(outward)? else { return Ok(None) };
        Ok(Some(Box::new(ranges.map(move |range| self.read(&opened, range)))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(self.open(key).map_err(outward)?.map(|(_, bytes, _)| bytes))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

/// Files that are written, whole each.
pub(super) struct WrittenFiles(pub(super) TemporaryFolder);

impl WritableStorageTraits for WrittenFiles {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        self.0.write(key.as_str(), &value).map_err(outward)
    }

    fn set_partial_many(&self, _: &StoreKey, _: OffsetBytesIterator<'_>) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("shards are written whole".into()))
    }

    fn erase(&self, _: &StoreKey) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("shards are not removed".into()))
    }

    fn erase_prefix(&self, _: &StorePrefix) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("shards are not removed".into()))
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}

/// An error of ours on its way through the library.
pub(super) fn outward(error: Error) -> StorageError {
    StorageError::IOError(Arc::new(io::Error::other(error)))
}

/// An error of ours that came through the library, if this is one.
pub(super) fn ours(error: &StorageError) -> Option<Error> {
    match error {
        StorageError::IOError(error) => error.get_ref()?.downcast_ref::<Error>().cloned(),
        _ => None,
    }
}

/// What an error of the library is: one of ours, or damage in a chunk.
pub(super) fn explain(path: &Path, chunk: Option<String>, error: &ArrayError) -> Error {
    let own = match error {
        ArrayError::StorageError(error) | ArrayError::CodecError(CodecError::StorageError(error)) => ours(error),
        _ => None,
    };
    own.unwrap_or_else(|| Error::Corrupt { path: path.into(), chunk, why: error.to_string() })
}
