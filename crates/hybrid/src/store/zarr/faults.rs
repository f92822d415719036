//! Every call on files fails, at each place; and the process ends at each place.

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
    super::{
        Element, Extents, ReadTyped, Sink, Source, Tile, WriteTyped,
        files::{Files, Step},
    },
    Shards, ZarrSink, ZarrSource,
};
use crate::budget::{Budget, Memory};
use crate::{Class, Error};

const EXTENTS: Extents = Extents::new(20, 30);
const SHARDS: Shards = Shards { shard: Extents::new(16, 16), chunk: Extents::new(8, 8) };
const ERRORS: [Errno; 4] = [Errno::IO, Errno::NOSPC, Errno::ACCESS, Errno::STALE];

fn files(fault: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static) -> Files {
    Files { fault: Some(Arc::new(fault)) }
}

fn nth_fails(nth: usize, error: Errno) -> Files {
    let count = AtomicUsize::new(0);
    files(move |_| if count.fetch_add(1, Ordering::Relaxed) == nth { Err(error.into()) } else { Ok(()) })
}

fn write(files: Files, path: &Path, value: i32) -> Result<(), Error> {
    let sink = ZarrSink::create_with(files, path, EXTENTS, Element::I32, SHARDS)?;
    for tile in EXTENTS.tiles(SHARDS.shard) {
        sink.write(&tile, &vec![value; tile.rows.len() * tile.columns.len()])?;
    }
    Box::new(sink).commit()
}

fn read(files: Files, path: &Path) -> Result<i32, Error> {
    let source = ZarrSource::open_with(files, path)?;
    let (mut values, whole) = (vec![0; EXTENTS.rows * EXTENTS.columns], source.extents().whole());
    // Of whole shards and of one chunk, whose shard's index is read for it.
    let chunk = Tile { rows: 0..8, columns: 8..16 };
    [&whole, &chunk].into_iter().try_for_each(|tile| source.prefetch(tile))?;
    source.read(&whole, &mut values)?;
    [&chunk, &whole].into_iter().try_for_each(|tile| source.release(tile))?;
    assert!(values.iter().all(|value| *value == values[0]), "no array is a mixture");
    Ok(values[0])
}

fn steps(work: impl FnOnce(Files)) -> Vec<Step> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noting = seen.clone();
    work(files(move |step| {
        noting.lock().unwrap().push(step);
        Ok(())
    }));
    seen.lock().unwrap().clone()
}

fn left(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn each_error_at_each_step_of_writing() {
    use Step::*;
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let seen = steps(|files| write(files, &path, 0).unwrap());
    let kinds: HashSet<Step> = [Open, List, MakeFolder, Lock, Create, Allocate, Write, Sync, Rename].into();
    assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), kinds);
    for (nth, step) in seen.iter().copied().enumerate() {
        fs::remove_dir_all(&path).unwrap();
        let error = ERRORS[nth % ERRORS.len()];
        let result = write(nth_fails(nth, error), &path, 1);
        let about = format!("{:?} at step {nth}: {result:?}", (step, error));
        let harmless = matches!(step, List | Lock);
        assert_eq!(result.is_ok(), harmless, "{about}");
        if let Err(failed) = result {
            assert_eq!(failed.class(), Class::Io, "{about}");
            assert!(!matches!(failed, Error::Corrupt { .. }), "{about}");
            let full = error == Errno::NOSPC && matches!(step, Create | Allocate | Write);
            assert!(!full || matches!(failed, Error::StorageFull { .. }), "{about}");
        }
        let there = harmless || nth == seen.len() - 1;
        assert_eq!(left(root.path()), usize::from(there), "{about}");
        if !there {
            write(Files::default(), &path, 1).unwrap();
        }
        assert_eq!(read(Files::default(), &path).unwrap(), 1, "{about}");
    }
}

/// The same in tiles that are no shards, with room for one of these.
fn write_in_parts(files: Files, path: &Path, value: i32) -> Result<(), Error> {
    let sink = ZarrSink::create_with(files, path, EXTENTS, Element::I32, SHARDS)?;
    sink.gather_within(&Budget::new(Memory::Host, 4 * 16 * 16))?;
    for tile in EXTENTS.tiles(Extents::new(20, 11)) {
        sink.write(&tile, &vec![value; tile.rows.len() * tile.columns.len()])?;
    }
    Box::new(sink).commit()
}

