//! The folder's limit, and clocks that jump.

use std::{
    fs::{self, File},
    path::Path,
    sync::mpsc,
    time::{Duration, SystemTime},
};

use tilewright_driver::{CacheFolder, KernelCache};

use super::{ARCH, compiled, entries, only_entry, source};

const HOUR: Duration = Duration::from_secs(3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn age(file: &Path, time: SystemTime) {
    File::open(file).unwrap().set_modified(time).unwrap();
}

fn time(file: &Path) -> SystemTime {
    fs::metadata(file).unwrap().modified().unwrap()
}

/// Ten entries of about 10 kB, the first used ten hours ago, the last one hour ago.
fn ten(folder: &Path) -> (CacheFolder, u64) {
    let cache = KernelCache::open(folder);
    let now = SystemTime::now();
    for number in 0..10 {
        cache.put(&source(&number.to_string()), compiled("x", 10_000));
        let file = folder.join(format!("{}.kernel", key(number)));
        age(&file, now - HOUR * (10 - number));
    }
    let folder = CacheFolder::open(folder).unwrap();
    let bytes = folder.statistics().unwrap().bytes;
    (folder, bytes)
}

fn key(number: u32) -> tilewright_driver::Key {
    source(&number.to_string()).key(ARCH)
}

fn left(folder: &CacheFolder) -> Vec<u32> {
    let entries = folder.entries().unwrap();
    (0..10).filter(|number| entries.iter().any(|entry| entry.key == key(*number))).collect()
}

#[test]
fn the_longest_unused_go_first() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bytes) = ten(root.path());
    assert_eq!(folder.limit(), Some(CacheFolder::DEFAULT_LIMIT));
    assert_eq!(folder.evict().unwrap(), 0, "far below the limit");
    let folder = folder.with_limit(None);
    assert_eq!(folder.evict().unwrap(), 0, "no limit");
    let folder = folder.with_limit(Some(bytes));
    assert_eq!(folder.evict().unwrap(), 0, "just the limit");
    // 7 of 10 is 90 % of 7.8.
    let folder = folder.with_limit(Some(bytes / 100 * 78));
    assert_eq!(folder.evict().unwrap(), 3);
    assert_eq!(left(&folder), [3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(folder.with_limit(Some(0)).evict().unwrap(), 7);
}

#[test]
fn a_use_is_noted_once_a_day() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bytes) = ten(root.path());
    let file = root.path().join(format!("{}.kernel", key(0)));
    let before = time(&file);
    assert!(folder.find(&key(0)).is_some());
    assert_eq!(time(&file), before, "used today already");
    age(&file, SystemTime::now() - HOUR * 25);
    assert!(folder.find(&key(0)).is_some());
    let touched = time(&file);
    assert!(touched.elapsed().unwrap() < HOUR, "used for the first time in a day");
    assert!(folder.find(&key(0)).is_some());
    assert_eq!(time(&file), touched);
    // What was used stays, although it was the oldest.
    assert_eq!(folder.with_limit(Some(bytes / 2)).evict().unwrap(), 6);
    assert_eq!(left(&CacheFolder::open(root.path()).unwrap()), [0, 7, 8, 9]);
    // Reading for a check is no use.
    let old = SystemTime::now() - YEAR;
    age(&file, old);
    let folder = CacheFolder::open(root.path()).unwrap();
    assert_eq!(folder.statistics().unwrap().oldest, Some(time(&file)));
    assert!(time(&file).elapsed().unwrap() > YEAR / 2);
}

#[test]
fn entries_from_the_future() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bytes) = ten(root.path());
    let now = SystemTime::now();
    let file = |number| root.path().join(format!("{}.kernel", key(number)));
    // By an hour clocks can differ; by a year one was wrong.
    age(&file(0), now + HOUR);
    (8..10).for_each(|number| age(&file(number), now + YEAR));
    for number in [0, 9] {
        let before = time(&file(number));
        assert!(folder.find(&key(number)).is_some() && folder.find(&key(number)).is_some());
        assert_eq!(time(&file(number)), before, "hosts with different clocks do not touch it in turns");
    }
    // What was used while a clock was wrong goes first, so that it is not kept in the place of what is used now.
    let folder = folder.with_limit(Some(bytes / 100 * 78));
    assert_eq!(folder.evict().unwrap(), 3);
    assert_eq!(left(&folder), [0, 2, 3, 4, 5, 6, 7]);
    let folder = folder.with_limit(Some(bytes / 10 * 2));
    assert_eq!(folder.evict().unwrap(), 6);
    assert_eq!(left(&folder), [0], "the newest by an hour");
}

