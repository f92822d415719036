//! The cache: what it keeps, and what it shrugs off.

mod ahead;
mod bundles;
mod damage;
mod folders;
mod fuzz;
mod golden;
mod keys;
mod layers;
mod limits;
mod names;
mod nvrtc;
mod processes;
mod statistics;
mod without_compiler;
mod writing;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tilewright_driver::{Arch, Bundle, Compiled, KernelCache, Key, Origin, Source, TargetKind};

pub(crate) use ahead::child_two_at_once;
pub(crate) use bundles::child_bundles_from_environment;
pub(crate) use folders::{child_no_home, child_open_umask, child_unwritable};
pub(crate) use layers::{child_nvrtc_flags, child_refused_targets};
pub(crate) use processes::{child_crowd, child_hammer};
pub(crate) use without_compiler::child_bundle_and_no_nvrtc;
pub(crate) use writing::child_bundle_writer;

/// No compiler knows it: what is missed is an error, at once.
const ARCH: Arch = Arch::new(1, 0);

fn source(text: &str) -> Source {
    Source { name: "cached".into(), text: text.into(), ..Source::default() }
}

/// An image that tells which source it is of.
fn compiled(text: &str, bytes: usize) -> Compiled {
    let image = text.bytes().cycle().take(bytes).collect();
    let log = "ptxas info".into();
    Compiled {
        name: "cached".into(),
        arch: ARCH,
        target: TargetKind::Plain,
        compiler: (13, 0),
        kernels: vec![],
        log,
        image,
    }
}

/// A bundle of these kernels, in memory that is never freed.
pub(crate) fn bundle_of(kernels: impl IntoIterator<Item = (Key, Compiled)>) -> Bundle {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("kernels.twb");
    Bundle::write(&path, kernels).unwrap();
    Bundle::from_static(fs::read(path).unwrap().leak()).unwrap()
}

fn is_disk_hit(folder: &Path, text: &str, bytes: usize) -> bool {
    let Some((found, origin)) = KernelCache::open(folder).find(&source(text), ARCH) else { return false };
    assert_eq!((&*found, origin), (&compiled(text, bytes), Origin::Disk));
    true
}

/// All files but the lock's.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| !path.ends_with(".evict")).collect()
}

fn only_entry(folder: &Path) -> PathBuf {
    let files = entries(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn round_trip() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b/kernels");
    let cache = KernelCache::open(&folder);
    assert_eq!(cache.folder(), Some(folder.as_path()));
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(cache.is_empty() && KernelCache::in_memory().is_empty());
    cache.put(&source("text"), compiled("text", 5000));
    assert_eq!(cache.get(&source("text"), ARCH).unwrap().1, Origin::Memory);
    assert!(is_disk_hit(&folder, "text", 5000));
    assert_eq!(fs::metadata(only_entry(&folder)).unwrap().permissions().mode() & 0o777, 0o600);

    let again = KernelCache::open(&folder);
    assert!(!again.is_empty());
    assert_eq!(again.get(&source("text"), ARCH).unwrap().1, Origin::Disk);
    assert_eq!(again.get(&source("text"), ARCH).unwrap().1, Origin::Memory);
}

#[test]
fn entries_of_old_compilers_are_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("k");
    KernelCache::open(&folder).put(&source("old"), Compiled { compiler: (11, 8), ..compiled("old", 9) });
    assert!(!is_disk_hit(&folder, "old", 9));
}
