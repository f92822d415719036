//! Folders that are refused, cannot be written, or are full.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
};

use tilewright_driver::{CacheFolder, Error, KernelCache, Origin};

use super::{ARCH, compiled, entries, is_disk_hit, only_entry, source};
use crate::{child, skip};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn refused_folders() {
    let root = tempfile::tempdir().unwrap();
    let (real, link) = (root.path().join("real"), root.path().join("link"));
    assert!(KernelCache::open(&real).folder().is_some());
    symlink(&real, &link).unwrap();
    assert!(KernelCache::open(&link).folder().is_none(), "a symlink");
    for bad in [0o770, 0o707, 0o720, 0o702, 0o777] {
        mode(&real, bad);
        assert!(KernelCache::open(&real).folder().is_none(), "mode {bad:o}");
    }
    mode(&real, 0o755);
    assert!(KernelCache::open(&real).folder().is_some(), "others may read");
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(KernelCache::open(&file).folder().is_none(), "a file");
    assert!(KernelCache::open(file.join("below")).folder().is_none(), "below a file");
    assert!(KernelCache::open("").folder().is_none(), "no name");
    if chown(&real, Some(1), None).is_ok() {
        assert!(KernelCache::open(&real).folder().is_none(), "another's");
    } else {
        skip("cache::refused_folders (another's folder)", "not root");
    }
    // Without a folder everything else goes on.
    let cache = KernelCache::open(&link);
    cache.put(&source("text"), compiled("text", 10));
    assert_eq!(cache.get(&source("text"), ARCH).unwrap().1, Origin::Memory);
}

#[test]
fn read_only_folder() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    KernelCache::open(&folder).put(&source("kept"), compiled("kept", 100));
    let mut command = child::command("unwritable");
    command.env("FOLDER", &folder).env("KEPT", "yes");
    // Root writes anywhere, so the child becomes nobody, who owns the folder.
    if chown(&folder, Some(65534), None).is_ok() {
        chown(only_entry(&folder), Some(65534), None).unwrap();
        mode(root.path(), 0o755);
        command.uid(65534);
    }
    mode(&folder, 0o500);
    match command.output() {
        Ok(output) => child::check(&output),
        Err(error) => skip("cache::read_only_folder", &format!("the child does not start: {error}")),
    }
    mode(&folder, 0o700);
}

#[test]
fn open_umask() {
    let root = tempfile::tempdir().unwrap();
    let mut command = child::shell("umask 000; exec \"$@\"", "open umask");
    child::check(&command.env("FOLDER", root.path()).output().unwrap());
}

pub(crate) fn child_open_umask() {
    let root = PathBuf::from(child::argument("FOLDER"));
    let cache = KernelCache::open(root.join("a/b"));
    cache.put(&source("text"), compiled("text", 10));
    for (path, expected) in [("a", 0o700), ("a/b", 0o700)] {
        assert_eq!(fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777, expected, "{path}");
    }
    let file = only_entry(&root.join("a/b"));
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn full_disk() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let mut command = child::shell("trap '' XFSZ; ulimit -f 8; exec \"$@\"", "unwritable");
    child::check(&command.env("FOLDER", &folder).output().unwrap());
    assert_eq!(entries(&folder), Vec::<PathBuf>::new(), "nothing half-written stays");
}

pub(crate) fn child_unwritable() {
    let folder = PathBuf::from(child::argument("FOLDER"));
    let cache = KernelCache::open(&folder);
    assert!(cache.folder().is_some());
    cache.put(&source("new"), compiled("new", 100_000));
    assert_eq!(cache.get(&source("new"), ARCH).unwrap().1, Origin::Memory);
    assert_eq!((cache.statistics().dropped_writes, cache.statistics().unusable), (1, 0));
    assert!(!is_disk_hit(&folder, "new", 100_000));
    if std::env::var_os("KEPT").is_some() {
        assert!(is_disk_hit(&folder, "kept", 100));
    }
}

#[test]
fn no_home() {
    let mut command = child::command("no home");
    child::check(&command.output().unwrap());
    // A folder that is no absolute path is not taken from these either.
    child::check(
        &command.env("HOME", "relative").env("XDG_CACHE_HOME", "").env("TILEWRIGHT_CACHE", "").output().unwrap(),
    );
}

pub(crate) fn child_no_home() {
    assert_eq!(KernelCache::default_dir(), None);
    let cache = KernelCache::shared();
    assert_eq!((cache.folder(), cache.is_empty()), (None, true));
    cache.put(&source("text"), compiled("text", 10));
    assert_eq!(cache.get(&source("text"), ARCH).unwrap().1, Origin::Memory);
}

#[test]
fn a_refused_folder_is_an_error_that_says_why() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    assert!(matches!(CacheFolder::open_existing(&folder), Err(Error::File { .. })), "it is not there");
    assert!(!folder.exists(), "and it is not made");
    CacheFolder::open(&folder).unwrap();
    mode(&folder, 0o777);
    let message = CacheFolder::open_existing(&folder).unwrap_err().to_string();
    assert!(message.contains("others can write it (mode 777)") && message.contains("chmod go-w"), "{message}");
}
