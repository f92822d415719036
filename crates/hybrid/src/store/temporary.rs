//! A file that is being written, until it takes its name.

use std::{
    collections::hash_map::RandomState,
    ffi::OsStr,
    fs::File,
    hash::BuildHasher,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::io::Errno;

use super::files::{Files, Step, is_one_of};
use crate::Error;

/// What has been there for so long, and is locked by nobody, was left by a process that was killed.
const STALE: Duration = Duration::from_secs(60);

/// A file of a given size in the folder of its later name. Where the file system can it has no name, so that nothing is left of it
/// when the process is killed; else a name of its own, under a lock.
pub(super) struct Temporary {
    pub(super) files: Files,
    folder: OwnedFd,
    pub(super) file: File,
    name: Option<String>,
    path: PathBuf,
}

impl Temporary {
    /// Makes the file and reserves all of its room: [`Error::StorageFull`] where there is too little.
    pub(super) fn create(files: Files, path: &Path, bytes: u64) -> Result<Self, Error> {
        let folder = place(&files, path)?;
        let (file, name) = create(&files, &folder).map_err(Step::Create.failed(path))?;
        let temporary = Self { files, folder, file, name, path: path.into() };
        // Without locks there is nobody who would take the file for one that was left: it is not old, or cannot be locked either.
        if let Err(error) = temporary.files.lock(&temporary.file) {
            tracing::debug!(path = %path.display(), %error, "a file that is being written cannot be locked");
        }
        if bytes > 0 {
            let reserved = temporary.files.allocate(&temporary.file, bytes);
            reserved.map_err(|error| temporary.explain(Step::Allocate, bytes, error))?;
        }
        Ok(temporary)
    }

    /// The later name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&self, data: &[u8], offset: u64) -> Result<(), Error> {
        let written = self.files.write(&self.file, data, offset);
        written.map_err(|error| self.explain(Step::Write, data.len() as u64, error))
    }

    /// Has everything reach the disk, then gives the file its name, in one step, then has that reach the disk.
    pub(super) fn publish(mut self) -> Result<(), Error> {
        let target = self.path.file_name().unwrap_or(OsStr::new("")).to_owned();
        self.files.sync(&self.file).map_err(Step::Sync.failed(&self.path))?;
        let name = match self.name.clone() {
            Some(name) => name,
            None => {
                let name = fresh();
                self.files.link(&self.file, &self.folder, &name).map_err(Step::Link.failed(&self.path))?;
                self.name.insert(name).clone()
            }
        };
        self.files.rename(&self.folder, &name, &target).map_err(Step::Rename.failed(&self.path))?;
        self.name = None;
        self.files.sync(&self.folder).map_err(Step::Sync.failed(&self.path))
    }

    fn explain(&self, step: Step, requested: u64, error: io::Error) -> Error {
        if is_one_of(&error, &[Errno::NOSPC, Errno::DQUOT]) {
            return Error::StorageFull { path: self.path.clone(), requested };
        }
        if step == Step::Allocate && is_one_of(&error, &[Errno::OPNOTSUPP, Errno::NOSYS]) {
            let what = "this file system cannot reserve room for a file; choose a folder on another";
            return step.failed(&self.path)(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        step.failed(&self.path)(error)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // If this fails too, it goes when it is old.
            let _ = self.files.remove(&self.folder, name);
        }
    }
}

/// Replaces a small file, whole or not at all.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    let temporary = Temporary::create(Files::default(), path, content.len() as u64)?;
    temporary.write(content, 0)?;
    temporary.publish()
}

/// Opens the folder that a path is to be made in, cleaned of what killed processes left. [`Error::Io`] for a path that ends in no name.
pub(super) fn place(files: &Files, path: &Path) -> Result<OwnedFd, Error> {
    if path.file_name().is_none() {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "name a file, not a folder");
        return Err(Step::Create.failed(path)(error));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = files.open_folder(parent).map_err(Step::Open.failed(parent))?;
    sweep(files, &folder);
    Ok(folder)
}

fn create(files: &Files, folder: &OwnedFd) -> io::Result<(File, Option<String>)> {
    if let Some(file) = files.create_unnamed(folder)? {
        return Ok((file, None));
    }
    let name = fresh();
    Ok((files.create(folder, &name)?, Some(name)))
}

const BEGINNING: &str = ".tilewright-";
const ENDING: &str = ".part";

/// A name that no other writer takes: with the process's number, and a random one for what counts processes alike.
pub(super) fn fresh() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{BEGINNING}{}-{random:016x}{ENDING}", std::process::id())
}

/// Removes what killed processes left. That it cannot is no reason not to write.
fn sweep(files: &Files, folder: &OwnedFd) {
    let names = files.names(folder).unwrap_or_default();
    for name in names.iter().filter(|name| name.starts_with(BEGINNING) && name.ends_with(ENDING)) {
        let left = || -> io::Result<bool> {
            let file = files.open_in(folder, name)?;
            let modified = file.metadata()?.modified()?;
            let old = SystemTime::now().duration_since(modified).is_ok_and(|age| age > STALE);
            Ok(old && files.lock(&file).is_ok())
        };
        if left().unwrap_or(false) {
            let removed = files.remove(folder, name);
            if removed.is_err_and(|error| is_one_of(&error, &[Errno::ISDIR])) {
                let _ = files.remove_folder(folder, name);
            }
            tracing::info!(name, "removed what a killed process left");
        }
    }
}