#[test]
fn a_clock_that_jumps_evicts_no_more_than_the_limit_asks() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bytes) = ten(root.path());
    // As if the clock had been at 1970 for all, then had jumped by half a century.
    for entry in entries(root.path()) {
        age(&entry, SystemTime::UNIX_EPOCH);
    }
    assert_eq!(folder.evict().unwrap(), 0);
    let folder = folder.with_limit(Some(bytes - 1));
    assert_eq!(folder.evict().unwrap(), 2, "down to nine tenths, and a bit");
    // All from the future: the clock jumped back.
    for entry in entries(root.path()) {
        age(&entry, SystemTime::now() + 50 * YEAR);
    }
    assert_eq!(folder.evict().unwrap(), 0);
    assert_eq!(left(&folder).len(), 8);
    // Before 1970.
    for entry in entries(root.path()) {
        age(&entry, SystemTime::UNIX_EPOCH - YEAR);
    }
    assert_eq!(folder.evict().unwrap(), 0);
    assert!(left(&folder).iter().all(|number| folder.find(&key(*number)).is_some()));
}

#[test]
fn old_temporary_files_go() {
    let root = tempfile::tempdir().unwrap();
    let (folder, _) = ten(root.path());
    let file = |name: &str, time: SystemTime| {
        fs::write(root.path().join(name), "half").unwrap();
        age(&root.path().join(name), time);
    };
    let now = SystemTime::now();
    file(".0123456789abcdef-7-0-0123456789abcdef.tmp", now - HOUR * 2);
    file(".12-3.tmp", now - HOUR * 2);
    file(".0123456789abcdef-7-1-0123456789abcdef.tmp", now);
    file(".0123456789abcdef-7-2-0123456789abcdef.tmp", now - HOUR / 2);
    file("mine.tmp", now - YEAR);
    file(".hidden", now - YEAR);
    assert_eq!(folder.statistics().unwrap().temporaries, 4);
    assert_eq!(folder.evict().unwrap(), 0);
    assert_eq!(folder.statistics().unwrap().temporaries, 2);
    assert_eq!(left(&folder).len(), 10);
    assert!(root.path().join("mine.tmp").exists() && root.path().join(".hidden").exists());
}

#[test]
fn puts_keep_the_limit() {
    let root = tempfile::tempdir().unwrap();
    let limit = 200_000;
    let cache = KernelCache::in_folder(CacheFolder::open(root.path()).unwrap().with_limit(Some(limit)));
    (0..200).for_each(|number| cache.put(&source(&number.to_string()), compiled("x", 10_000)));
    let statistics = CacheFolder::open(root.path()).unwrap().statistics().unwrap();
    // One look in 32 puts: no more than 32 beyond it.
    assert!(statistics.bytes <= limit + 32 * 10_500, "{statistics:?}");
    assert!(statistics.bytes >= limit / 10 * 9 - 10_500 && statistics.unusable == 0, "{statistics:?}");
    let counted = cache.statistics();
    assert_eq!((counted.evictions, counted.dropped_writes), (200 - statistics.entries, 0));
}

#[test]
fn one_at_a_time() {
    let root = tempfile::tempdir().unwrap();
    let (folder, _) = ten(root.path());
    let folder = folder.with_limit(Some(0));
    let lock = File::create(root.path().join(".evict")).unwrap();
    lock.lock().unwrap();
    assert_eq!(folder.evict().unwrap(), 0, "another process is at it");
    drop(lock);
    // Several at once: each entry is counted by who removed it.
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (folder, sender) = (&folder, sender.clone());
            scope.spawn(move || sender.send(folder.evict().unwrap()).unwrap());
        }
    });
    drop(sender);
    assert_eq!(receiver.iter().sum::<u64>(), 10);
    assert!(root.path().join(".evict").exists(), "a lock file is never removed");
    only_lock_is_left(root.path());
}

fn only_lock_is_left(folder: &Path) {
    assert_eq!(entries(folder), Vec::<std::path::PathBuf>::new());
    KernelCache::open(folder).put(&source("again"), compiled("again", 10));
    only_entry(folder);
}
