//! Bundles: many kernels in one file.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tilewright_driver::{Bundle, CacheFolder, Compiled, Error, KernelCache, Key, Origin, Target, TargetKind};

use super::{ARCH, compiled, source};
use crate::{allocations, child, listener::Listener};

/// Where rows begin in a bundle of one target, and how far one is from the next.
const ROWS: usize = 40 + 12;
const ROW: usize = 72;

fn text(number: usize) -> String {
    format!("bundled {number}")
}

pub(super) fn key(number: usize) -> Key {
    source(&text(number)).key(ARCH)
}

pub(super) fn kernel(number: usize) -> Compiled {
    compiled(&text(number), 40 + number)
}

/// A bundle of `count` kernels.
pub(super) fn bundle(root: &Path, count: usize) -> PathBuf {
    let path = root.join("kernels.twb");
    let written = Bundle::write(&path, (0..count).map(|number| (key(number), kernel(number)))).unwrap();
    assert_eq!((written.entries, written.bytes), (count as u64, fs::metadata(&path).unwrap().len()));
    path
}

/// How many bytes the dictionary of a bundle has.
fn dictionary(path: &Path) -> usize {
    let content = fs::read(path).unwrap();
    u64::from_le_bytes(content[24..32].try_into().unwrap()) as usize
}

pub(super) fn reason(error: &Error) -> &str {
    match error {
        Error::Bundle { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn everything_comes_back() {
    for count in [0, 1, 2, 60, 400] {
        let root = tempfile::tempdir().unwrap();
        let path = bundle(root.path(), count);
        let open = Bundle::open(&path).unwrap();
        assert_eq!((open.len(), open.is_empty(), open.path()), (count, count == 0, Some(path.as_path())));
        assert!(open.keys().is_sorted() && open.keys().len() == count);
        assert!((0..count).all(|number| open.get(&key(number)) == Some(kernel(number))));
        assert_eq!((open.get(&key(count)), open.entry(&key(count))), (None, None));
        open.check().unwrap();
        let target = Target::new(TargetKind::Plain, ARCH);
        assert_eq!(open.targets(), &[target][..count.min(1)]);
        let keys: Vec<Key> = (0..=count).map(key).collect();
        let look = || assert_eq!(keys.iter().filter(|key| open.entry(key).is_some()).count(), count);
        assert_eq!(allocations::during(look), 0, "to look up allocates nothing");
        assert!(open.entries().zip(open.keys()).all(|(entry, key)| open.entry(&key) == Some(entry)));
        assert!(open.entries().all(|entry| entry.target == target && entry.stored_bytes <= entry.whole_bytes));
        let stored: u64 = open.entries().map(|entry| entry.stored_bytes).sum();
        let dictionary = dictionary(&path);
        assert_eq!(dictionary == 0, count < 400, "few kernels share nothing");
        let index = ROWS + ROW * count + dictionary + 32;
        assert_eq!(open.bytes() - stored, index as u64 - if count == 0 { 12 } else { 0 });
    }
}

#[test]
fn a_bundle_of_the_program_lies_anywhere() {
    let root = tempfile::tempdir().unwrap();
    let content = fs::read(bundle(root.path(), 5)).unwrap();
    for shift in 0..8 {
        let moved: &'static [u8] = [vec![0; shift], content.clone()].concat().leak();
        let bundle = Bundle::from_static(&moved[shift..]).unwrap();
        assert!(bundle.path().is_none() && (0..5).all(|number| bundle.get(&key(number)) == Some(kernel(number))));
    }
    let error = Bundle::from_static(b"something else").unwrap_err();
    assert!(error.to_string().contains("in this program") && error.to_string().contains("it is no bundle"), "{error}");
}

#[test]
fn every_byte_counts() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 4);
    let good = fs::read(&path).unwrap();
    let hits = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        let Ok(bundle) = Bundle::open(&path) else { return 0 };
        let found = (0..4).filter_map(|number| Some((number, bundle.get(&key(number))?)));
        let found = found.map(|(number, found)| assert_eq!(found, kernel(number), "the right kernel or none")).count();
        assert_eq!(bundle.check().is_ok(), found == 4);
        found
    };
    let (index, mut harmless) = (ROWS + 4 * ROW + 32, 0);
    for at in 0..good.len() {
        for flip in [1 << (at % 8), 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            let found = hits(&bad);
            harmless += usize::from(at >= index && found == 4);
            assert!(
                found == if at < index { 0 } else { 3 } || (at >= index && found == 4),
                "byte {at} of {}",
                good.len()
            );
        }
    }
    assert!(harmless <= 4, "{harmless}: zstd has some bits to spare");
    for length in 0..good.len() {
        assert_eq!(hits(&good[..length]), 0, "cut at {length}");
    }
    assert_eq!(hits(&[good.as_slice(), b"more"].concat()), 4, "what lies behind does no harm");
    assert_eq!(hits(&good), 4);
}

