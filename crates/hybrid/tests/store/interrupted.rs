//! Results that are begun and not finished, in each format: a full disk, a process that is killed, another one in the same folder.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime},
};

use tilewright_hybrid::{
    Class, Error,
    store::{Extents, Tile, WriteTyped},
};

use super::{
    format::{FORMAT, Format, TILE_ROWS},
    publication::files,
    truth::numbers,
};
use crate::{child, skip};

/// What a writer writes, again and again.
const SHAPE: [usize; 2] = [256, 1000];
const COUNT: usize = SHAPE[0] * SHAPE[1];

#[test]
fn m3_a_disk_that_is_too_small() {
    const NAME: &str = "store::interrupted::m3_a_disk_that_is_too_small";
    // Mounted where no other process sees it, so that it goes with the child.
    const LINE: &str =
        "exec unshare --mount sh -c 'mount -t tmpfs -o size=16m tmpfs \"$FOLDER\" || exit 77; exec \"$@\"' sh \"$@\"";
    for format in Format::ALL {
        let root = tempfile::tempdir().unwrap();
        let mut command = child::shell(LINE, "full disk");
        let output = command.env("FOLDER", root.path()).env(FORMAT, format.name()).output().unwrap();
        let ran = String::from_utf8_lossy(&output.stdout).contains("running 1 test");
        if !ran {
            return skip(NAME, "no right to mount");
        }
        child::check(&output);
    }
}

pub(crate) fn child_full_disk() {
    let (format, folder) = (Format::here(), PathBuf::from(std::env::var_os("FOLDER").unwrap()));
    // 8 MiB fit, and leave no room for another.
    let first = folder.join("a");
    format.write(&first, 1024, 1024, 1).unwrap();
    let (path, count) = if format.replaces() { (first.clone(), 1) } else { (folder.join("b"), 2) };
    for rows in [1024, 2048, 1 << 20] {
        let error = format.write(&path, rows, 1024, 2).unwrap_err();
        let bytes = format.reserved(rows, 1024);
        assert!(matches!(&error, Error::StorageFull { requested, .. } if *requested == bytes), "{error}");
        assert_eq!((error.class(), format.value(&first), files(&folder).len()), (Class::Io, (1, 1 << 20), 1));
    }
    // What was taken and given up is free again.
    for round in 0..20u64 {
        format.vacate(&path);
        if round % 2 == 0 {
            let sink = format.sink(&path, 512, 1024).unwrap();
            sink.write(&Tile { rows: 0..448, columns: 0..1024 }, &vec![round; 448 * 1024]).unwrap();
        } else {
            format.write(&path, 512, 1024, round).unwrap();
        }
    }
    assert_eq!((format.value(&path), files(&folder).len()), ((19, 512 * 1024), count));
}

/// Starts to write one name again and again.
fn writer(format: Format, path: &Path, rounds: usize) -> Command {
    let mut command = child::command("writer");
    command.env("FILE", path).env("ROUNDS", rounds.to_string()).env(FORMAT, format.name());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Writes one name again and again, with a number that rises.
pub(crate) fn child_writer() {
    let (format, path) = (Format::here(), PathBuf::from(std::env::var_os("FILE").unwrap()));
    for round in 1..=std::env::var("ROUNDS").unwrap().parse().unwrap() {
        format.vacate(&path);
        format.write(&path, SHAPE[0], SHAPE[1], round).unwrap();
        assert_eq!(format.value(&path).1, COUNT);
    }
}

/// Has all in a folder look as if nobody had touched it for an hour.
fn age(folder: &Path) {
    let old = SystemTime::now() - Duration::from_secs(3600);
    files(folder).iter().for_each(|path| fs::File::open(path).unwrap().set_modified(old).unwrap());
}

#[test]
fn m4_writers_that_are_killed() {
    for format in Format::ALL {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a");
        format.write(&path, SHAPE[0], SHAPE[1], 0).unwrap();
        // The later, as long as none had the time to write anything.
        let (mut killed, mut written, mut next, mut most) = (0, 0, numbers(5), 60_000);
        for _ in 0..20 {
            let mut writer =
                writer(*format, &path, 100_000).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(20_000 + next() % most));
            writer.kill().unwrap();
            killed += usize::from(writer.wait().unwrap().signal() == Some(9));
            // Between two results a name that is not replaced is free.
            if format.replaces() || path.exists() {
                let (value, count) = format.value(&path);
                assert_eq!(count, COUNT, "{format:?}");
                written += usize::from(value > 0);
            }
            most = if written > 0 { 60_000 } else { (2 * most).min(4_000_000) };
        }
        assert!(killed == 20 && written > 0, "{format:?}: {killed} were killed, {written} had written anything");
        // On file systems without unnamed files their names are left until they are old.
        assert!(files(root.path()).len() <= 22, "{format:?}");
        age(root.path());
        format.vacate(&path);
        format.write(&path, SHAPE[0], SHAPE[1], 7).unwrap();
        assert_eq!((format.value(&path), files(root.path())), ((7, COUNT), vec![path]), "{format:?}");
    }
}

#[test]
fn m6_two_processes_in_one_folder() {
    for format in Format::ALL {
        let root = tempfile::tempdir().unwrap();
        // A third writer takes its time, and looks as if it had been killed.
        let slow = root.path().join("slow");
        let sink = format.sink(&slow, SHAPE[0], SHAPE[1]).unwrap();
        let mut tiles = sink.extents().tiles(Extents::new(TILE_ROWS, SHAPE[1]));
        let mut write = |count| {
            tiles.by_ref().take(count).for_each(|tile| sink.write(&tile, &[9u64; TILE_ROWS * SHAPE[1]]).unwrap());
        };
        write(2);
        age(root.path());
        let names = if format.replaces() { ["shared"; 2] } else { ["one", "other"] };
        let paths = names.map(|name| root.path().join(name));
        let writers: Vec<Child> = paths.iter().map(|path| writer(*format, path, 40).spawn().unwrap()).collect();
        for writer in writers {
            child::check(&writer.wait_with_output().unwrap());
        }
        write(2);
        sink.commit().unwrap();
        assert_eq!(format.value(&slow), (9, COUNT), "{format:?}");
        assert!(paths.iter().all(|path| format.value(path) == (40, COUNT)), "{format:?}");
        let mut expected = Vec::from(paths);
        expected.extend([slow]);
        expected.dedup();
        let mut left = files(root.path());
        left.sort();
        assert_eq!(left, expected, "{format:?}");
    }
}
