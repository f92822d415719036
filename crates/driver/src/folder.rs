use std::{
    env,
    ffi::CStr,
    fs::{DirBuilder, File},
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

/// `$XDG_CACHE_HOME/tilewright`, else `~/.cache/tilewright`.
pub(crate) fn cache_home() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(base.join("tilewright"))
}

/// A folder that only this user can write. Files are reached through its descriptor, so it cannot be swapped for another.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    descriptor: OwnedFd,
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
        Ok(Self { path: path.into(), descriptor })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it holds nothing; also when that cannot be told.
    pub(crate) fn is_empty(&self) -> bool {
        let Ok(entries) = Dir::read_from(&self.descriptor) else { return true };
        let own = |name: &CStr| name == c"." || name == c"..";
        entries.filter_map(Result::ok).all(|entry| own(entry.file_name()))
    }

    /// The content of a regular file of at most `limit` bytes. Anything else is `None`.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        let size = u64::try_from(stat.st_size).ok().filter(|size| *size <= limit)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let mut content = Vec::with_capacity(size as usize + 1);
        File::from(file).take(limit).read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// Writes a file under a name of its own and renames it into place: readers see the old file or the whole new one.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let temporary = format!(".{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let create = || rustix::fs::openat(&self.descriptor, &temporary, flags, Mode::RUSR | Mode::WUSR);
        let file = create().or_else(|error| {
            // The name can be left over from a killed process that had the same number.
            if error == Errno::EXIST {
                self.remove(&temporary);
            }
            create()
        })?;
        let written = File::from(file)
            .write_all(content)
            .and_then(|()| Ok(rustix::fs::renameat(&self.descriptor, &temporary, &self.descriptor, name)?));
        if written.is_err() {
            self.remove(&temporary);
        }
        written
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty());
    }
}
