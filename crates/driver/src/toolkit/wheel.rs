//! Wheels of PyPI, pinned by their hash: fetched with pip, compared, and what is wanted of them unpacked.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use sha2::{Digest, Sha256};

use crate::{
    Error,
    folder::{Folder, cache_home},
};

/// How far an installation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Bytes done of this stage.
    pub bytes: u64,
    /// Bytes of this stage altogether.
    pub total: u64,
}

/// The steps of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// pip fetches the wheel.
    Download,
    /// The wheel is compared with the pinned hash.
    Verify,
    /// The files that are wanted are unpacked.
    Unpack,
}

/// A wheel with libraries or programs, one file of one version, pinned by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The architecture that it is for, as in [`std::env::consts::ARCH`].
    pub host: &'static str,
    /// The package's name on PyPI.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The wheel's size.
    pub bytes: u64,
    /// The wheel's SHA-256, in lower-case hexadecimal digits.
    pub sha256: &'static str,
}

impl Wheel {
    /// The one of `wheels`, all of one package, that is for this kind of machine. None is [`Error::NoWheel`].
    pub fn for_this_machine(wheels: &'static [Wheel]) -> Result<&'static Wheel, Error> {
        let host = std::env::consts::ARCH;
        let package = wheels.first().map_or("anything", |wheel| wheel.package);
        wheels.iter().find(|wheel| wheel.host == host).ok_or(Error::NoWheel { package, host })
    }

    /// The folder that [`install`](Wheel::install) fills: `<cache>/tilewright/<under>/<version>`; nothing without a cache folder.
    pub fn folder(&self, under: &str) -> Option<PathBuf> {
        Some(cache_home()?.join(under).join(self.version))
    }

    /// Fetches the wheel with `python3 -m pip download`, so that pip's mirror settings hold, compares it with the hash, and
    /// unpacks the files whose names start with one of `files` to [`folder`](Wheel::folder), which is returned; programs can be
    /// run there. Nothing is fetched when that folder has a file for each of `files`.
    ///
    /// No pip is [`Error::NoPip`]; a failed download, a wrong hash or a full disk leave nothing behind.
    pub fn install(&self, under: &str, files: &[&str], progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, Error> {
        let target = self.folder(under).ok_or(Error::NoCacheFolder)?;
        let root = target.parent().unwrap_or(&target);
        Folder::open(root).map_err(|reason| Error::File { doing: "use", path: root.into(), reason })?;
        if is_complete(&target, files) {
            return Ok(target);
        }

        let scratch = Scratch::new(root)?;
        let file = download(self, &scratch.0, progress)?;
        verify(self, &file, progress)?;
        let unpacked = scratch.0.join("unpacked");
        make_folder(&unpacked)?;
        unpack(&file, &unpacked, files, progress)?;
        put_in_place(&unpacked, &target, files)?;
        Ok(target)
    }
}

fn is_complete(folder: &Path, files: &[&str]) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    files.iter().all(|start| names.iter().any(|name| name.starts_with(start)))
}

/// A folder that is removed with everything inside when it goes out of scope.
struct Scratch(PathBuf);

impl Scratch {
    fn new(root: &Path) -> Result<Self, Error> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!(".install-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        make_folder(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn make_folder(path: &Path) -> Result<(), Error> {
    fs::DirBuilder::new().mode(0o700).create(path).map_err(Error::file("make", path))
}

fn download(wheel: &Wheel, scratch: &Path, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, Error> {
    let (wheels, temporary) = (scratch.join("wheels"), scratch.join("tmp"));
    make_folder(&wheels)?;
    make_folder(&temporary)?;
    let requirement = format!("{}=={}", wheel.package, wheel.version);
    let platform = format!("manylinux2014_{}", wheel.host);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--platform", &platform, "--dest"]).arg(&wheels).arg(&requirement);
    pip.env("TMPDIR", &temporary); // pip downloads there first: where the growing file is watched
    let errors = scratch.join("pip-errors");
    let log = File::create(&errors).map_err(Error::file("write", &errors))?;
    let mut child = pip
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|error| Error::NoPip { package: wheel.package, reason: format!("python3: {error}") })?;

    let status = watch(&mut child, wheel, scratch, progress)?;
    let stderr = fs::read_to_string(&errors).unwrap_or_default();
    if stderr.contains("No module named pip") {
        return Err(Error::NoPip { package: wheel.package, reason: "python3 has no module pip".into() });
    }
    let found = fs::read_dir(&wheels).ok().and_then(|mut entries| Some(entries.next()?.ok()?.path()));
    match found {
        Some(file) if status.success() => Ok(file),
        _ => Err(Error::Download { package: requirement, status: status.to_string(), stderr }),
    }
}

fn watch(
    child: &mut Child,
    wheel: &Wheel,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<std::process::ExitStatus, Error> {
    let total = wheel.bytes;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => progress(Progress { stage: Stage::Download, bytes: bytes_below(folder).min(total), total }),
            Err(error) => {
                let _ = child.kill();
                return Err(Error::NoPip { package: wheel.package, reason: error.to_string() });
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_below(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

fn verify(wheel: &Wheel, file: &Path, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    let mut reader = File::open(file).map_err(Error::file("read", file))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let read = io::Read::read(&mut reader, &mut buffer).map_err(Error::file("read", file))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        progress(Progress { stage: Stage::Verify, bytes, total: wheel.bytes.max(bytes) });
    }
    let got: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if got == wheel.sha256 {
        return Ok(());
    }
    let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(Error::Hash { file, expected: wheel.sha256, got })
}

fn unpack(wheel: &Path, target: &Path, files: &[&str], progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    let broken = |error: zip::result::ZipError| Error::file("unpack", wheel)(io::Error::other(error));
    let mut archive = zip::ZipArchive::new(File::open(wheel).map_err(Error::file("read", wheel))?).map_err(broken)?;
    let mut wanted = Vec::new();
    let mut total = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(broken)?;
        let name = entry.name().map_err(broken)?;
        let name = name.rsplit('/').next().unwrap_or_default();
        if files.iter().any(|start| name.starts_with(start)) {
            total += entry.size();
            let is_program = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
            wanted.push((index, target.join(name), if is_program { 0o755 } else { 0o644 }));
        }
    }
    let mut bytes = 0;
    for (index, path, mode) in wanted {
        let mut entry = archive.by_index(index).map_err(broken)?;
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create_new(true).mode(mode).open(&path).map_err(Error::file("write", &path))?;
        progress(Progress { stage: Stage::Unpack, bytes, total });
        bytes += io::copy(&mut entry, &mut file).map_err(Error::file("write", &path))?;
        progress(Progress { stage: Stage::Unpack, bytes, total });
    }
    Ok(())
}

/// Renames the finished folder. If another process was faster, its folder stays.
fn put_in_place(unpacked: &Path, target: &Path, files: &[&str]) -> Result<(), Error> {
    if fs::rename(unpacked, target).is_ok() || is_complete(target, files) {
        return Ok(());
    }
    let _ = fs::remove_dir_all(target); // what an interrupted removal left
    fs::rename(unpacked, target).map_err(Error::file("write", target))
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::PermissionsExt};

    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn what_is_wanted_is_unpacked_and_programs_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.whl");
        let mut wheel = zip::ZipWriter::new(File::create(&file).unwrap());
        let entries = [
            ("cu/bin/ptxas", 0o755),
            ("cu/bin/nvlink", 0o755),
            ("cu/lib/libx.so.13", 0o644),
            ("cu/lib/libx.alt.so.13", 0o644),
        ];
        for (name, mode) in entries {
            wheel.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
            wheel.write_all(name.as_bytes()).unwrap();
        }
        wheel.finish().unwrap();

        let target = folder.path().join("unpacked");
        make_folder(&target).unwrap();
        let (files, mut last) = (["ptxas", "libx.so."], None);
        assert!(!is_complete(&target, &files));
        unpack(&file, &target, &files, &mut |progress| last = Some(progress)).unwrap();
        assert!(is_complete(&target, &files));
        let mode = |name: &str| fs::metadata(target.join(name)).unwrap().permissions().mode() & 0o111;
        assert_eq!(fs::read_dir(&target).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(target.join("ptxas")).unwrap(), "cu/bin/ptxas");
        assert!(mode("ptxas") != 0 && mode("libx.so.13") == 0);
        let total = ("cu/bin/ptxas".len() + "cu/lib/libx.so.13".len()) as u64;
        assert_eq!(last, Some(Progress { stage: Stage::Unpack, bytes: total, total }));
    }

    #[test]
    fn a_machine_without_a_wheel() {
        const OTHERS: [Wheel; 1] = [Wheel { host: "abacus", package: "beads", version: "1", bytes: 1, sha256: "" }];
        let error = Wheel::for_this_machine(&OTHERS).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no wheel of beads for {}", std::env::consts::ARCH));
    }
}
