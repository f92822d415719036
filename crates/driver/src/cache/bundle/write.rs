//! Writing a bundle: a whole new one, or the old one stays.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::{self, File, OpenOptions},
    io::{self, Write},
    num::NonZero,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, SystemTime},
};

use super::{
    Bundle,
    codec::{Codec, Packer, Worker},
    dictionary,
    index::{self, Row},
};
use crate::{Compiled, Error, Key, Target, cache::entry, folder::Step, temporary};

/// A file that has been written for this long is not being written any more.
const STALE: Duration = Duration::from_secs(3600);

/// What [`Bundle::write`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleStatistics {
    /// Kernels in it.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
}

/// Asked before each step on the file system: an error is what the step ends with.
pub(in crate::cache) type Steps<'a> = &'a dyn Fn(Step) -> io::Result<()>;

impl Bundle {
    /// Writes kernels into one file, in any order; the same kernels give the same file. It is written under another name, reads back
    /// and is checked, and then renamed: `path` is the old file or the whole new one, also when this process is killed. What
    /// killed ones left of this file goes when it is an hour old.
    ///
    /// One kernel twice is there once; two kernels under one key are [`Error::Bundle`], a folder that is not there or not to be
    /// written [`Error::File`].
    pub fn write(
        path: impl AsRef<Path>,
        entries: impl IntoIterator<Item = (Key, Compiled)>,
    ) -> Result<BundleStatistics, Error> {
        Self::write_in(path.as_ref(), entries, &|_| Ok(()))
    }

    pub(in crate::cache) fn write_in(
        path: &Path,
        entries: impl IntoIterator<Item = (Key, Compiled)>,
        step: Steps<'_>,
    ) -> Result<BundleStatistics, Error> {
        let refused = |reason| Error::Bundle { path: Some(path.into()), reason };
        let name = path.file_name().ok_or_else(|| refused("it has no name; name a file".into()))?;
        let packed = packed(entries).map_err(refused)?;
        sweep(path, &|file| temporary::is_beside(file, name), step);
        let temporary = path.with_file_name(temporary::beside(name));
        let failed = |error: io::Error| {
            let reason = format!("{error}; name a file in a folder that is there, has room and can be written");
            Error::File { doing: "write", path: path.into(), reason }
        };
        let written = written(&temporary, &packed, step).map_err(failed).and_then(|statistics| {
            step(Step::Read).map_err(failed)?;
            Self::open(&temporary).and_then(|new| new.check()).map_err(|error| refused(error.to_string()))?;
            step(Step::Rename).and_then(|()| fs::rename(&temporary, path)).map_err(failed)?;
            Ok(statistics)
        });
        match written {
            // The name reaches the disk with the folder; where folders cannot be synchronised, it does when the system wants.
            Ok(_) => drop(File::open(parent(path)).and_then(|folder| folder.sync_all())),
            // If this fails too, the file goes when it is old.
            Err(_) => drop(step(Step::Remove).and_then(|()| fs::remove_file(&temporary))),
        }
        written
    }
}

/// Kernels, ready to be written.
struct Packed {
    dictionary: Vec<u8>,
    kernels: BTreeMap<Key, Kernel>,
}

/// One of them; its content is the entry, and then that packed.
struct Kernel {
    digest: [u8; 16],
    target: Target,
    whole: u32,
    codec: Codec,
    content: Vec<u8>,
}

fn packed(entries: impl IntoIterator<Item = (Key, Compiled)>) -> Result<Packed, String> {
    let mut kernels = BTreeMap::new();
    for (key, compiled) in entries {
        let digest = index::digest(&compiled.image);
        match kernels.entry(key) {
            Entry::Occupied(old) if Kernel::is(old.get(), digest, compiled.built_for()) => {}
            Entry::Occupied(_) => {
                return Err(format!("{key} ({}) has two kernels that differ; leave one out", compiled.name));
            }
            Entry::Vacant(free) => {
                free.insert(Kernel::new(&key, &compiled, digest).ok_or_else(|| {
                    format!("{} has {} bytes, the limit is {}", compiled.name, compiled.image.len(), entry::LIMIT)
                })?);
            }
        }
    }
    let contents: Vec<&[u8]> = kernels.values().map(|kernel| kernel.content.as_slice()).collect();
    let dictionary = dictionary::of(&contents);
    let packer = Packer::new(&dictionary).ok_or("there is no memory for its dictionary")?;
    let queue = Mutex::new(kernels.values_mut());
    let work = || {
        let mut worker = packer.worker();
        while let Some(kernel) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            kernel.pack(&mut worker);
        }
    };
    thread::scope(|scope| {
        for _ in 1..thread::available_parallelism().map_or(1, NonZero::get) {
            // What no thread can be had for is this one's.
            drop(thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    Ok(Packed { dictionary, kernels })
}

impl Kernel {
    fn new(key: &Key, compiled: &Compiled, digest: [u8; 16]) -> Option<Self> {
        let content = entry::encode(key, compiled).filter(|content| content.len() as u64 <= entry::LIMIT)?;
        let whole = u32::try_from(content.len()).ok()?;
        Some(Self { digest, target: compiled.built_for(), whole, codec: Codec::Stored, content })
    }

    fn is(&self, digest: [u8; 16], target: Target) -> bool {
        (self.digest, self.target) == (digest, target)
    }

    fn pack(&mut self, packer: &mut Worker<'_>) {
        (self.codec, self.content) = packer.pack(&self.content);
    }
}

/// Writes all of it to a new file, down to the disk.
fn written(path: &Path, packed: &Packed, step: Steps<'_>) -> io::Result<BundleStatistics> {
    let Packed { dictionary, kernels } = packed;
    let mut targets: Vec<Target> = Vec::new();
    let mut row = |(key, kernel): (&Key, &Kernel)| {
        let known = targets.iter().position(|target| *target == kernel.target);
        let target = u16::try_from(known.unwrap_or(targets.len())).map_err(|_| io::Error::other("too many targets"))?;
        if known.is_none() {
            targets.push(kernel.target);
        }
        let (digest, codec, stored) = (kernel.digest, kernel.codec, kernel.content.len() as u32);
        Ok(Row { key: *key, digest, offset: 0, stored, whole: kernel.whole, target, codec })
    };
    let mut rows = kernels.iter().map(&mut row).collect::<io::Result<Vec<Row>>>()?;
    let (index, bytes) = index::encode(&targets, &mut rows, dictionary);
    step(Step::Create)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    for part in std::iter::once(&index).chain(kernels.values().map(|kernel| &kernel.content)) {
        step(Step::Write)?;
        file.write_all(part)?;
    }
    step(Step::Sync)?;
    file.sync_all()?;
    Ok(BundleStatistics { entries: rows.len() as u64, bytes })
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what writers of this file left that were killed long ago.
fn sweep(path: &Path, ours: &dyn Fn(&str) -> bool, step: Steps<'_>) {
    let Ok(names) = step(Step::List).and_then(|()| fs::read_dir(parent(path))) else { return };
    for entry in names.flatten().filter(|entry| entry.file_name().to_str().is_some_and(ours)) {
        let old = |about: &fs::Metadata| {
            let age = about.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
            about.is_file() && age.is_some_and(|age| age > STALE)
        };
        if entry.metadata().is_ok_and(|about| old(&about)) {
            let _ = step(Step::Remove).and_then(|()| fs::remove_file(entry.path()));
        }
    }
}
