//! All calls on files. Each is a [`Step`], which tests have fail.

use std::{
    fs::File,
    io,
    num::NonZeroU64,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::FileExt,
    },
    path::Path,
    sync::Arc,
};

use rustix::{
    fs::{Advice, AtFlags, Dir, FallocateFlags, Mode, OFlags},
    io::{Errno, retry_on_intr},
};

use crate::Error;

/// What is asked of the file system. Each step can fail, at any time and with any error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Open,
    Stat,
    Read,
    Advise,
    CreateUnnamed,
    Create,
    #[cfg(feature = "zarr")]
    MakeFolder,
    Lock,
    Allocate,
    Write,
    Sync,
    Link,
    Rename,
    Remove,
    List,
}

impl Step {
    fn call(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Stat => "fstat",
            Self::Read => "pread",
            Self::Advise => "posix_fadvise",
            Self::CreateUnnamed | Self::Create => "create",
            #[cfg(feature = "zarr")]
            Self::MakeFolder => "mkdirat",
            Self::Lock => "flock",
            Self::Allocate => "fallocate",
            Self::Write => "pwrite",
            Self::Sync => "fsync",
            Self::Link => "linkat",
            Self::Rename => "renameat",
            Self::Remove => "unlinkat",
            Self::List => "getdents",
        }
    }

    /// The error of a step on a file.
    pub(super) fn failed(self, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::Io { path: path.into(), call: self.call(), error: Arc::new(error) }
    }
}

#[cfg(test)]
pub(super) type Fault = Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// The calls of one source or sink.
#[derive(Clone, Default)]
pub(super) struct Files {
    /// Asked before each step, in tests: an error is what the step ends with.
    #[cfg(test)]
    pub(super) fault: Option<Fault>,
}

/// Files are as readable as the user's umask says.
const MODE: Mode = Mode::from_raw_mode(0o666);

impl Files {
    #[cfg(test)]
    fn step(&self, step: Step) -> io::Result<()> {
        self.fault.as_ref().map_or(Ok(()), |fault| fault(step))
    }

    #[cfg(not(test))]
    fn step(&self, _: Step) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn open_folder(&self, path: &Path) -> io::Result<OwnedFd> {
        self.step(Step::Open)?;
        Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// A regular file for reading. Anything else would block, or have no end.
    pub(super) fn open(&self, path: &Path) -> io::Result<File> {
        self.step(Step::Open)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    }

    pub(super) fn bytes(&self, file: &File) -> io::Result<u64> {
        self.step(Step::Stat)?;
        Ok(file.metadata()?.len())
    }

    pub(super) fn read(&self, file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
        self.step(Step::Read)?;
        file.read_exact_at(out, offset)
    }

    /// A hint about a range of a file; of nothing, none.
    pub(super) fn advise(&self, file: &File, offset: u64, bytes: u64, advice: Advice) -> io::Result<()> {
        let Some(bytes) = NonZeroU64::new(bytes) else { return Ok(()) };
        self.step(Step::Advise)?;
        Ok(rustix::fs::fadvise(file, offset, Some(bytes), advice)?)
    }

    /// Whether the system has a byte of a file in memory; where it does not tell, no.
    pub(super) fn is_cached(&self, file: &File, offset: u64) -> bool {
        let mut byte = [0];
        let mut bytes = [io::IoSliceMut::new(&mut byte)];
        rustix::io::preadv2(file, &mut bytes, offset, rustix::io::ReadWriteFlags::NOWAIT).is_ok_and(|read| read == 1)
    }

    /// A file without a name, which vanishes with the process; `None` on file systems that have none.
    pub(super) fn create_unnamed(&self, folder: &OwnedFd) -> io::Result<Option<File>> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let created = self.step(Step::CreateUnnamed).and_then(|()| Ok(rustix::fs::openat(folder, ".", flags, MODE)?));
        match created {
            Ok(file) => Ok(Some(file.into())),
            Err(error) if is_one_of(&error, &[Errno::OPNOTSUPP, Errno::ISDIR, Errno::INVAL]) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn create(&self, folder: &OwnedFd, name: &str) -> io::Result<File> {
        self.step(Step::Create)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(folder, name, flags, MODE)?.into())
    }

    /// A file for writing; one that is there is emptied.
    #[cfg(feature = "zarr")]
    pub(super) fn create_over(&self, folder: impl AsFd, name: &str) -> io::Result<File> {
        self.step(Step::Create)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(folder, name, flags, MODE)?.into())
    }

    #[cfg(feature = "zarr")]
    pub(super) fn make_folder(&self, parent: &OwnedFd, name: &str) -> io::Result<()> {
        self.step(Step::MakeFolder)?;
        Ok(rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777))?)
    }

    /// Removes a folder of files; one with folders in it stays.
    pub(super) fn remove_folder(&self, parent: &OwnedFd, name: &str) -> io::Result<()> {
        let folder = OwnedFd::from(self.open_in(parent, name)?);
        for file in self.names(&folder)?.iter().filter(|name| ![".", ".."].contains(&name.as_str())) {
            self.remove(&folder, file)?;
        }
        self.step(Step::Remove)?;
        Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
    }

    /// Whether the lock on a file could be had; it ends with the file.
    pub(super) fn lock(&self, file: &File) -> io::Result<()> {
        self.step(Step::Lock)?;
        Ok(file.try_lock()?)
    }

    /// Reserves all of a file's room. There is no other way to its length: what is not reserved may be missing when it is needed.
    pub(super) fn allocate(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.step(Step::Allocate)?;
        Ok(retry_on_intr(|| rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes))?)
    }

    pub(super) fn write(&self, file: &File, data: &[u8], offset: u64) -> io::Result<()> {
        self.step(Step::Write)?;
        file.write_all_at(data, offset)
    }

    /// Has a file, or what a folder lists, reach the disk.
    pub(super) fn sync(&self, file: impl AsFd) -> io::Result<()> {
        self.step(Step::Sync)?;
        Ok(retry_on_intr(|| rustix::fs::fsync(&file))?)
    }

    /// Gives a file without a name one.
    pub(super) fn link(&self, file: &File, folder: &OwnedFd, name: &str) -> io::Result<()> {
        self.step(Step::Link)?;
        let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(rustix::fs::linkat(rustix::fs::CWD, itself, folder, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    pub(super) fn rename(&self, folder: &OwnedFd, from: &str, to: impl rustix::path::Arg) -> io::Result<()> {
        self.step(Step::Rename)?;
        Ok(rustix::fs::renameat(folder, from, folder, to)?)
    }

    pub(super) fn remove(&self, folder: &OwnedFd, name: &str) -> io::Result<()> {
        self.step(Step::Remove)?;
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
    }

    /// The names of all files, but for those that are no text.
    pub(super) fn names(&self, folder: &OwnedFd) -> io::Result<Vec<String>> {
        self.step(Step::List)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    /// A file that is looked at and not used.
    pub(super) fn open_in(&self, folder: &OwnedFd, name: &str) -> io::Result<File> {
        self.step(Step::Open)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?.into())
    }
}

/// Whether an error is one of these answers of the system.
pub(super) fn is_one_of(error: &io::Error, answers: &[Errno]) -> bool {
    Errno::from_io_error(error).is_some_and(|errno| answers.contains(&errno))
}
