//! Finding and fetching NVRTC.

use tilewright_driver::{Error, toolkit};

use crate::{child, compile::has_nvrtc, skip};

#[test]
fn nothing_found_lists_every_place() {
    let home = tempfile::tempdir().unwrap();
    let mut command = child::command("no nvrtc");
    let cuda = home.path().join("cuda");
    std::fs::create_dir_all(cuda.join("lib64")).unwrap();
    std::fs::write(cuda.join("lib64/libnvrtc.so.12"), "not a library").unwrap();
    child::check(
        &command.env("HOME", home.path()).env("TILEWRIGHT_CUDA", &cuda).env("CUDA_PATH", "/nowhere").output().unwrap(),
    );
}

pub(crate) fn child_no_nvrtc() {
    match toolkit::nvrtc() {
        Err(error @ Error::NoNvrtc { .. }) => {
            let message = error.to_string();
            for part in [
                "TILEWRIGHT_CUDA",
                "lib64",
                "tilewright's cache",
                "CUDA_HOME",
                "CUDA_PATH /nowhere",
                "Python",
                "loader",
                "python3",
                "cargo xtask toolkit",
            ] {
                assert!(message.contains(part), "no {part} in {message}");
            }
        }
        Ok(found) => skip("toolkit::nothing_found_lists_every_place", &format!("this system has {found:?}")),
        Err(other) => panic!("{other:?}"),
    }
}

/// Who asks again starts no second search, unless there is something new to find.
#[test]
fn what_was_not_found_is_looked_for_once() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    // Python is asked last: each search leaves a line.
    let python = home.path().join("python3");
    std::fs::write(&python, "#!/bin/sh\necho asked >> \"$HOME/asked\"\n").unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = child::command("no nvrtc again");
    child::check(&command.env("HOME", home.path()).env("PATH", home.path()).output().unwrap());
}

pub(crate) fn child_no_nvrtc_again() {
    let home = std::path::PathBuf::from(child::argument("HOME"));
    let searches = || std::fs::read_to_string(home.join("asked")).unwrap_or_default().lines().count();
    if let Ok(found) = toolkit::nvrtc() {
        return skip("toolkit::what_was_not_found_is_looked_for_once", &format!("this system has {found:?}"));
    }
    let first = searches();
    assert!(first > 0);
    for _ in 0..3 {
        assert!(matches!(toolkit::nvrtc(), Err(Error::NoNvrtc { tried }) if tried.len() > 5));
    }
    assert_eq!(searches(), first);
    std::fs::create_dir_all(home.join(".cache/tilewright/toolkit/13.0.88")).unwrap();
    assert!(matches!(toolkit::nvrtc(), Err(Error::NoNvrtc { .. })));
    assert_eq!(searches(), 2 * first);
}

#[test]
fn no_pip() {
    let home = tempfile::tempdir().unwrap();
    child::check(&child::command("no pip").env("HOME", home.path()).env("PATH", "/nowhere").output().unwrap());
    let left: Vec<_> = std::fs::read_dir(home.path().join(".cache/tilewright/toolkit")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

pub(crate) fn child_no_pip() {
    let error = toolkit::install(&mut |_| ()).unwrap_err();
    assert!(matches!(error, Error::NoPip { .. }), "{error:?}");
    assert!(error.to_string().contains("python3"));
}

#[test]
fn version_and_path() {
    if has_nvrtc("toolkit::version_and_path") {
        let nvrtc = toolkit::nvrtc().unwrap();
        assert!(nvrtc.version() >= (12, 1) && nvrtc.path().to_string_lossy().contains("libnvrtc"), "{nvrtc:?}");
    }
}

/// Fetches 90 MB, so only when asked for: `TILEWRIGHT_TEST_INSTALL=1`.
#[test]
fn install() {
    if std::env::var_os("TILEWRIGHT_TEST_INSTALL").is_none() {
        return skip("toolkit::install", "TILEWRIGHT_TEST_INSTALL is not set");
    }
    let mut stages = Vec::new();
    let folder = toolkit::install(&mut |progress| {
        assert!(progress.bytes <= progress.total, "{progress:?}");
        if stages.last() != Some(&progress.stage) {
            stages.push(progress.stage);
        }
    });
    let folder = folder.unwrap();
    eprintln!("{stages:?} {}", folder.display());
    assert_eq!(toolkit::install(&mut |_| panic!("it is there already")).unwrap(), folder);
}
