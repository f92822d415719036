//! Every call on files fails, at each place, with each error that file systems have for it; and the process ends at each place.

use std::{
    collections::HashSet,
    fs, io,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use rustix::io::Errno;

use super::{
    Element, Extents, NpySink, NpySource, Order, Sink, Source, WriteTyped,
    files::{Files, Step},
};
use crate::bits::{self, BitMatrix};
use crate::{Class, Error};

const SHAPE: [usize; 2] = [33, 65];
const ERRORS: [Errno; 8] =
    [Errno::ACCESS, Errno::STALE, Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::ROFS, Errno::NOMEM, Errno::TIMEDOUT];

fn files(fault: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static) -> Files {
    Files { fault: Some(Arc::new(fault)) }
}

/// Answers of file systems that know no files without names.
fn unnamed_unknown(step: Step) -> io::Result<()> {
    if step == Step::CreateUnnamed { Err(Errno::OPNOTSUPP.into()) } else { Ok(()) }
}

/// Fails one step, the `nth`.
fn nth_fails(nth: usize, error: Errno, named: bool) -> Files {
    let count = AtomicUsize::new(0);
    files(move |step| match count.fetch_add(1, Ordering::Relaxed) == nth {
        true => Err(error.into()),
        false if named => unnamed_unknown(step),
        false => Ok(()),
    })
}

/// Writes a file whose elements are all `value`.
fn write(files: Files, path: &Path, value: i32) -> Result<(), Error> {
    let sink = NpySink::create_with(files, path, &SHAPE, Element::I32, Order::C)?;
    for tile in sink.extents().tiles(Extents::new(20, 40)) {
        let size = tile.extents();
        sink.write(&tile, &vec![value; size.rows * size.columns])?;
    }
    Box::new(sink).commit()
}

/// Writes a matrix of bits of this value: those of 0 and of 1 have as many bytes in a row, not as many columns.
fn write_bits(files: Files, path: &Path, value: i32) -> Result<(), Error> {
    let matrix = bits_of(value)?;
    let shape = [matrix.rows(), matrix.columns().div_ceil(8)];
    bits::write(NpySink::create_with(files, path, &shape, Element::U8, Order::C)?, &matrix)
}

fn bits_of(value: i32) -> Result<BitMatrix, Error> {
    BitMatrix::from_fn(33, 65 + value as usize, |row, column| (row + column) % 3 == value as usize % 3)
}

/// The value of a matrix of bits: 0, 1 or 2, and nothing between them.
fn read_bits(path: &Path) -> i32 {
    let matrix = bits::read_npy(path).unwrap();
    (0..3).find(|value| matrix == bits_of(*value).unwrap()).expect("no file is a mixture")
}

/// The value of a whole file, if there is one.
fn read(files: Files, path: &Path) -> Result<i32, Error> {
    let source = NpySource::open_with(files, path)?;
    let mut values = vec![0i32; SHAPE[0] * SHAPE[1]];
    for tile in source.extents().tiles(Extents::new(20, 40)) {
        source.prefetch(&tile)?;
        let mut part = vec![0i32; tile.rows.len() * tile.columns.len()];
        source.read_tile(&tile, bytemuck::cast_slice_mut(&mut part))?;
        source.release(&tile)?;
        values[tile.rows.start * SHAPE[1] + tile.columns.start] = part[0];
        assert!(part.iter().all(|value| *value == part[0]));
    }
    source.read_tile(&source.extents().whole(), bytemuck::cast_slice_mut(&mut values))?;
    assert!(values.iter().all(|value| *value == values[0]), "no file is a mixture");
    Ok(values[0])
}

/// The steps of some work.
fn steps(work: impl FnOnce(Files), named: bool) -> Vec<Step> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noting = seen.clone();
    work(files(move |step| {
        noting.lock().unwrap().push(step);
        if named { unnamed_unknown(step) } else { Ok(()) }
    }));
    seen.lock().unwrap().clone()
}

/// All errors where they are told apart; elsewhere some, as what a step does with one does not depend on its place.
fn cases(steps: &[Step]) -> impl Iterator<Item = (usize, Errno)> {
    steps.iter().enumerate().flat_map(|(nth, step)| {
        let apart = matches!(step, Step::Allocate | Step::Write) && nth < 8;
        let (skipped, stride) = if apart { (0, 1) } else { (nth % 4, 4) };
        ERRORS.into_iter().skip(skipped).step_by(stride).map(move |error| (nth, error))
    })
}

fn left(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn each_error_at_each_step_of_writing() {
    use Step::*;
    for named in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.npy");
        let seen = steps(|files| write(files, &path, 0).unwrap(), named);
        let mut kinds: HashSet<Step> = [Open, List, CreateUnnamed, Lock, Allocate, Write, Sync, Rename].into();
        kinds.insert(if named { Create } else { Link });
        assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), kinds);
        for (nth, error) in cases(&seen) {
            write(Files::default(), &path, 0).unwrap();
            let result = write(nth_fails(nth, error, named), &path, 1);
            let about = format!("{:?} at step {nth}: {result:?}", (seen[nth], error));
            // What killed processes left cannot be swept then, or this file not locked; both are needed by nobody.
            let harmless = matches!(seen[nth], List | Lock);
            assert_eq!(result.is_ok(), harmless, "{about}");
            if let Err(failed) = result {
                assert_eq!(failed.class(), Class::Io, "{about}");
                let full = matches!(error, Errno::NOSPC | Errno::DQUOT) && matches!(seen[nth], Allocate | Write);
                assert_eq!(matches!(failed, Error::StorageFull { .. }), full, "{about}");
                assert!(failed.to_string().contains("a.npy") || nth == 0, "{about}");
            }
            // The last step comes when the file is there already.
            let value = if harmless || nth == seen.len() - 1 { 1 } else { 0 };
            assert_eq!((read(Files::default(), &path).unwrap(), left(root.path())), (value, 1), "{about}");
        }
    }
}