#[test]
fn cut_while_it_is_open() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 4);
    let open = Bundle::open(&path).unwrap();
    for length in [300, 10, 0] {
        fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        assert!((0..4).all(|number| open.get(&key(number)).is_none()));
        assert_eq!((open.keys().len(), open.entries().len(), open.len()), (0, 0, 0));
        assert!(reason(&open.check().unwrap_err()).contains("it was cut off since it was opened"));
        assert!(open.conflicts(&open).is_empty());
    }
    let cache = KernelCache::in_memory();
    cache.add_bundle(open);
    assert!(cache.find(&source(&text(0)), ARCH).is_none());
}

#[test]
fn every_byte_of_a_dictionary_counts() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 400);
    let (good, begin) = (fs::read(&path).unwrap(), ROWS + 400 * ROW);
    for at in (begin..begin + dictionary(&path)).step_by(13) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(&path, bad).unwrap();
        assert!(reason(&Bundle::open(&path).unwrap_err()).contains("its index is damaged"), "byte {at}");
    }
}

#[test]
fn a_forged_index_with_the_right_checksum() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 2);
    let good = fs::read(&path).unwrap();
    let end = ROWS + 2 * ROW;
    let open = |change: &dyn Fn(&mut [u8])| {
        let mut bad = good.clone();
        change(&mut bad[..end]);
        let hash = *blake3::hash(&bad[..end]).as_bytes();
        bad[end..end + 32].copy_from_slice(&hash);
        fs::write(&path, bad).unwrap();
        Bundle::open(&path)
    };
    let refused = |change: &dyn Fn(&mut [u8]), message: &str| {
        let error = open(change).unwrap_err();
        assert!(reason(&error).contains(message), "{message}: {error}");
    };
    assert!(open(&|_| {}).is_ok());
    let forged = "its index makes no sense";
    refused(&|index| index[12..16].fill(0xff), forged); // 2^32 targets
    refused(&|index| index[16..24].fill(0xff), forged); // 2^64 kernels
    refused(&|index| index[32..40].fill(0xff), "it is cut off"); // 2^64 bytes
    refused(&|index| index[24..32].fill(0xff), forged); // a dictionary of as many
    refused(&|index| index[40] = 3, forged); // a fourth form
    refused(&|index| index[ROWS + 48..ROWS + 56].fill(0xff), forged); // an offset of 2^64
    refused(&|index| index[ROWS + 48..ROWS + 56].fill(0), forged); // a kernel in the header
    refused(&|index| index[ROWS + 56..ROWS + 60].fill(0xff), forged); // 2^32 stored bytes
    refused(&|index| index[ROWS + 60..ROWS + 64].fill(0xff), forged); // 2^32 bytes of some hundred
    refused(&|index| index[ROWS + 64] = 1, forged); // a second target
    refused(&|index| index[ROWS + 66] = 2, forged); // an unknown codec
    refused(&|index| index[ROWS + 71] = 1, forged); // no zeros
    refused(&|index| index.copy_within(ROWS..ROWS + 32, ROWS + ROW), "some kernel is there twice");
    refused(&|index| index[ROWS] = 0xff, "its index does not rise");
    refused(&|index| index[8] = 3, "format 3, this one reads 2");
    refused(&|index| index[8] = 1, "format 1, this one reads 2");
    refused(&|index| index[0] = b'X', "it is no bundle");
    // Rows that name each other's entries, or say other things of them: the entries know better.
    let (a, b) = (good[ROWS + 48..ROWS + 67].to_vec(), good[ROWS + ROW + 48..ROWS + ROW + 67].to_vec());
    let swapped = open(&|index| {
        index[ROWS + 48..ROWS + 67].copy_from_slice(&b);
        index[ROWS + ROW + 48..ROWS + ROW + 67].copy_from_slice(&a);
    });
    let swapped = swapped.unwrap();
    assert!((0..2).all(|number| swapped.get(&key(number)).is_none()));
    // The start of an image's hash; the target's major version.
    for at in [ROWS + 32, 40 + 4] {
        let other = open(&|index| index[at] ^= 0x80).unwrap();
        assert!(reason(&other.check().unwrap_err()).contains("say different things"), "{at}");
    }
}