#[test]
fn each_error_at_each_step_of_gathering() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let seen = steps(|files| write_in_parts(files, &path, 7).unwrap());
    assert!(seen.contains(&Step::Read), "shards that had to go are read again");
    assert_eq!(read(Files::default(), &path).unwrap(), 7);
    for (nth, step) in seen.iter().copied().enumerate() {
        fs::remove_dir_all(&path).unwrap();
        let result = write_in_parts(nth_fails(nth, Errno::IO), &path, 1);
        let about = format!("{step:?} at step {nth}: {result:?}");
        let harmless = matches!(step, Step::List | Step::Lock);
        assert_eq!(result.is_ok(), harmless, "{about}");
        let there = harmless || nth == seen.len() - 1;
        assert_eq!(left(root.path()), usize::from(there), "{about}");
        if !there {
            write_in_parts(Files::default(), &path, 1).unwrap();
        }
        assert_eq!(read(Files::default(), &path).unwrap(), 1, "{about}");
    }
}

/// What fails once and is written again is whole: nothing of a shard is lost by a call that failed.
#[test]
fn a_part_that_could_not_be_written_is_written_again() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let seen = steps(|files| write_in_parts(files, &path, 7).unwrap());
    for nth in 0..seen.len() {
        fs::remove_dir_all(&path).unwrap();
        let Ok(sink) = ZarrSink::create_with(nth_fails(nth, Errno::IO), &path, EXTENTS, Element::I32, SHARDS) else {
            write(Files::default(), &path, 7).unwrap();
            continue;
        };
        sink.gather_within(&Budget::new(Memory::Host, 4 * 16 * 16)).unwrap();
        for tile in EXTENTS.tiles(Extents::new(20, 11)) {
            let values = vec![5; tile.rows.len() * tile.columns.len()];
            sink.write(&tile, &values).or_else(|_| sink.write(&tile, &values)).unwrap();
        }
        match Box::new(sink).commit() {
            Ok(()) => assert_eq!(read(Files::default(), &path).unwrap(), 5, "{nth}"),
            Err(_) if !path.exists() => write(Files::default(), &path, 7).unwrap(),
            Err(_) => assert_eq!(nth, seen.len() - 1),
        }
    }
}

#[test]
fn each_error_at_each_step_of_reading() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    write(Files::default(), &path, 7).unwrap();
    let seen = steps(|files| assert_eq!(read(files, &path).unwrap(), 7));
    assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), [Step::Open, Step::Stat, Step::Read, Step::Advise].into());
    for (nth, step) in seen.iter().enumerate() {
        let failed = read(nth_fails(nth, Errno::IO), &path).unwrap_err();
        let named = matches!(&failed, Error::Io { path: file, .. } if file.starts_with(&path));
        assert!(named, "{step:?} at step {nth}: {failed}");
    }
    let broken = files(|step| if step == Step::Read { Err(Errno::IO.into()) } else { Ok(()) });
    assert!(matches!(read(broken, &path), Err(Error::Io { call: "pread", .. })));
}

/// Calls of a hint: files that are opened, reads of indices, and what the system is told.
#[test]
fn m8_hints_are_about_the_chunks_of_a_tile() {
    type Hint = fn(&ZarrSource, &Tile) -> Result<(), Error>;
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    write(Files::default(), &path, 7).unwrap();
    let calls = |tile: Tile, hint: Hint| {
        let seen = steps(|files| hint(&ZarrSource::open_with(files, &path).unwrap(), &tile).unwrap());
        // The description is opened and read first.
        let told = |step| seen.iter().filter(|seen| **seen == step).count();
        [told(Step::Open) - 1, told(Step::Read) - 1, told(Step::Advise)]
    };
    let tile = |rows: [usize; 2], columns: [usize; 2]| Tile { rows: rows[0]..rows[1], columns: columns[0]..columns[1] };
    let (prefetch, release): (Hint, Hint) = (ZarrSource::prefetch, ZarrSource::release);
    // How many chunks follow each other in a shard's file is up to who wrote it: two are one range or two.
    let (one, four, few, none) = (1..=1, 4..=4, 1..=2, 0..=0);
    for (tile, fetched, released) in [
        // Whole shards, those at the edges too, need no index.
        (tile([0, 16], [0, 16]), ([1, 0], &one), ([1, 0], &one)),
        (tile([0, 20], [0, 30]), ([4, 0], &four), ([4, 0], &four)),
        (tile([16, 20], [16, 30]), ([1, 0], &one), ([1, 0], &one)),
        (tile([0, 8], [0, 16]), ([2, 1], &few), ([2, 1], &few)),
        (tile([0, 16], [0, 8]), ([2, 1], &few), ([2, 1], &few)),
        // Chunks are fetched for their first element and kept until their last one.
        (tile([0, 9], [0, 16]), ([1, 0], &one), ([2, 1], &few)),
        (tile([7, 9], [7, 9]), ([1, 0], &one), ([2, 1], &one)),
        (tile([0, 7], [0, 7]), ([2, 1], &one), ([0, 0], &none)),
        (tile([9, 15], [0, 8]), ([2, 1], &one), ([0, 0], &none)),
        (tile([3, 3], [0, 7]), ([0, 0], &none), ([0, 0], &none)),
    ] {
        for (hint, (of_files, told)) in [(prefetch, fetched), (release, released)] {
            let [opened, read, advised] = calls(tile.clone(), hint);
            assert!([opened, read] == of_files && told.contains(&advised), "{tile:?}: {opened} {read} {advised}");
        }
    }
    // A shard that is not there is read as zeros, and hints about it are none.
    fs::remove_file(path.join("c.0.1")).unwrap();
    assert_eq!(calls(tile([0, 20], [0, 30]), prefetch), [4, 0, 3]);
    assert_eq!(calls(tile([0, 8], [16, 24]), prefetch), [1, 0, 0]);
    let outside = tile([0, 21], [0, 1]);
    let source = ZarrSource::open(&path).unwrap();
    assert!(source.prefetch(&outside).is_err() && source.release(&outside).is_err());
}

