//! Entries with something wrong: a miss, whatever it is.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tilewright_driver::{CacheFolder, Compiled, Error, KernelCache, Key};

use super::{ARCH, compiled, is_disk_hit, only_entry, source};

/// A folder with one entry: where it is, what is in it, its key.
pub(super) fn one_entry(folder: &Path) -> (PathBuf, Vec<u8>, Key) {
    KernelCache::open(folder).put(&source("text"), compiled("text", 700));
    let file = only_entry(folder);
    let content = fs::read(&file).unwrap();
    (file, content, source("text").key(ARCH))
}

#[test]
fn every_byte_counts() {
    let root = tempfile::tempdir().unwrap();
    let (file, good, key) = one_entry(root.path());
    let folder = CacheFolder::open(root.path()).unwrap();
    let found = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        folder.find(&key)
    };
    for at in 0..good.len() {
        // Another bit each time, and all bits too.
        for flip in [1 << (at % 8), 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            assert_eq!(found(&bad), None, "byte {at} of {}", good.len());
        }
    }
    for length in 0..good.len() {
        assert_eq!(found(&good[..length]), None, "cut at {length}");
    }
    assert_eq!(found(&[good.as_slice(), &[0]].concat()), None, "a byte too many");
    assert_eq!(found(&good), Some(compiled("text", 700)));
}

#[test]
fn a_forged_entry_that_is_whole_in_itself() {
    let root = tempfile::tempdir().unwrap();
    let (file, good, key) = one_entry(root.path());
    let folder = CacheFolder::open(root.path()).unwrap();
    // The checksum is right: nothing but the sense of the fields is wrong.
    let forged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut body = good[..good.len() - 32].to_vec();
        change(&mut body);
        let hash = blake3::hash(&body);
        fs::write(&file, [body.as_slice(), hash.as_bytes()].concat()).unwrap();
        folder.find(&key)
    };
    assert_eq!(forged(&|_| {}), Some(compiled("text", 700)));
    assert_eq!(forged(&|body| body[44..48].fill(0xff)), None, "metadata of 4 GB");
    assert_eq!(forged(&|body| body[48..56].fill(0xff)), None, "an image of 2^64 bytes");
    assert_eq!(forged(&|body| body[44..48].fill(0)), None, "no metadata");
    assert_eq!(forged(&|body| body[8] += 1), None, "another schema");
    assert_eq!(forged(&|body| body.truncate(56)), None, "a header alone");
    assert_eq!(forged(&|body| body.truncate(0)), None, "a hash of nothing");
    assert_eq!(forged(&|body| body[57] = b'?'), None, "metadata that is no JSON");
}

#[test]
fn another_kernels_entry() {
    let root = tempfile::tempdir().unwrap();
    let (file, _, _) = one_entry(root.path());
    fs::remove_file(&file).unwrap();
    KernelCache::open(root.path()).put(&source("other"), compiled("other", 700));
    fs::rename(only_entry(root.path()), &file).unwrap();
    assert!(!is_disk_hit(root.path(), "text", 700));
    let folder = CacheFolder::open(root.path()).unwrap();
    let [entry] = &folder.entries().unwrap()[..] else { panic!("one") };
    let message = folder.check(entry).unwrap_err().to_string();
    assert!(message.contains("it holds another kernel"), "{message}");
}

#[test]
fn what_is_no_regular_file() {
    let root = tempfile::tempdir().unwrap();
    let (file, good, _) = one_entry(root.path());
    let hit = || is_disk_hit(root.path(), "text", 700);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(!hit(), "a folder");
    KernelCache::open(root.path()).put(&source("text"), compiled("text", 700));
    fs::remove_dir(&file).unwrap();
    let elsewhere = root.path().join("elsewhere");
    fs::write(&elsewhere, &good).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert!(!hit(), "through a symlink");
    fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(!hit(), "a pipe, which nobody writes to");
        fs::remove_file(&file).unwrap();
    }
    // 300 MB, of which none is on the disk.
    fs::File::create(&file).unwrap().set_len(300 << 20).unwrap();
    assert!(!hit(), "a file larger than any kernel");
}

#[test]
fn unusable_entries_are_found_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let cache = KernelCache::open(root.path());
    (0..20).for_each(|number| cache.put(&source(&format!("{number}")), compiled("x", 100 + number)));
    let folder = CacheFolder::open(root.path()).unwrap();
    let entries = folder.entries().unwrap();
    for entry in entries.iter().step_by(5) {
        let file = root.path().join(entry.file_name());
        let mut content = fs::read(&file).unwrap();
        content[60] ^= 1;
        fs::write(&file, content).unwrap();
    }
    fs::write(root.path().join("notes.txt"), "mine").unwrap();
    let mut bad = Vec::new();
    let mut note = |entry: &_, checked: Result<Compiled, Error>| {
        bad.extend(checked.err().map(|error| (Clone::clone(entry), error.to_string())));
    };
    let statistics = folder.survey(&mut note).unwrap();
    assert_eq!((statistics.entries, statistics.unusable, bad.len()), (20, 4, 4));
    assert_eq!(statistics.bytes, entries.iter().map(|entry| entry.bytes).sum::<u64>());
    assert!(bad.iter().all(|(_, message)| message.contains("it is damaged")), "{bad:?}");
    assert!(bad.iter().all(|(entry, _)| folder.remove(entry).unwrap()));
    assert_eq!((folder.statistics().unwrap().entries, folder.statistics().unwrap().unusable), (16, 0));
    assert!(folder.remove(&bad[0].0).unwrap(), "gone is gone");

    // One that was written anew since it was listed stays.
    let (old, file) = (folder.entries().unwrap().remove(0), root.path().join("copy"));
    fs::copy(root.path().join(old.file_name()), &file).unwrap();
    fs::rename(&file, root.path().join(old.file_name())).unwrap();
    assert!(!folder.remove(&old).unwrap());

    let mut names = Vec::new();
    folder.clear(&mut |name, _| names.push(name.to_owned())).unwrap();
    assert_eq!((names.len(), folder.entries().unwrap().len()), (16, 0));
    assert_eq!(fs::read_to_string(root.path().join("notes.txt")).unwrap(), "mine", "what is not ours stays");
}
