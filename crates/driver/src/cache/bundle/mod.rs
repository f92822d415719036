//! Many kernels in one file that is only read: what is built ahead, to ship with a program.
//!
//! The file begins with an index, see `index.rs`; each kernel is an entry as a folder has it, with its own key and checksum,
//! packed with zstd by a dictionary of what the kernels have in common, see `dictionary.rs`.

mod codec;
mod dictionary;
mod index;
mod write;

use std::{
    fmt,
    fs::File,
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{Mode, OFlags};

use super::{KernelCache, Miss, entry};
use crate::{Compiled, Error, Key, Target, raw};
use codec::Unpacker;
use index::{Index, Row};

pub use write::BundleStatistics;

/// Writable by everybody.
const WORLD_WRITABLE: u32 = 0o002;

/// Kernels built ahead, in one file that is mapped and not read, or in the program itself. A clone is the same bundle.
///
/// Who names a bundle vouches for it: it is code. What is wrong with a kernel in it (a flipped byte, an entry of another version
/// of tilewright) only means that this kernel is looked for elsewhere.
///
/// Replace a bundle by renaming another over it, as [`write`](Self::write) does, and never by writing into it: who has it open keeps
/// the old one then. One that is cut off while it is open is noticed when a kernel is looked for; in the same moment it would end
/// the process (`SIGBUS`).
#[derive(Clone)]
pub struct Bundle(Arc<Inner>);

struct Inner {
    content: Content,
    index: Index,
    unpacker: Unpacker,
}

enum Content {
    Program(&'static [u8]),
    File { path: PathBuf, file: File, map: raw::Map },
}

/// What a [`Bundle`] says of one of its kernels, without unpacking it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleEntry {
    /// What it is the kernel of.
    pub key: Key,
    /// What it was compiled for.
    pub target: Target,
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// Bytes when unpacked, its metadata included.
    pub whole_bytes: u64,
}

impl Bundle {
    /// The first bytes of every bundle, of whatever format.
    pub const MAGIC: [u8; 8] = index::MAGIC;

    /// Opens a file: it is mapped, and its index checked. [`Error::Bundle`] says what is wrong with one that is no bundle, is cut
    /// off, damaged in its index, of a newer format, or writable by everybody.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::map(path).map_err(|reason| Error::Bundle { path: Some(path.into()), reason })
    }

    fn map(path: &Path) -> Result<Self, String> {
        // A pipe, which is none, must not keep this waiting.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty());
        let file = File::from(opened.map_err(|error| format!("{}; {BUILD}", io::Error::from(error)))?);
        let about = file.metadata().map_err(|error| error.to_string())?;
        if !about.is_file() {
            return Err(format!("it is no regular file; {BUILD}"));
        }
        if about.permissions().mode() & WORLD_WRITABLE != 0 {
            return Err("everybody can write it, and it is code; `chmod o-w` it".into());
        }
        let bytes = usize::try_from(about.len()).map_err(|_| "it is larger than the address space")?;
        if bytes == 0 {
            return Err(format!("it is empty; {BUILD}"));
        }
        let map = raw::Map::new(&file, bytes).map_err(|error| format!("it cannot be mapped: {error}"))?;
        let (index, unpacker) = read(map.bytes())?;
        Ok(Self(Arc::new(Inner { content: Content::File { path: path.into(), file, map }, index, unpacker })))
    }

    /// A bundle that is part of the program, see [`include_bundle!`](crate::include_bundle). It may lie at any address.
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, Error> {
        let (index, unpacker) = read(bytes).map_err(|reason| Error::Bundle { path: None, reason })?;
        Ok(Self(Arc::new(Inner { content: Content::Program(bytes), index, unpacker })))
    }

    /// Adds it to the process's cache, behind those that are there, see [`KernelCache::add_bundle`]. Before the first device is
    /// opened, please: a program whose cache is empty begins to load the compiler then.
    pub fn install(&self) {
        KernelCache::shared().add_bundle(self.clone());
    }

    /// Where it is; `None` for one that is part of the program.
    pub fn path(&self) -> Option<&Path> {
        match &self.0.content {
            Content::Program(_) => None,
            Content::File { path, .. } => Some(path),
        }
    }

    /// Kernels in it.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether it has no kernel.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.0.index.bytes
    }

    /// What its kernels are compiled for, each target once.
    pub fn targets(&self) -> &[Target] {
        &self.0.index.targets
    }

    /// What it has kernels of, rising.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Key> + '_ {
        self.entries().map(|entry| entry.key)
    }

    /// What it says of each kernel, by rising keys. None of a file that was cut off since it was opened.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = BundleEntry> + '_ {
        // Collected, so that nothing is read from the file later, when it can be another.
        let entries: Vec<_> = self.rows().iter().map(|row| self.entry_of(row)).collect();
        entries.into_iter()
    }

    /// What it says of one kernel.
    pub fn entry(&self, key: &Key) -> Option<BundleEntry> {
        self.0.index.row(self.content().ok()?, key).map(|row| self.entry_of(&row))
    }

    /// The kernel of this key, if the bundle has it and each of its bytes is as it was written.
    pub fn get(&self, key: &Key) -> Option<Compiled> {
        self.read(key).ok()
    }

    /// Checks every entry. [`Error::Bundle`] names the first that is not as it was written, and what is wrong with it.
    pub fn check(&self) -> Result<(), Error> {
        let mut first = None;
        self.survey(&mut |entry, checked| {
            if let Err(reason) = checked {
                first.get_or_insert_with(|| format!("{} ({}): {reason}; {REBUILD}", entry.key, entry.target));
            }
        })?;
        first.map_or(Ok(()), |reason| Err(self.error(reason)))
    }

    /// Shows every entry, with its kernel or with what is wrong.
    pub fn survey(&self, each: &mut dyn FnMut(&BundleEntry, Result<Compiled, String>)) -> Result<(), Error> {
        let content = self.content().map_err(|miss| self.error(format!("{miss}; {REBUILD}")))?;
        for row in self.rows() {
            each(&self.entry_of(&row), self.checked(content, &row));
        }
        Ok(())
    }

    fn checked(&self, content: &[u8], row: &Row) -> Result<Compiled, String> {
        let compiled = self.decode(content, row).map_err(|miss| miss.to_string())?;
        match index::digest(&compiled.image) == row.digest && compiled.built_for() == self.entry_of(row).target {
            true => Ok(compiled),
            false => Err("its entry and the index say different things".into()),
        }
    }

    /// The keys under which two bundles have different code, as after a build with another compiler.
    pub fn conflicts(&self, other: &Bundle) -> Vec<Key> {
        let (mine, others) = (self.rows(), other.rows());
        let differs = |row: &&Row| {
            let at = others.binary_search_by_key(&row.key, |other| other.key);
            at.is_ok_and(|at| others[at].digest != row.digest)
        };
        mine.iter().filter(differs).map(|row| row.key).collect()
    }

    /// Look-up is a binary search where the index lies.
    pub(super) fn read(&self, key: &Key) -> Result<Compiled, Miss> {
        let content = self.content()?;
        self.decode(content, &self.0.index.row(content, key).ok_or(Miss::Absent)?)
    }

    fn decode(&self, content: &[u8], row: &Row) -> Result<Compiled, Miss> {
        let begin = usize::try_from(row.offset).map_err(|_| entry::CUT)?;
        let stored = content.get(begin..).and_then(|rest| rest.get(..row.stored as usize)).ok_or(entry::CUT)?;
        let whole = self.0.unpacker.unpack(row.codec, stored, row.whole as usize);
        Ok(entry::decode(&row.key, &whole.ok_or("it is damaged: it cannot be unpacked")?)?)
    }

    /// All of it, unless the file has become shorter since it was opened.
    fn content(&self) -> Result<&[u8], Miss> {
        match &self.0.content {
            Content::Program(bytes) => Ok(bytes),
            Content::File { file, map, .. } if file.metadata()?.len() >= map.bytes().len() as u64 => Ok(map.bytes()),
            Content::File { .. } => Err("it was cut off since it was opened".into()),
        }
    }

    fn rows(&self) -> Vec<Row> {
        let content = self.content().unwrap_or_default();
        let rows = self.0.index.rows(content).iter().filter_map(Row::decode);
        rows.filter(|row| self.0.index.fits(row)).collect()
    }

    fn entry_of(&self, row: &Row) -> BundleEntry {
        let target = self.0.index.targets[usize::from(row.target)];
        BundleEntry { key: row.key, target, stored_bytes: row.stored.into(), whole_bytes: row.whole.into() }
    }

    fn error(&self, reason: String) -> Error {
        Error::Bundle { path: self.path().map(Path::to_owned), reason }
    }
}

const BUILD: &str = "make one with `cargo xtask build-ptx` or `cargo xtask cache pack`";
const REBUILD: &str = "copy it again, or build it anew";

/// The index, and what unpacks its entries.
fn read(content: &[u8]) -> Result<(Index, Unpacker), String> {
    let index = Index::read(content)?;
    let unpacker = Unpacker::new(index.dictionary(content)).ok_or(index::FORGED)?;
    Ok((index, unpacker))
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").field("path", &self.path()).field("bytes", &self.bytes()).finish()
    }
}

/// A bundle that becomes part of the program: `include_bundle!("kernels.twb")?.install()`. The path is as in [`include_bytes!`],
/// beside the file that names it. Gives what [`Bundle::from_static`] gives.
#[macro_export]
macro_rules! include_bundle {
    ($path:expr) => {
        $crate::Bundle::from_static(include_bytes!($path))
    };
}