#[test]
fn each_error_at_each_step_of_reading() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    write(Files::default(), &path, 7).unwrap();
    let seen = steps(|files| assert_eq!(read(files, &path).unwrap(), 7), false);
    use Step::*;
    assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), [Open, Stat, Read, Advise].into());
    for (nth, error) in cases(&seen) {
        let failed = read(nth_fails(nth, error, false), &path).unwrap_err();
        assert!(matches!(&failed, Error::Io { path: named, .. } if *named == path), "{failed}");
        assert_eq!((failed.class(), left(root.path())), (Class::Io, 1));
    }
}

#[test]
fn room_that_cannot_be_reserved() {
    let root = tempfile::tempdir().unwrap();
    let unsupported = files(|step| if step == Step::Allocate { Err(Errno::OPNOTSUPP.into()) } else { Ok(()) });
    let error = write(unsupported, &root.path().join("a.npy"), 1).unwrap_err();
    assert!(error.to_string().contains("cannot reserve room"), "{error}");
    assert_eq!(left(root.path()), 0);
}

#[test]
fn what_cannot_be_removed_goes_later() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    let broken = |step| match step {
        Step::Rename | Step::Remove => Err(Errno::IO.into()),
        _ => Ok(()),
    };
    assert!(write(files(broken), &path, 1).is_err());
    assert!(!path.exists() && left(root.path()) == 1);
    write(Files::default(), &path, 2).unwrap();
    assert_eq!(left(root.path()), 2, "it may be another's: it is young");
    let age = |path: &Path| {
        let old = SystemTime::now() - Duration::from_secs(3600);
        fs::File::open(path).unwrap().set_modified(old).unwrap();
    };
    let others = [".tilewright-notes", "mine.part", ".tilewright-1-2.part.txt"].map(|name| root.path().join(name));
    others.iter().for_each(|other| fs::write(other, "mine").unwrap());
    fs::read_dir(root.path()).unwrap().for_each(|entry| age(&entry.unwrap().path()));
    // One that somebody writes, however long ago it was begun.
    let sink = NpySink::create_with(files(unnamed_unknown), &root.path().join("b.npy"), &SHAPE, Element::I32, Order::C);
    let sink = sink.unwrap();
    fs::read_dir(root.path()).unwrap().for_each(|entry| age(&entry.unwrap().path()));
    write(Files::default(), &path, 3).unwrap();
    assert_eq!(left(root.path()), 1 + others.len() + 1);
    drop(sink);
    assert_eq!((left(root.path()), read(Files::default(), &path).unwrap()), (1 + others.len(), 3));
}

const CHILD: &str = "TILEWRIGHT_KILLED_AT";

#[test]
fn m4_the_process_is_killed_at_each_step() {
    for (named, of_bits) in [(false, false), (true, false), (false, true), (true, true)] {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.npy");
        let write = if of_bits { write_bits } else { write };
        let read = || if of_bits { read_bits(&path) } else { read(Files::default(), &path).unwrap() };
        let steps = steps(|files| write(files, &path, 0).unwrap(), named);
        let renamed = steps.iter().position(|step| *step == Step::Rename).unwrap();
        for (nth, step) in steps.iter().enumerate() {
            write(Files::default(), &path, 0).unwrap();
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "store::faults::child_writer", "--nocapture"])
                .env(CHILD, format!("{nth} {named} {of_bits} {}", path.display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            assert!(!status.success(), "step {nth}");
            let value = read();
            assert_eq!(value, i32::from(nth > renamed), "{:?}, step {nth}", step);
            // Without a name nothing is left, but between two calls.
            let most = if named || *step == Step::Rename { 2 } else { 1 };
            assert!(left(root.path()) <= most, "{:?}, step {nth}", step);
            let old = SystemTime::now() - Duration::from_secs(3600);
            fs::read_dir(root.path())
                .unwrap()
                .for_each(|entry| fs::File::open(entry.unwrap().path()).unwrap().set_modified(old).unwrap());
        }
        write(Files::default(), &path, 2).unwrap();
        assert_eq!((read(), left(root.path())), (2, 1));
    }
}

#[test]
fn child_writer() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = task.splitn(4, ' ').collect();
    let (nth, named, path) = (words[0].parse::<usize>().unwrap(), words[1] == "true", words[3]);
    let write = if words[2] == "true" { write_bits } else { write };
    let count = AtomicUsize::new(0);
    let killed = move |step| {
        if count.fetch_add(1, Ordering::Relaxed) == nth {
            let itself = rustix::process::getpid();
            rustix::process::kill_process(itself, rustix::process::Signal::KILL).unwrap();
        }
        if named { unnamed_unknown(step) } else { Ok(()) }
    };
    let _ = write(files(killed), Path::new(path), 1);
}
