//! When and how a result appears: whole or not at all, whatever happens.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use ndarray::Array2;
use tilewright_hybrid::{
    Class, Error,
    store::{Element, Extents, NpySink, NpySource, Order, ReadTyped, Sink, Source, Tile, WriteTyped},
};

use super::truth::numbers;
use crate::{child, skip};

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn sink(path: &Path, rows: usize, columns: usize) -> NpySink {
    NpySink::create(path, &[rows, columns], Element::U64, Order::C).unwrap()
}

/// A file whose elements are all `value`.
fn write(path: &Path, rows: usize, columns: usize, value: u64) {
    let sink = sink(path, rows, columns);
    for tile in sink.extents().tiles(Extents::new(64, columns)) {
        sink.write(&tile, &vec![value; tile.rows.len() * columns]).unwrap();
    }
    Box::new(sink).commit().unwrap();
}

/// The one value of a file, and how many there are.
fn value(path: &Path) -> (u64, usize) {
    let source = NpySource::open(path).unwrap();
    let mut values = vec![0u64; source.extents().rows * source.extents().columns];
    source.read(&source.extents().whole(), &mut values).unwrap();
    assert!(values.iter().all(|value| *value == values[0]), "no file is a mixture");
    (values[0], values.len())
}

#[test]
fn nothing_appears_before_the_commit() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    let first = sink(&path, 4, 5);
    first.write(&Tile { rows: 0..4, columns: 0..4 }, &[1u64; 16]).unwrap();
    assert!(!path.exists());
    let error = Box::new(first).commit().unwrap_err();
    assert!(matches!(&error, Error::Incomplete { row: 0, column: 4, .. }), "{error}");
    assert_eq!(error.class(), Class::User);
    assert_eq!(files(root.path()), Vec::<PathBuf>::new());
    write(&path, 4, 5, 7);
    drop(sink(&path, 100, 100));
    assert_eq!((value(&path), files(root.path()).len()), ((7, 20), 1));
    write(&path, 3, 3, 8);
    assert_eq!((value(&path), files(root.path()).len()), ((8, 9), 1));
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    fs::write(root.path().join("plain"), "").unwrap();
    assert_eq!(mode, fs::metadata(root.path().join("plain")).unwrap().permissions().mode() & 0o777, "as umask says");
}

#[test]
fn b7_a_failure_between_tiles_shows_nothing() {
    use tilewright_hybrid::Side;
    use tilewright_hybrid::faults::{Attempt, Breaker, Settings};
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("c.npy");
    write(&path, 8, 8, 1);
    let breaker = Breaker::new(0, Settings::default());
    let tiles: Vec<_> = Extents::new(8, 8).tiles(Extents::new(2, 8)).collect();
    for fails in [0, 1, 3, 4] {
        let product = |last: usize, value: u64| {
            let sink = sink(&path, 8, 8);
            tiles[..last].iter().try_for_each(|tile| sink.write(tile, &[value; 16]))?;
            match last {
                4 => Box::new(sink).commit(),
                _ => Err(tilewright_driver::Error::OutOfMemory { requested: 9, free: 1, total: 2 }.into()),
            }
        };
        let done = Attempt::new("product", &breaker).run(
            |_| product(fails, 100 + fails as u64),
            |_| {
                assert_eq!(value(&path), (1, 64), "nothing of the device's half is seen");
                product(4, fails as u64)
            },
        );
        let place = done.unwrap().side;
        let expected = if fails == 4 { (Side::Gpu, 104) } else { (Side::Cpu, fails as u64) };
        assert_eq!((place, value(&path)), (expected.0, (expected.1, 64)));
        assert_eq!(files(root.path()).len(), 1);
        write(&path, 8, 8, 1);
        breaker.revive();
    }
}