#[test]
fn refused_files() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 1);
    for bad in [root.path().join("absent"), root.path().to_owned(), PathBuf::new(), PathBuf::from("/dev/null")] {
        let error = Bundle::open(&bad).unwrap_err();
        assert!(reason(&error).contains("cargo xtask build-ptx"), "what to do: {error}");
        assert!(error.to_string().contains(&bad.display().to_string()), "where: {error}");
    }
    let pipe = root.path().join("pipe");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        assert!(reason(&Bundle::open(&pipe).unwrap_err()).contains("it is no regular file"), "which nobody writes to");
    }
    let empty = root.path().join("empty");
    fs::write(&empty, "").unwrap();
    assert!(reason(&Bundle::open(&empty).unwrap_err()).contains("it is empty"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(reason(&Bundle::open(&path).unwrap_err()).contains("chmod o-w"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(Bundle::open(&path).unwrap().get(&key(0)).is_some());
}

#[test]
fn what_is_packed_from_a_folder() {
    let root = tempfile::tempdir().unwrap();
    let (from, output) = (root.path().join("from"), root.path().join("kernels.twb"));
    let cache = KernelCache::open(&from);
    (0..5).for_each(|number| cache.put(&source(&text(number)), kernel(number)));
    let folder = CacheFolder::open(&from).unwrap();
    let mut shown = 0;
    let packed = folder.pack(&output, &mut |_| shown += 1).unwrap();
    assert_eq!((packed.written.entries, packed.left_out, shown), (5, 0, 5));
    let old = Bundle::open(&output).unwrap();
    fs::write(&super::entries(&from)[0], "damaged").unwrap();
    let packed = folder.pack(&output, &mut |_| {}).unwrap();
    assert_eq!((packed.written.entries, packed.left_out), (4, 1));
    let found = |bundle: &Bundle| (0..5).filter(|number| bundle.get(&key(*number)).is_some()).count();
    assert_eq!((found(&old), found(&Bundle::open(&output).unwrap())), (5, 4), "who has the old one open keeps it");
}

#[test]
fn conflicts_are_found() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, kernels: Vec<(Key, Compiled)>| {
        Bundle::write(root.path().join(name), kernels).unwrap();
        Bundle::open(root.path().join(name)).unwrap()
    };
    let all = |from: usize| (from..from + 20).map(|number| (key(number), kernel(number)));
    let one = write("one", all(0).collect());
    let other = write("other", all(10).collect());
    assert!(one.conflicts(&other).is_empty() && other.conflicts(&one).is_empty() && one.conflicts(&one).is_empty());
    let changed = |(key_of, kernel): (Key, Compiled)| {
        let image = if [12, 17, 25].map(key).contains(&key_of) { b"other".to_vec() } else { kernel.image.clone() };
        // What the compiler said is no code.
        (key_of, Compiled { image, log: "other".into(), ..kernel })
    };
    let changed = write("changed", all(10).map(changed).collect());
    let mut expected = [key(12), key(17)];
    expected.sort();
    assert_eq!(one.conflicts(&changed), expected);
    assert_eq!(changed.conflicts(&one), expected);
    // The earlier one serves, whatever the later has.
    let cache = KernelCache::in_memory();
    cache.add_bundle(one);
    cache.add_bundle(changed);
    assert_eq!(*cache.find(&source(&text(12)), ARCH).unwrap().0, kernel(12));
    assert_eq!(cache.find(&source(&text(25)), ARCH).unwrap().0.image, b"other");
}

#[test]
fn bundles_from_the_environment() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 2);
    let other = root.path().join("other.twb");
    Bundle::write(&other, [(key(1), compiled("another", 40)), (key(0), kernel(0))]).unwrap();
    let list = format!("{}::/no/such.twb:{}:{}", root.path().display(), path.display(), other.display());
    let mut command = child::command("bundles from environment");
    child::check(&command.env("TILEWRIGHT_BUNDLES", list).env("MORE", bundle_of_one(root.path())).output().unwrap());
}

fn bundle_of_one(root: &Path) -> PathBuf {
    let path = root.join("more.twb");
    Bundle::write(&path, [(key(7), kernel(7))]).unwrap();
    path
}

pub(crate) fn child_bundles_from_environment() {
    let listener = Listener::default();
    tracing::subscriber::set_global_default(listener.clone()).unwrap();
    let cache = KernelCache::shared();
    assert!(!cache.is_empty());
    let origin = |number: usize| {
        cache.find(&source(&text(number)), ARCH).map(|(found, origin)| {
            assert_eq!(*found, kernel(number));
            origin
        })
    };
    assert_eq!((origin(0), origin(1), origin(7)), (Some(Origin::Bundle), Some(Origin::Bundle), None));
    Bundle::open(child::argument("MORE")).unwrap().install();
    assert_eq!(origin(7), Some(Origin::Bundle));
    assert_eq!(cache.folder(), None, "and nothing was written anywhere");
    let heard = listener.heard().into_iter().filter(|line| line.contains("bundle")).collect::<Vec<_>>();
    let [folder, absent, differs, ..] = &heard[..] else { panic!("{heard:?}") };
    assert!(folder.contains("it is no regular file") && absent.contains("/no/such.twb"), "{heard:?}");
    assert!(differs.contains("kernels=1 name=\"cached\"") && differs.contains("other.twb"), "{heard:?}");
}
