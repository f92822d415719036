//! Many entries in one file that is only read: kernels to ship, and for file systems that are short of files.
//!
//! ```text
//! magic, schema, number of entries
//! for each entry, by rising keys: key, offset, bytes
//! BLAKE3 of all that
//! the entries, as they are in a folder, each with its own key and checksum
//! ```

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::{Bundle, CacheEntry, CacheFolder, Miss, entry};
use crate::{Compiled, Error, Key, source::SCHEMA, temporary};

const MAGIC: [u8; 8] = *b"TWPACK\r\n";
const HEADER: u64 = 20;
const ROW: u64 = 48;
const HASH: u64 = 32;

/// Writable by everybody.
const WORLD_WRITABLE: u32 = 0o002;

/// A pack of compiled kernels, made by [`CacheFolder::pack`] and open for reading.
#[derive(Debug)]
pub struct Pack {
    path: PathBuf,
    file: File,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    key: Key,
    offset: u64,
    bytes: u64,
}

impl Pack {
    /// Opens a pack. What is no pack, is damaged in its index, is cut off, is of another version of tilewright or can be written by
    /// everybody is [`Error::File`]. Who names a pack vouches for it: it is code.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::read_index(path).map_err(|reason| Error::File { doing: "use the pack", path: path.into(), reason })
    }

    fn read_index(path: &Path) -> Result<Self, String> {
        let text = |error: io::Error| error.to_string();
        let file = File::open(path).map_err(text)?;
        let about = file.metadata().map_err(text)?;
        if !about.is_file() {
            return Err("it is no regular file".into());
        }
        if about.permissions().mode() & WORLD_WRITABLE != 0 {
            return Err("everybody can write it; `chmod o-w` it".into());
        }
        let mut header = [0; HEADER as usize];
        file.read_exact_at(&mut header, 0).map_err(|_| CUT)?;
        let count = header_count(&header)?;
        // Before anything is allocated: no more entries than the file has room for.
        let index =
            count.checked_mul(ROW).filter(|bytes| bytes.saturating_add(HEADER + HASH) <= about.len()).ok_or(CUT)?;
        let mut content = vec![0; (index + HASH) as usize];
        file.read_exact_at(&mut content, HEADER).map_err(|_| CUT)?;
        let (index, hash) = content.split_last_chunk::<{ HASH as usize }>().ok_or(CUT)?;
        if index_hash(&header, index) != *hash {
            return Err("its index is damaged; write it anew with `cargo xtask cache pack`".into());
        }
        let rows = index.chunks_exact(ROW as usize).map(Row::decode).collect::<Option<Vec<_>>>().ok_or(CUT)?;
        let begin = HEADER + content.len() as u64;
        if !rows.iter().all(|row| row.fits(begin, about.len())) || !rows.is_sorted_by(|a, b| a.key < b.key) {
            return Err("it is cut off, or its index is forged; write it anew with `cargo xtask cache pack`".into());
        }
        Ok(Self { path: path.into(), file, rows })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it has kernels of, rising.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.rows.iter().map(|row| &row.key)
    }

    pub(super) fn get(&self, key: &Key) -> Result<Compiled, Miss> {
        let at = self.rows.binary_search_by_key(key, |row| row.key).map_err(|_| Miss::Absent)?;
        let row = &self.rows[at];
        let mut content = vec![0; row.bytes as usize];
        self.file.read_exact_at(&mut content, row.offset)?;
        Ok(entry::decode(key, &content)?)
    }

    /// Checks every entry.
    fn check(&self) -> Result<(), Error> {
        self.keys().try_for_each(|key| {
            let wrong =
                |miss| Error::File { doing: "use the pack", path: self.path.clone(), reason: format!("{key}: {miss}") };
            self.get(key).map(drop).map_err(wrong)
        })
    }
}

impl Bundle for Pack {
    fn find(&self, key: &Key) -> Option<Compiled> {
        self.get(key).ok()
    }
}

const CUT: &str = "it is cut off, or no pack";

fn header_count(header: &[u8; HEADER as usize]) -> Result<u64, &'static str> {
    let (magic, rest) = header.split_first_chunk().ok_or(CUT)?;
    let (schema, rest) = rest.split_first_chunk().ok_or(CUT)?;
    let (count, _) = rest.split_first_chunk().ok_or(CUT)?;
    match (*magic == MAGIC, u32::from_le_bytes(*schema) == SCHEMA) {
        (true, true) => Ok(u64::from_le_bytes(*count)),
        (true, false) => Err("it is of another version of tilewright"),
        (false, _) => Err("it is no pack"),
    }
}

fn index_hash(header: &[u8], index: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(header).update(index).finalize().as_bytes()
}

impl Row {
    fn decode(row: &[u8]) -> Option<Self> {
        let (key, rest) = row.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let bytes = rest.first_chunk()?;
        Some(Self { key: Key(*key), offset: u64::from_le_bytes(*offset), bytes: u64::from_le_bytes(*bytes) })
    }

    fn encode(&self) -> impl Iterator<Item = u8> {
        self.key.0.into_iter().chain(self.offset.to_le_bytes()).chain(self.bytes.to_le_bytes())
    }

    /// Whether it lies between the index and the end of the file.
    fn fits(&self, begin: u64, end: u64) -> bool {
        self.bytes <= entry::LIMIT
            && self.offset >= begin
            && self.offset.checked_add(self.bytes).is_some_and(|behind| behind <= end)
    }
}

/// What [`CacheFolder::pack`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Entries in the pack.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
    /// Entries of the folder that could not be used and were left out.
    pub left_out: u64,
}

impl CacheFolder {
    /// Writes all entries that are whole into one pack, reads it back, and puts it in its place: `output` is the old file or the
    /// whole new one. Each entry is shown before it is packed.
    pub fn pack(&self, output: impl AsRef<Path>, each: &mut dyn FnMut(&CacheEntry)) -> Result<Packed, Error> {
        let output = output.as_ref();
        let temporary = output.with_file_name(temporary::fresh(&self.folder.host));
        let packed = self.write_pack(&temporary, each).and_then(|packed| {
            Pack::open(&temporary)?.check()?;
            fs::rename(&temporary, output).map_err(Error::file("write", output))?;
            Ok(packed)
        });
        if packed.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        packed
    }

    fn write_pack(&self, path: &Path, each: &mut dyn FnMut(&CacheEntry)) -> Result<Packed, Error> {
        let file = File::create_new(path).map_err(Error::file("write", path))?;
        let entries = self.entries()?;
        let (mut rows, mut offset) = (Vec::new(), HEADER + ROW * entries.len() as u64 + HASH);
        for entry in &entries {
            each(entry);
            let Ok(compiled) = self.check(entry) else { continue };
            let Some(content) = entry::encode(&entry.key, &compiled) else { continue };
            file.write_all_at(&content, offset).map_err(Error::file("write", path))?;
            rows.push(Row { key: entry.key, offset, bytes: content.len() as u64 });
            offset += content.len() as u64;
        }
        let mut header = Vec::from(MAGIC);
        header.extend(SCHEMA.to_le_bytes());
        header.extend((rows.len() as u64).to_le_bytes());
        let index: Vec<u8> = rows.iter().flat_map(Row::encode).collect();
        let hash = index_hash(&header, &index);
        let start = [header, index, hash.to_vec()].concat();
        file.write_all_at(&start, 0).and_then(|()| file.sync_all()).map_err(Error::file("write", path))?;
        let left_out = (entries.len() - rows.len()) as u64;
        Ok(Packed { entries: rows.len() as u64, bytes: offset, left_out })
    }
}
