//! When and how a result appears: whole or not at all, whatever happens.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use ndarray::Array2;
use tilewright_hybrid::{
    Class, Error,
    store::{Element, Extents, NpySink, NpySource, Order, ReadTyped, Sink, Source, Tile, WriteTyped},
};

use super::format::Format;
use crate::child;

pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn sink(path: &Path, rows: usize, columns: usize) -> NpySink {
    NpySink::create(path, &[rows, columns], Element::U64, Order::C).unwrap()
}

fn write(path: &Path, rows: usize, columns: usize, value: u64) {
    Format::Npy.write(path, rows, columns, value).unwrap();
}

fn value(path: &Path) -> (u64, usize) {
    Format::Npy.value(path)
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