/// Hints read an index once, and check it then; reads notice what became of it since.
#[test]
fn m8_hints_read_the_index_of_a_shard_once() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    write(Files::default(), &path, 7).unwrap();
    let part = Tile { rows: 0..8, columns: 8..16 };
    let of_other = Tile { rows: 16..20, columns: 0..8 };
    let seen = steps(|files| {
        let source = ZarrSource::open_with(files, &path).unwrap();
        for _ in 0..3 {
            [&part, &of_other].into_iter().try_for_each(|tile| source.prefetch(tile)).unwrap();
            source.release(&part).unwrap();
        }
    });
    // The description, and two indices.
    assert_eq!(seen.iter().filter(|step| **step == Step::Read).count(), 1 + 2);
    let (source, shard) = (ZarrSource::open(&path).unwrap(), path.join("c.0.0"));
    source.prefetch(&part).unwrap();
    let mut bytes = fs::read(&shard).unwrap();
    let last = bytes.len() - 8;
    bytes[last] ^= 1;
    fs::write(&shard, bytes).unwrap();
    source.release(&part).unwrap();
    let is_noticed = |done| matches!(done, Err(Error::Corrupt { .. }));
    assert!(is_noticed(source.read(&part, &mut [0; 64])));
    assert!(is_noticed(ZarrSource::open(&path).unwrap().prefetch(&part)));
}

const CHILD: &str = "TILEWRIGHT_ZARR_KILLED_AT";

#[test]
fn m4_the_process_is_killed_at_each_step() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let steps = steps(|files| write(files, &path, 0).unwrap());
    let renamed = steps.iter().position(|step| *step == Step::Rename).unwrap();
    let old = SystemTime::now() - Duration::from_secs(3600);
    for (nth, step) in steps.iter().enumerate() {
        let _ = fs::remove_dir_all(&path);
        // Sweeps, so that each child takes the same steps.
        write(Files::default(), &path, 0).unwrap();
        fs::remove_dir_all(&path).unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::zarr::faults::child_writer", "--nocapture"])
            .env(CHILD, format!("{nth} {}", path.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!status.success(), "step {nth}");
        assert_eq!(path.exists(), nth > renamed, "{:?}, step {nth}", step);
        if path.exists() {
            assert_eq!(read(Files::default(), &path).unwrap(), 1);
        }
        assert!(left(root.path()) <= 1, "{:?}, step {nth}", step);
        for entry in fs::read_dir(root.path()).unwrap() {
            fs::File::open(entry.unwrap().path()).unwrap().set_modified(old).unwrap();
        }
    }
    let _ = fs::remove_dir_all(&path);
    write(Files::default(), &path, 2).unwrap();
    assert_eq!((read(Files::default(), &path).unwrap(), left(root.path())), (2, 1), "what was left is swept");
}

#[test]
fn child_writer() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (nth, path) = task.split_once(' ').unwrap();
    let (nth, count) = (nth.parse::<usize>().unwrap(), AtomicUsize::new(0));
    let killed = move |_| {
        if count.fetch_add(1, Ordering::Relaxed) == nth {
            let itself = rustix::process::getpid();
            rustix::process::kill_process(itself, rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    };
    let _ = write(files(killed), Path::new(path), 1);
}
