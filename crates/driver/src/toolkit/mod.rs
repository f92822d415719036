//! NVRTC, the run-time compiler: found on the machine, or fetched.

mod install;
pub(crate) mod places;
mod wheel;

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

pub use install::{install, package};
pub use wheel::{Progress, Stage, Wheel};

use crate::{
    Error,
    ending::{Running, wait_for_compilations},
    libcuda,
    once::Once,
    raw,
};

/// The oldest version that compiles every emitted kernel: 12.0 takes no parameter block above 4 KB.
const OLDEST: (i32, i32) = (12, 1);

/// NVRTC, loaded.
pub struct Nvrtc {
    pub(crate) raw: raw::Compiler,
    pub(crate) version: (i32, i32),
    path: PathBuf,
}

impl Nvrtc {
    /// (major, minor), such as (13, 0).
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The library's file, or its bare name if the system's loader found it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NVRTC {}.{} at {}", self.version.0, self.version.1, self.path.display())
    }
}

/// NVRTC, looked for until it is found once, then kept for the life of the process.
///
/// The places, in order: `TILEWRIGHT_CUDA` (a folder, its `lib64` or `lib`, or the library itself), the folder that
/// [`install`] fills, `CUDA_HOME` and `CUDA_PATH`, Python's site-packages, the system's loader, and what `python3` says about
/// further site-packages. A library newer than the driver can serve is passed over; without a driver any will do.
///
/// Nothing found is [`Error::NoNvrtc`], with every place tried. It is looked for again when a variable of the environment or the folder that
/// [`install`] fills has changed, and not before.
pub fn nvrtc() -> Result<&'static Nvrtc, Error> {
    static LOADED: Once<Nvrtc> = Once::new();
    let search = || {
        ATTEMPTED.store(true, Ordering::Relaxed);
        tracing::debug!(target: "tilewright_driver", "looking for NVRTC");
        let nvrtc = search()?;
        tracing::debug!(?nvrtc, "NVRTC loaded");
        Ok(nvrtc)
    };
    LOADED.find(search).map_err(|tried| Error::NoNvrtc { tried })
}

static ATTEMPTED: AtomicBool = AtomicBool::new(false);

/// Whether this process has looked for NVRTC, found or not. One that finds all its kernels in bundles or on the disk does not; each
/// attempt is also told as an event of level debug with the target `tilewright_driver`.
pub fn attempted() -> bool {
    ATTEMPTED.load(Ordering::Relaxed)
}

/// Begins to look for NVRTC and to load it, on a thread of its own: 10 ms that a first compilation then need not wait for.
/// Whether it is found is told by [`nvrtc`].
pub fn load_ahead() {
    wait_for_compilations();
    let load = || drop(Running::begin().map(|_running| nvrtc()));
    if let Err(error) = std::thread::Builder::new().name("tilewright-nvrtc".into()).spawn(load) {
        tracing::debug!(%error, "NVRTC is not loaded ahead");
    }
}

/// The newest major version that the driver serves.
fn newest_served() -> i32 {
    libcuda::driver_version().map_or(i32::MAX, |(major, _)| major)
}

fn search() -> Result<Nvrtc, Vec<String>> {
    let newest = newest_served();
    let mut tried = Vec::new();
    for place in places::all(&places::NVRTC) {
        let found = match &place {
            places::Place::Folder { source, path } => {
                in_folder(path, newest).map_err(|e| format!("{source} {}: {e}", path.display()))
            }
            places::Place::File { source, path } => {
                load(path, newest).map_err(|e| format!("{source} {}: {e}", path.display()))
            }
            places::Place::Absent { source, reason } => Err(format!("{source}: {reason}")),
        };
        match found {
            Ok(nvrtc) => return Ok(nvrtc),
            Err(reason) => tried.push(reason),
        }
    }
    Err(tried)
}

/// The newest library in a folder that the driver serves.
fn in_folder(folder: &Path, newest: i32) -> Result<Nvrtc, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut majors: Vec<(i32, String)> = files.filter_map(|name| Some((major_of(&name)?, name))).collect();
    majors.sort();
    let mut reason = "no libnvrtc.so.<version> here".to_owned();
    while let Some((_, name)) = majors.pop() {
        match load(&folder.join(name), newest) {
            Ok(nvrtc) => return Ok(nvrtc),
            Err(error) => reason = error,
        }
    }
    Err(reason)
}

/// 13 in `libnvrtc.so.13` and `libnvrtc.so.13.0.88`.
fn major_of(name: &str) -> Option<i32> {
    name.strip_prefix("libnvrtc.so.")?.split('.').next()?.parse().ok()
}

fn load(file: &Path, newest: i32) -> Result<Nvrtc, String> {
    // By its real name, which tells the version even when the path is a bare `libnvrtc.so`.
    let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
    let named = real.file_name().and_then(OsStr::to_str).and_then(major_of);
    let too_new = |major| format!("version {major} is newer than the driver, which serves CUDA {newest}");
    if let Some(major) = named.filter(|major| *major > newest) {
        return Err(too_new(major));
    }
    if let Some(builtins) = real.parent().filter(|_| real.is_absolute()).and_then(|folder| builtins(folder, named)) {
        raw::preload(builtins.as_os_str())?;
    }
    let compiler = raw::Compiler::open(real.as_os_str())?;
    let version = compiler.version().map_err(|error| error.to_string())?;
    if version.0 > newest {
        return Err(too_new(version.0));
    }
    if version < OLDEST {
        let (major, minor) = OLDEST;
        return Err(format!("version {}.{} is too old, {major}.{minor} is the least", version.0, version.1));
    }
    Ok(Nvrtc { raw: compiler, version, path: real })
}

/// NVRTC opens `libnvrtc-builtins.so.13.0` by that name, which the loader knows only when it is loaded already.
fn builtins(folder: &Path, major: Option<i32>) -> Option<PathBuf> {
    let fits = |name: &str| {
        let version = name.strip_prefix("libnvrtc-builtins.so.")?;
        let of = version.split('.').next()?.parse::<i32>().ok()?;
        major.is_none_or(|major| major == of).then_some(())
    };
    let names = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| fits(name).is_some()).max().map(|name| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::major_of;

    #[test]
    fn versions_in_names() {
        assert_eq!(major_of("libnvrtc.so.13"), Some(13));
        assert_eq!(major_of("libnvrtc.so.12.9.86"), Some(12));
        for name in ["libnvrtc.so", "libnvrtc.so.", "libnvrtc.so.x", "libnvrtc-builtins.so.13.0", "libnvrtc.alt.so.13"]
        {
            assert_eq!(major_of(name), None, "{name}");
        }
    }
}
