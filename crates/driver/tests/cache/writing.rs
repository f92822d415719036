//! Writing bundles: the whole new file, or the old one.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, SystemTime},
};

use tilewright_driver::{Bundle, Compiled, Error};

use super::bundles::{bundle, kernel, key, reason};
use crate::child;

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_same_kernels_give_the_same_file() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 30);
    let first = fs::read(&path).unwrap();
    let backwards = (0..30).rev().flat_map(|number| [(key(number), kernel(number)), (key(number), kernel(number))]);
    let written = Bundle::write(&path, backwards).unwrap();
    assert_eq!((written.entries, fs::read(&path).unwrap() == first), (30, true), "in any order, and twice");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o022, 0, "nobody else writes it");
    assert_eq!(files(root.path()), [path], "nothing half-written stays");
}

#[test]
fn kernels_that_cannot_be_written() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 3);
    let two = [(key(0), kernel(0)), (key(1), kernel(1)), (key(0), kernel(2))];
    let error = Bundle::write(&path, two).unwrap_err();
    assert!(reason(&error).contains(&key(0).to_string()) && reason(&error).contains("leave one out"), "{error}");
    let large = Compiled { image: vec![1; 256 << 20], ..kernel(0) };
    let error = Bundle::write(&path, [(key(0), large)]).unwrap_err();
    assert!(reason(&error).contains("268435456 bytes, the limit is 268435456"), "{error}");
    assert_eq!(Bundle::open(&path).unwrap().len(), 3, "the old one stays");
    assert_eq!(files(root.path()), [path]);
}

#[test]
fn places_that_cannot_be_written() {
    let root = tempfile::tempdir().unwrap();
    let taken = root.path().join("taken");
    fs::create_dir(&taken).unwrap();
    let file = root.path().join("file");
    fs::write(&file, "mine").unwrap();
    for bad in [root.path().join("no/such/folder.twb"), taken.clone(), file.join("below.twb"), "/proc/x.twb".into()] {
        let error = Bundle::write(&bad, [(key(0), kernel(0))]).unwrap_err();
        assert!(matches!(&error, Error::File { doing: "write", path, .. } if *path == bad), "{error}");
        assert!(error.to_string().contains("name a file in a folder that is there"), "{error}");
    }
    for bad in ["", "/", ".."] {
        assert!(reason(&Bundle::write(bad, []).unwrap_err()).contains("name a file"));
    }
    assert_eq!(files(root.path()).len(), 2, "nothing half-written stays");
}

#[test]
fn an_open_umask_makes_no_open_file() {
    let root = tempfile::tempdir().unwrap();
    let mut command = child::shell("umask 000; exec \"$@\"", "bundle writer");
    child::check(&command.env("FOLDER", root.path()).env("ROUNDS", "1").output().unwrap());
    assert_eq!(Bundle::open(root.path().join("kernels.twb")).unwrap().len(), 300);
}

#[test]
fn a_full_disk_leaves_the_old_bundle() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 3);
    let mut command = child::shell("trap '' XFSZ; ulimit -f 8; exec \"$@\"", "bundle writer");
    command.env("FOLDER", root.path()).env("ROUNDS", "1").env("FULL", "yes");
    child::check(&command.output().unwrap());
    assert_eq!((Bundle::open(&path).unwrap().len(), files(root.path()).len()), (3, 1));
}

#[test]
fn killed_writers() {
    let root = tempfile::tempdir().unwrap();
    let path = bundle(root.path(), 3);
    let mut killed = 0;
    for round in 0..25 {
        let mut command = child::command("bundle writer");
        command.env("FOLDER", root.path()).env("ROUNDS", "1000").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut writer = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(20 + 7 * round));
        writer.kill().unwrap();
        killed += usize::from(writer.wait_with_output().unwrap().status.signal() == Some(9));
        let bundle = Bundle::open(&path).unwrap();
        bundle.check().unwrap();
        assert!([3, 300].contains(&bundle.len()), "{}", bundle.len());
    }
    assert!(killed > 5, "{killed}");
    // What they left goes when it is old, and nothing else does.
    let half = root.path().join(format!(".twb-{:.16}-1-2.tmp", blake3::hash(b"kernels.twb").to_hex().as_str()));
    let others = [".twb-0123456789abcdef-1-2.tmp", ".1-2.tmp", "notes.tmp"].map(|name| root.path().join(name));
    fs::write(&half, "half").unwrap();
    others.iter().for_each(|other| fs::write(other, "mine").unwrap());
    let old = SystemTime::now() - Duration::from_secs(2 * 3600);
    for file in files(root.path()) {
        fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    let young = root.path().join(half.file_name().unwrap().to_str().unwrap().replace("-1-2", "-3-4"));
    fs::write(&young, "half").unwrap();
    bundle(root.path(), 5);
    let mut left = files(root.path());
    left.sort();
    let mut expected = [others.to_vec(), vec![young, path]].concat();
    expected.sort();
    assert_eq!(left, expected);
}

pub(crate) fn child_bundle_writer() {
    let path = PathBuf::from(child::argument("FOLDER")).join("kernels.twb");
    for _ in 0..child::argument("ROUNDS").parse().unwrap() {
        let kernels = (0..300).map(|number| {
            let image = blake3::hash(&[number as u8]).as_bytes().iter().copied().cycle().take(2000 + number).collect();
            (key(number), Compiled { image, ..kernel(number) })
        });
        let written = Bundle::write(&path, kernels);
        assert_eq!(written.is_err(), std::env::var_os("FULL").is_some(), "{written:?}");
    }
}
