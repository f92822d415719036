//! Libraries for linear algebra: looked for where NVRTC is, opened with what they need, checked before anything is called.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::{
    Error, libcuda,
    once::Once,
    raw,
    toolkit::places::{self, Place, Wanted},
};

/// One of the libraries.
pub(crate) struct Library {
    /// As messages call it.
    pub(crate) name: &'static str,
    pub(crate) wanted: Wanted,
    /// What its number is behind that of CUDA: cuSOLVER 12 is CUDA 13's.
    pub(crate) behind: i32,
    /// Libraries that it opens by names the loader need not know, in an order in which each finds those that it needs.
    pub(crate) needs: &'static [&'static str],
}

impl Library {
    /// The library, which is looked for where it was not found yet.
    pub(crate) fn find<T>(
        &'static self,
        once: &'static Once<T>,
        open: impl Fn(&OsStr) -> Result<T, String>,
    ) -> Result<&'static T, Error> {
        let found = once.find(|| self.search(open));
        found.map_err(|tried| Error::NoLibrary { library: self.name, package: self.wanted.package, tried })
    }

    fn search<T>(&'static self, open: impl Fn(&OsStr) -> Result<T, String>) -> Result<T, Vec<String>> {
        let newest = libcuda::driver_version().map_or(i32::MAX, |(major, _)| major);
        let mut tried = Vec::new();
        for place in places::all(&self.wanted) {
            let found = match &place {
                Place::Folder { source, path } => {
                    self.in_folder(path, newest, &open).map_err(|e| format!("{source} {}: {e}", path.display()))
                }
                Place::File { source, path } => {
                    self.load(path, newest, &open).map_err(|e| format!("{source} {}: {e}", path.display()))
                }
                Place::Absent { source, reason } => Err(format!("{source}: {reason}")),
            };
            match found {
                Ok(found) => return Ok(found),
                Err(reason) => tried.push(reason),
            }
        }
        Err(tried)
    }

    /// The newest in a folder that the driver serves.
    fn in_folder<T>(
        &self,
        folder: &Path,
        newest: i32,
        open: &impl Fn(&OsStr) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut versions = versions_in(folder, self.wanted.stem)?;
        let mut reason = format!("no lib{}.so.<version> here", self.wanted.stem);
        while let Some((_, file)) = versions.pop() {
            match self.load(&file, newest, open) {
                Ok(found) => return Ok(found),
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }

    fn load<T>(&self, file: &Path, newest: i32, open: &impl Fn(&OsStr) -> Result<T, String>) -> Result<T, String> {
        let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
        let major = real.file_name().and_then(OsStr::to_str).and_then(|name| major_of(name, self.wanted.stem));
        if let Some(cuda) = major.map(|major| major + self.behind).filter(|cuda| *cuda > newest) {
            return Err(format!("it is of CUDA {cuda}, newer than the driver, which serves CUDA {newest}"));
        }
        if let Some(folder) = real.parent().filter(|_| real.is_absolute()) {
            self.needs.iter().for_each(|stem| preload(folder, stem));
        }
        open(real.as_os_str())
    }
}

/// Opens what a library needs, from its own folder or from where wheels of CUDA 12 have it. What is missing here the loader may know, and if
/// it does not, it says so when the library itself is opened.
fn preload(folder: &Path, stem: &str) {
    let wheel = |package: &str| folder.join("../..").join(package).join("lib");
    let folders = [folder.to_path_buf(), wheel(&stem.to_lowercase().replace("cublaslt", "cublas"))];
    let found = folders.iter().filter_map(|folder| versions_in(folder, stem).ok()).flatten().next_back();
    if let Some((_, file)) = found {
        let _ = raw::preload(file.as_os_str());
    }
}

/// Files of a library in a folder, oldest first.
fn versions_in(folder: &Path, stem: &str) -> Result<Vec<(i32, PathBuf)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut versions: Vec<_> = names.filter_map(|name| Some((major_of(&name, stem)?, folder.join(name)))).collect();
    versions.sort();
    Ok(versions)
}

/// 13 in `libcublas.so.13` and `libcublas.so.13.1.0.3`.
fn major_of(name: &str, stem: &str) -> Option<i32> {
    let version = name.strip_prefix("lib")?.strip_prefix(stem)?.strip_prefix(".so.")?;
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major_of;

    #[test]
    fn versions_in_names() {
        assert_eq!(major_of("libcublas.so.13", "cublas"), Some(13));
        assert_eq!(major_of("libcublas.so.12.9.1", "cublas"), Some(12));
        for name in ["libcublasLt.so.13", "libcublas.so", "libcublas.so.x", "cublas.so.13"] {
            assert_eq!(major_of(name, "cublas"), None, "{name}");
        }
    }
}
