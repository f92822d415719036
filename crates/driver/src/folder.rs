use std::{
    env,
    fs::{DirBuilder, File, TryLockError},
    io::{self, Write},
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, FileExt},
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::temporary;

/// `$XDG_CACHE_HOME/tilewright`, else `~/.cache/tilewright`.
pub(crate) fn cache_home() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(base.join("tilewright"))
}

/// A folder that only this user can write. Files are reached through its descriptor, so it cannot be swapped for another.
pub(crate) struct Folder {
    path: PathBuf,
    descriptor: OwnedFd,
    /// The machine's name, for those of temporary files.
    pub(crate) host: String,
    /// Asked before each step, in tests: an error is what the step ends with.
    #[cfg(test)]
    pub(crate) fault: Option<Fault>,
}

#[cfg(test)]
pub(crate) type Fault = Box<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// What is asked of the file system. Each step can fail, at any time and with any error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Open,
    Stat,
    Read,
    Touch,
    Create,
    Write,
    Sync,
    Rename,
    Remove,
    List,
    Lock,
}

/// A regular file, open for reading.
pub(crate) struct Opened {
    file: File,
    bytes: u64,
    modified: SystemTime,
}

impl Opened {
    /// How long ago it was written or touched; `None` for a file from the future, where some clock is wrong.
    pub(crate) fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.modified).ok()
    }
}

/// What tells one state of a file from a later one under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    identity: (u64, u64),
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
    pub(crate) regular: bool,
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        // Before 1970 a clock is wrong, and how wrong does not matter.
        let seconds = Duration::new(u64::try_from(stat.st_mtime).unwrap_or(0), stat.st_mtime_nsec as u32);
        Self {
            identity: (stat.st_dev, stat.st_ino),
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: SystemTime::UNIX_EPOCH.checked_add(seconds).unwrap_or(SystemTime::UNIX_EPOCH),
            regular: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
        }
    }
}

impl Folder {
    /// Opens the folder, made with mode 0700 if it is missing. Refused, with the reason: a symlink, another user's, or one that
    /// group or world can write.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if let Some(parent) = path.parent() {
            let mut builder = DirBuilder::new();
            builder
                .recursive(true)
                .mode(0o700)
                .create(parent)
                .map_err(|error| format!("{}: {error}", parent.display()))?;
        }
        match rustix::fs::mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(format!("cannot make it: {error}")),
        }
        Self::open_existing(path)
    }

    pub(crate) fn open_existing(path: &Path) -> Result<Self, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => "it is a symlink or no folder".to_owned(),
            error => error.to_string(),
        })?;
        let stat = rustix::fs::fstat(&descriptor).map_err(|error| error.to_string())?;
        let user = rustix::process::geteuid().as_raw();
        if stat.st_uid != user {
            return Err(format!("it belongs to user {}, not to user {user}", stat.st_uid));
        }
        let mode = stat.st_mode & 0o777;
        if mode & 0o022 != 0 {
            return Err(format!("others can write it (mode {mode:03o}); `chmod go-w` it"));
        }
        Ok(Self {
            path: path.into(),
            descriptor,
            host: temporary::this_host(),
            #[cfg(test)]
            fault: None,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(test)]
    fn step(&self, step: Step) -> io::Result<()> {
        self.fault.as_ref().map_or(Ok(()), |fault| fault(step))
    }

    #[cfg(not(test))]
    fn step(&self, _: Step) -> io::Result<()> {
        Ok(())
    }

    /// The names of all files, but for those that are no text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        self.step(Step::List)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            names.extend(entry.file_name().to_str().ok().filter(|name| ![".", ".."].contains(name)).map(str::to_owned));
        }
        Ok(names)
    }

    /// The state of a file; of a symlink itself, not of what it points to.
    pub(crate) fn stamp(&self, name: &str) -> io::Result<Stamp> {
        self.step(Step::Stat)?;
        Ok(Stamp::of(&rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Opens a regular file of at most `limit` bytes.
    pub(crate) fn open_file(&self, name: &str, limit: u64) -> io::Result<Opened> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        self.step(Step::Open)?;
        let file = File::from(rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())?);
        self.step(Step::Stat)?;
        let about = file.metadata()?;
        if !about.is_file() || about.len() > limit {
            return Err(io::Error::other(format!("no regular file of at most {limit} bytes")));
        }
        Ok(Opened { bytes: about.len(), modified: about.modified()?, file })
    }

    /// All of it. A file that was cut since it was opened is an error.
    pub(crate) fn read(&self, opened: &Opened) -> io::Result<Vec<u8>> {
        self.step(Step::Read)?;
        let mut content = vec![0; opened.bytes as usize];
        opened.file.read_exact_at(&mut content, 0)?;
        Ok(content)
    }

    /// Makes now its time of change.
    pub(crate) fn touch(&self, opened: &Opened) -> io::Result<()> {
        self.step(Step::Touch)?;
        opened.file.set_modified(SystemTime::now())
    }

    /// Writes a file under a name of its own and renames it into place: readers see the old file or the whole new one.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = temporary::fresh(&self.host);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.step(Step::Create)?;
        let file = rustix::fs::openat(&self.descriptor, &temporary, flags, Mode::RUSR | Mode::WUSR)?;
        let written = self.fill(File::from(file), content).and_then(|()| self.rename(&temporary, name));
        if written.is_err() {
            // If this fails too, the file goes when it is old.
            let _ = self.remove(&temporary);
        }
        written
    }

    fn fill(&self, mut file: File, content: &[u8]) -> io::Result<()> {
        self.step(Step::Write)?;
        file.write_all(content)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.step(Step::Rename)?;
        Ok(rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.step(Step::Remove)?;
        Ok(rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    /// Removes a file if it is still as it was seen, and says whether it was.
    pub(crate) fn remove_if(&self, name: &str, seen: &Stamp) -> io::Result<bool> {
        if self.stamp(name)? != *seen {
            return Ok(false);
        }
        self.remove(name).map(|()| true)
    }

    /// The lock on a file, which is made if it is missing and never removed; `None` while another holds it. Where the file system
    /// has no locks this is as if nobody did.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Option<Locked>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.step(Step::Lock)?;
        let file = File::from(rustix::fs::openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)?);
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Locked(file))),
        }
    }
}

/// A file whose lock is held until this is dropped.
///
/// A child of this process that was forked meanwhile has the file open too until it runs its program, and would hold the lock for as
/// long: so it is given back, and not left to the closing of the file.
pub(crate) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
