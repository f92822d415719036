//! The cache on disk: what it keeps, and what it shrugs off.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Stdio,
};

use tilewright_driver::{Arch, Bundle, Compiled, Error, KernelCache, Key, Origin, Source, TargetKind};

use crate::{child, skip};

/// No compiler knows it: a miss is an error, at once.
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

fn is_disk_hit(folder: &Path, text: &str, bytes: usize) -> bool {
    match KernelCache::open(folder).get(&source(text), ARCH) {
        Ok((found, origin)) => {
            assert_eq!((&*found, origin), (&compiled(text, bytes), Origin::Disk));
            true
        }
        Err(Error::NoNvrtc { .. } | Error::UnknownArch { .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

fn only_file(folder: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
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
    assert_eq!(fs::metadata(only_file(&folder)).unwrap().permissions().mode() & 0o777, 0o600);

    let again = KernelCache::open(&folder);
    assert!(!again.is_empty());
    assert_eq!(again.get(&source("text"), ARCH).unwrap().1, Origin::Disk);
    assert_eq!(again.get(&source("text"), ARCH).unwrap().1, Origin::Memory);
}

#[test]
fn key_covers_what_decides_the_code() {
    let base = source("text");
    let header = |name: &str, text: &'static str| vec![(name.to_owned(), text.into())];
    let others = [
        source("text "),
        Source { headers: header("a.h", ""), ..base.clone() },
        Source { headers: header("a.", "h"), ..base.clone() },
        Source { options: vec!["-DX".into()], ..base.clone() },
        Source { target: TargetKind::ArchSpecific, ..base.clone() },
        Source { target: TargetKind::Portable, ..base.clone() },
    ];
    let mut keys: Vec<_> = others.iter().map(|other| other.key(ARCH)).collect();
    keys.extend([base.key(ARCH), base.key(Arch::new(9, 0))]);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
    assert_eq!(Source { name: "other".into(), ..base.clone() }.key(ARCH), base.key(ARCH));
}

#[test]
fn options_replace_defaults() {
    let with =
        |option: &str| Source { options: vec![option.into()], ..source("") }.all_options(Arch::new(9, 0)).join(" ");
    assert_eq!(with("-DA"), "--gpu-architecture=sm_90 --std=c++17 --fmad=false -DNDEBUG --ptxas-options=-v -DA");
    assert_eq!(with("-fmad=true"), "--gpu-architecture=sm_90 --std=c++17 -DNDEBUG --ptxas-options=-v -fmad=true");
    assert_eq!(with("--std=c++20"), "--gpu-architecture=sm_90 --fmad=false -DNDEBUG --ptxas-options=-v --std=c++20");
}

#[test]
fn corrupt_entries() {
    let root = tempfile::tempdir().unwrap();
    child::check(&child::command("corrupt").env("FOLDER", root.path()).output().unwrap());
}

pub(crate) fn child_corrupt() {
    let folder = PathBuf::from(child::argument("FOLDER"));
    KernelCache::open(&folder).put(&source("text"), compiled("text", 3000));
    let file = only_file(&folder);
    let good = fs::read(&file).unwrap();
    let hit = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        is_disk_hit(&folder, "text", 3000)
    };
    // Every byte of the header, then samples of metadata, image and hash.
    for at in (0..56).chain((56..good.len()).step_by(83)).chain([good.len() - 1]) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        assert!(!hit(&bad), "byte {at} of {}", good.len());
    }
    for length in (0..64).chain((64..good.len()).step_by(211)).chain([good.len() - 1]) {
        assert!(!hit(&good[..length]), "cut at {length}");
    }
    assert!(!hit(&[good.as_slice(), &[0]].concat()), "a byte too many");
    assert!(hit(&good));

    // Another kernel's entry under this name: whole in itself, but with a foreign key.
    fs::remove_file(&file).unwrap();
    KernelCache::open(&folder).put(&source("other"), compiled("other", 3000));
    fs::rename(only_file(&folder), &file).unwrap();
    assert!(!is_disk_hit(&folder, "text", 3000));

    // No regular file.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(!is_disk_hit(&folder, "text", 3000));
    KernelCache::open(&folder).put(&source("text"), compiled("text", 3000));
    fs::remove_dir(&file).unwrap();
    let elsewhere = folder.join("elsewhere");
    fs::write(&elsewhere, &good).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert!(!is_disk_hit(&folder, "text", 3000), "through a symlink");
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
        chown(only_file(&folder), Some(65534), None).unwrap();
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
    let file = only_file(&root.join("a/b"));
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn full_disk() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let mut command = child::shell("trap '' XFSZ; ulimit -f 8; exec \"$@\"", "unwritable");
    child::check(&command.env("FOLDER", &folder).output().unwrap());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing half-written stays");
}

pub(crate) fn child_unwritable() {
    let folder = PathBuf::from(child::argument("FOLDER"));
    let cache = KernelCache::open(&folder);
    assert!(cache.folder().is_some());
    cache.put(&source("new"), compiled("new", 100_000));
    assert_eq!(cache.get(&source("new"), ARCH).unwrap().1, Origin::Memory);
    assert!(!is_disk_hit(&folder, "new", 100_000));
    if std::env::var_os("KEPT").is_some() {
        assert!(is_disk_hit(&folder, "kept", 100));
    }
}

#[test]
fn thirty_two_processes() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let spawn = |_| {
        let mut command = child::command("crowd");
        command.env("FOLDER", &folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..32).map(spawn).collect();
    children.into_iter().for_each(|child| child::check(&child.wait_with_output().unwrap()));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 12, "one file for each kernel, no temporary ones");
}

pub(crate) fn child_crowd() {
    let folder = PathBuf::from(child::argument("FOLDER"));
    for round in 0..3 {
        for kernel in 0..12 {
            let text = format!("kernel {kernel}");
            if round > 0 {
                assert!(is_disk_hit(&folder, &text, 40_000 + kernel), "{text} was there and is whole");
            }
            KernelCache::open(&folder).put(&source(&text), compiled(&text, 40_000 + kernel));
        }
    }
}

#[test]
fn bundles_come_before_the_folder() {
    struct One(Key);
    impl Bundle for One {
        fn find(&self, key: &Key) -> Option<Compiled> {
            (*key == self.0).then(|| compiled("bundle", 9))
        }
    }
    let root = tempfile::tempdir().unwrap();
    KernelCache::open(root.path().join("k")).put(&source("text"), compiled("text", 9));
    let mut cache = KernelCache::open(root.path().join("k"));
    cache.add_bundle(One(source("text").key(ARCH)));
    let (found, origin) = cache.get(&source("text"), ARCH).unwrap();
    assert_eq!((found.image.as_slice(), origin), (&b"bundlebun"[..], Origin::Bundle));
}

#[test]
fn entries_of_old_compilers_are_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("k");
    KernelCache::open(&folder).put(&source("old"), Compiled { compiler: (11, 8), ..compiled("old", 9) });
    assert!(!is_disk_hit(&folder, "old", 9));
}
