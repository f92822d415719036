//! Packs: many entries in one file.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tilewright_driver::{Bundle, CacheFolder, Compiled, Error, KernelCache, Key, Origin, Pack};

use super::{ARCH, compiled, entries, source};
use crate::child;

fn text(number: usize) -> String {
    format!("packed {number}")
}

fn key(number: usize) -> Key {
    source(&text(number)).key(ARCH)
}

fn kernel(number: usize) -> Compiled {
    compiled(&text(number), 40 + number)
}

/// A pack of `count` kernels in a folder of its own.
fn pack(root: &Path, count: usize) -> PathBuf {
    let folder = root.join("packed from");
    let cache = KernelCache::open(&folder);
    (0..count).for_each(|number| cache.put(&source(&text(number)), kernel(number)));
    let output = root.join("kernels.pack");
    let mut shown = 0;
    let packed = CacheFolder::open(&folder).unwrap().pack(&output, &mut |_| shown += 1).unwrap();
    assert_eq!((packed.entries, packed.left_out, shown), (count as u64, 0, count));
    assert_eq!(packed.bytes, fs::metadata(&output).unwrap().len());
    assert_eq!(fs::read_dir(root).unwrap().count(), 2, "nothing half-written stays");
    output
}

#[test]
fn everything_comes_back() {
    for count in [0, 1, 2, 60] {
        let root = tempfile::tempdir().unwrap();
        let pack = Pack::open(pack(root.path(), count)).unwrap();
        assert_eq!(pack.keys().len(), count);
        assert!(pack.keys().is_sorted());
        for number in 0..count {
            assert_eq!(pack.find(&key(number)), Some(kernel(number)));
        }
        for absent in [key(count), Key([0; 32]), Key([0xff; 32])] {
            assert_eq!(pack.find(&absent), None);
        }
    }
}

#[test]
fn after_the_bundles_and_before_the_folder() {
    struct First;
    impl Bundle for First {
        fn find(&self, wanted: &Key) -> Option<Compiled> {
            (*wanted == key(0)).then(|| kernel(0))
        }
    }
    let root = tempfile::tempdir().unwrap();
    let path = pack(root.path(), 3);
    let cache = KernelCache::open(root.path().join("packed from"));
    assert!(KernelCache::in_memory().is_empty());
    cache.add_pack(&path).unwrap();
    cache.add_bundle(First);
    let origin = |number| cache.find(&source(&text(number)), ARCH).unwrap().1;
    assert_eq!((origin(0), origin(1), origin(1)), (Origin::Bundle, Origin::Pack, Origin::Memory));
    let counted = cache.statistics();
    assert_eq!((counted.bundle, counted.pack, counted.memory, counted.disk), (1, 1, 1, 0));
    // The folder has what the pack has not.
    cache.put(&source("new"), compiled("new", 5));
    let again = KernelCache::open(root.path().join("packed from"));
    again.add_pack(&path).unwrap();
    assert_eq!(again.find(&source("new"), ARCH).unwrap().1, Origin::Disk);
    let alone = KernelCache::in_memory();
    alone.add_pack(&path).unwrap();
    assert!(!alone.is_empty());
    assert_eq!(
        alone.find(&source(&text(2)), ARCH).map(|(found, origin)| ((*found).clone(), origin)),
        Some((kernel(2), Origin::Pack))
    );
}

#[test]
fn every_byte_counts() {
    let root = tempfile::tempdir().unwrap();
    let path = pack(root.path(), 4);
    let good = fs::read(&path).unwrap();
    let hits = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        let Ok(pack) = Pack::open(&path) else { return 0 };
        let found = (0..4).filter_map(|number| Some((number, pack.find(&key(number))?)));
        found.map(|(number, found)| assert_eq!(found, kernel(number), "the right kernel or none")).count()
    };
    let index = 20 + 4 * 48 + 32;
    for at in 0..good.len() {
        for flip in [1 << (at % 8), 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            assert_eq!(hits(&bad), if at < index { 0 } else { 3 }, "byte {at} of {}", good.len());
        }
    }
    for length in 0..good.len() {
        assert_eq!(hits(&good[..length]), 0, "cut at {length}");
    }
    assert_eq!(hits(&[good.as_slice(), b"more"].concat()), 4, "what lies behind does no harm");
    assert_eq!(hits(&good), 4);

    // Cut while it is open.
    let open = Pack::open(&path).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(300).unwrap();
    assert!((0..4).all(|number| open.find(&key(number)).is_none()));
    fs::write(&path, b"").unwrap();
    assert!((0..4).all(|number| open.find(&key(number)).is_none()));
}

