//! A folder of files that is being written, until it takes its name.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use rustix::io::Errno;

use super::super::{
    files::{Files, Step, is_one_of},
    temporary,
};
use crate::Error;

/// A folder under a name of its own beside its later place, locked until it is published.
pub(super) struct TemporaryFolder {
    files: Files,
    parent: OwnedFd,
    folder: File,
    /// None when it is published.
    name: Mutex<Option<String>>,
    path: PathBuf,
}

impl TemporaryFolder {
    /// Makes the folder. Its later place must be free: nothing that is there is ever removed for it.
    pub(super) fn create(files: Files, path: &Path) -> Result<Self, Error> {
        let parent = temporary::place(&files, path)?;
        if std::fs::symlink_metadata(path).is_ok() {
            let error = io::Error::new(io::ErrorKind::AlreadyExists, "it exists; remove it, or choose another name");
            return Err(Step::Create.failed(path)(error));
        }
        let name = temporary::fresh();
        files.make_folder(&parent, &name).map_err(Step::MakeFolder.failed(path))?;
        let remove = |error| {
            // If this fails too, it goes when it is old.
            let _ = files.remove_folder(&parent, &name);
            error
        };
        let folder = files.open_in(&parent, &name).map_err(Step::Open.failed(path)).map_err(remove)?;
        if let Err(error) = files.lock(&folder) {
            tracing::debug!(path = %path.display(), %error, "a folder that is being written cannot be locked");
        }
        Ok(Self { files, parent, folder, name: Mutex::new(Some(name)), path: path.into() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The calls it makes, and where it is until it is published.
    pub(super) fn unpublished(&self) -> (Files, PathBuf) {
        let own = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        let place = own.as_ref().map_or_else(|| self.path.clone(), |name| self.path.with_file_name(name));
        (self.files.clone(), place)
    }

    /// Writes a file whole and has it reach the disk; an older one of that name is written over.
    pub(super) fn write(&self, name: &str, data: &[u8]) -> Result<(), Error> {
        let path = self.path.join(name);
        let full = |step: Step| {
            let path = path.clone();
            move |error: io::Error| match is_one_of(&error, &[Errno::NOSPC, Errno::DQUOT]) {
                true => Error::StorageFull { path, requested: data.len() as u64 },
                false => step.failed(&path)(error),
            }
        };
        let file = self.files.create_over(&self.folder, name).map_err(full(Step::Create))?;
        if !data.is_empty() {
            self.files.allocate(&file, data.len() as u64).map_err(full(Step::Allocate))?;
        }
        self.files.write(&file, data, 0).map_err(full(Step::Write))?;
        self.files.sync(&file).map_err(full(Step::Sync))
    }

    /// Gives the folder its name, in one step, and has that reach the disk. It fails if something has that name by now.
    pub(super) fn publish(&self) -> Result<(), Error> {
        let mut own = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(name), Some(target)) = (own.as_deref(), self.path.file_name()) else { return Ok(()) };
        self.files.sync(&self.folder).map_err(Step::Sync.failed(&self.path))?;
        self.files.rename(&self.parent, name, target).map_err(Step::Rename.failed(&self.path))?;
        *own = None;
        self.files.sync(&self.parent).map_err(Step::Sync.failed(&self.path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(name) = self.name.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let _ = self.files.remove_folder(&self.parent, name);
        }
    }
}