#[test]
fn m3_a_disk_that_is_too_small() {
    const NAME: &str = "store::publication::m3_a_disk_that_is_too_small";
    // Mounted where no other process sees it, so that it goes with the child.
    const LINE: &str =
        "exec unshare --mount sh -c 'mount -t tmpfs -o size=16m tmpfs \"$FOLDER\" || exit 77; exec \"$@\"' sh \"$@\"";
    let root = tempfile::tempdir().unwrap();
    let mut command = child::shell(LINE, "full disk");
    let output = command.env("FOLDER", root.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let ran = String::from_utf8_lossy(&output.stdout).contains("running 1 test");
    if ran { child::check(&output) } else { skip(NAME, "no right to mount") }
}

pub(crate) fn child_full_disk() {
    let folder = PathBuf::from(std::env::var_os("FOLDER").unwrap());
    let path = folder.join("a.npy");
    // 8 MiB fit, and leave no room for another.
    write(&path, 1024, 1024, 1);
    for rows in [1024, 2048, 1 << 20] {
        let error = NpySink::create(&path, &[rows, 1024], Element::U64, Order::C).unwrap_err();
        let bytes = rows as u64 * 1024 * 8 + 128;
        assert!(matches!(&error, Error::StorageFull { requested, .. } if *requested == bytes), "{error}");
        assert_eq!((error.class(), value(&path), files(&folder).len()), (Class::Io, (1, 1 << 20), 1));
    }
    // What was reserved and given up is free again.
    for round in 0..20u64 {
        let sink = sink(&path, 512, 1024);
        if round % 2 == 0 {
            drop(sink);
        } else {
            sink.write(&sink.extents().whole(), &vec![round; 512 * 1024]).unwrap();
            Box::new(sink).commit().unwrap();
        }
    }
    assert_eq!((value(&path), files(&folder).len()), ((19, 512 * 1024), 1));
}

#[test]
fn m4_writers_that_are_killed() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    write(&path, 256, 1000, 0);
    let (mut killed, mut next) = (0, numbers(5));
    for _ in 0..20 {
        let mut command = child::command("npy writer");
        command.env("FILE", &path).env("ROUNDS", "100000").stdout(Stdio::null()).stderr(Stdio::null());
        let mut writer = command.spawn().unwrap();
        std::thread::sleep(Duration::from_micros(20_000 + next() % 60_000));
        writer.kill().unwrap();
        killed += usize::from(writer.wait().unwrap().signal() == Some(9));
        assert_eq!(value(&path).1, 256_000);
    }
    assert_eq!(killed, 20);
    assert!(value(&path).0 > 0, "none of them wrote anything");
    // On file systems without unnamed files their names are left until they are old.
    assert!(files(root.path()).len() <= 21);
}

#[test]
fn m6_two_processes_in_one_folder() {
    let root = tempfile::tempdir().unwrap();
    let shared = root.path().join("shared.npy");
    let writers: Vec<_> = (0..2)
        .map(|_| {
            let mut command = child::command("npy writer");
            command.env("FILE", &shared).env("ROUNDS", "40").stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for writer in writers {
        child::check(&writer.wait_with_output().unwrap());
    }
    assert_eq!((value(&shared), files(root.path())), ((40, 256_000), vec![shared]));
}

/// Writes one file again and again, with a number that rises.
pub(crate) fn child_npy_writer() {
    let path = PathBuf::from(std::env::var_os("FILE").unwrap());
    for round in 1..=std::env::var("ROUNDS").unwrap().parse().unwrap() {
        write(&path, 256, 1000, round);
        assert_eq!(value(&path).1, 256_000);
    }
}

#[test]
fn m14_nothing_grows() {
    let mut command = child::command("two hundred files");
    child::check(&command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap());
}

pub(crate) fn child_two_hundred_files() {
    use tilewright_hybrid::budget::{Budget, Memory, system::maps};
    let root = tempfile::tempdir().unwrap();
    let host = Budget::new(Memory::Host, 1 << 20);
    let count = || (fs::read_dir("/proc/self/fd").map_or(0, Iterator::count), maps().unwrap_or(0));
    let mut before = (0, 0);
    for round in 0..200 {
        let permit = host.try_acquire(1 << 20).unwrap();
        let path = root.path().join(format!("{}.npy", round % 7));
        write(&path, 100, 100, round);
        drop(sink(&path, 50, 50));
        let _ = NpySink::create(root.path().join("no/such/folder.npy"), &[5, 5], Element::F32, Order::C).unwrap_err();
        assert_eq!(value(&path), (round, 10_000));
        drop(permit);
        if round == 20 {
            before = count();
        }
    }
    let after = count();
    assert_eq!((after.0, host.used(), host.peak()), (before.0, 0, 1 << 20));
    assert!(after.1 <= before.1 + 2, "{before:?} {after:?}");
}

#[test]
fn m7_what_is_read_is_never_changed() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    write(&path, 8, 8, 3);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let before = fs::read(&path).unwrap();
    let source = NpySource::open(&path).unwrap();
    let mut values = Array2::<u64>::zeros((8, 8));
    source.read(&source.extents().whole(), values.as_slice_mut().unwrap()).unwrap();
    values.fill(9);
    assert_eq!(fs::read(&path).unwrap(), before);
    // A new file of that name is another file: who has the old one open keeps it.
    write(&path, 8, 8, 4);
    source.read(&source.extents().whole(), values.as_slice_mut().unwrap()).unwrap();
    assert!(values.iter().all(|value| *value == 3));
    assert_eq!(value(&path), (4, 64));
    // Nor is what a link points to.
    let link = root.path().join("link.npy");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    write(&link, 8, 8, 5);
    assert_eq!((value(&path).0, value(&link).0), (4, 5));
}