#[test]
fn a_forged_index_with_the_right_checksum() {
    let root = tempfile::tempdir().unwrap();
    let path = pack(root.path(), 2);
    let good = fs::read(&path).unwrap();
    let end = 20 + 2 * 48;
    let open = |change: &dyn Fn(&mut [u8])| {
        let mut bad = good.clone();
        change(&mut bad[..end]);
        let hash = *blake3::hash(&bad[..end]).as_bytes();
        bad[end..end + 32].copy_from_slice(&hash);
        fs::write(&path, bad).unwrap();
        Pack::open(&path)
    };
    assert!(open(&|_| {}).is_ok());
    assert!(open(&|index| index[12..20].fill(0xff)).is_err(), "2^64 entries");
    assert!(open(&|index| index[52..60].fill(0xff)).is_err(), "an offset of 2^64");
    assert!(open(&|index| index[60..68].fill(0xff)).is_err(), "2^64 bytes");
    assert!(open(&|index| index[52..60].fill(0)).is_err(), "an entry in the header");
    assert!(open(&|index| index.copy_within(20..68, 68)).is_err(), "one key twice");
    assert!(open(&|index| index[20] = 0xff).is_err(), "falling keys");
    assert!(open(&|index| index[8] += 1).is_err(), "another schema");
    // Rows that name each other's entries: the entries know better.
    let (a, b) = (good[52..68].to_vec(), good[100..116].to_vec());
    let swapped = open(&|index| {
        index[52..68].copy_from_slice(&b);
        index[100..116].copy_from_slice(&a);
    });
    let swapped = swapped.unwrap();
    assert!((0..2).all(|number| swapped.find(&key(number)).is_none()));
}

#[test]
fn refused_files() {
    let root = tempfile::tempdir().unwrap();
    let path = pack(root.path(), 1);
    let cache = KernelCache::in_memory();
    for bad in [root.path().join("absent"), root.path().to_owned(), PathBuf::new(), PathBuf::from("/dev/null")] {
        let error = cache.add_pack(&bad).unwrap_err();
        assert!(matches!(&error, Error::File { doing: "use the pack", .. }), "{error}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let message = cache.add_pack(&path).unwrap_err().to_string();
    assert!(message.contains("chmod o-w"), "{message}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    cache.add_pack(&path).unwrap();
    assert!(cache.find(&source(&text(0)), ARCH).is_some());
}

#[test]
fn writing_leaves_out_what_is_damaged_and_replaces_as_a_whole() {
    let root = tempfile::tempdir().unwrap();
    let output = pack(root.path(), 5);
    let folder = CacheFolder::open(root.path().join("packed from")).unwrap();
    fs::write(&entries(folder.path())[0], "damaged").unwrap();
    let old = Pack::open(&output).unwrap();
    let packed = folder.pack(&output, &mut |_| {}).unwrap();
    assert_eq!((packed.entries, packed.left_out), (4, 1));
    let new = Pack::open(&output).unwrap();
    let found = |pack: &Pack| (0..5).filter(|number| pack.find(&key(*number)).is_some()).count();
    assert_eq!((found(&old), found(&new)), (5, 4), "who has the old one open keeps it");

    let error = folder.pack(root.path().join("no/such/folder.pack"), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
    let taken = root.path().join("taken");
    fs::create_dir(&taken).unwrap();
    assert!(folder.pack(&taken, &mut |_| {}).is_err());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 3, "nothing half-written stays");
}

#[test]
fn packs_from_the_environment() {
    let root = tempfile::tempdir().unwrap();
    let path = pack(root.path(), 2);
    let list = format!("{}::/no/such.pack:{}", root.path().display(), path.display());
    let mut command = child::command("packs from environment");
    child::check(&command.env("TILEWRIGHT_CACHE_PACKS", list).output().unwrap());
}

pub(crate) fn child_packs_from_environment() {
    let cache = KernelCache::shared();
    for number in 0..2 {
        let (found, origin) = cache.get(&source(&text(number)), ARCH).unwrap();
        assert_eq!((&*found, origin), (&kernel(number), Origin::Pack));
    }
    assert_eq!(cache.folder(), None, "and nothing was written anywhere");
}
