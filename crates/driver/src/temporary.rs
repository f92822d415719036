//! Names of files that are still being written.
//!
//! A folder can be shared by hosts that count their processes alike, so a name has the host in it, the process, a count, and a
//! random number for what still is the same: containers of one image have one host name and one process number.

use std::{
    collections::hash_map::RandomState,
    ffi::OsStr,
    hash::BuildHasher,
    sync::atomic::{AtomicU32, Ordering},
};

/// A name that no other writer takes.
pub(crate) fn fresh(host: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    name(host, std::process::id(), count, RandomState::new().hash_one(count))
}

/// A name for a file that will be renamed to `name`, in a folder where others' files lie too.
pub(crate) fn beside(name: &OsStr) -> String {
    beginning(name) + &fresh(&this_host())[1..]
}

/// Whether [`beside`] made this name for that file.
pub(crate) fn is_beside(file: &str, name: &OsStr) -> bool {
    file.strip_prefix(&beginning(name)).is_some_and(|rest| is_temporary(&format!(".{rest}")))
}

/// Hashed, so that the longest name there can be has one too.
fn beginning(name: &OsStr) -> String {
    format!(".twb-{:.16}-", blake3::hash(name.as_encoded_bytes()).to_hex().as_str())
}

/// This machine's name in its network.
pub(crate) fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The host's name is hashed: it can have any length, and any character.
fn name(host: &str, process: u32, count: u32, random: u64) -> String {
    let host = blake3::hash(host.as_bytes()).to_hex();
    format!(".{:.16}-{process}-{count}-{random:016x}.tmp", host.as_str())
}

/// Whether a file has such a name.
pub(crate) fn is_temporary(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let own = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte) || byte == b'-';
    inner.is_some_and(|inner| inner.contains('-') && inner.bytes().all(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_makes_another_name() {
        let names =
            [name("a", 1, 0, 0), name("b", 1, 0, 0), name("a", 2, 0, 0), name("a", 1, 1, 0), name("a", 1, 0, 1)];
        for (index, one) in names.iter().enumerate() {
            assert!(is_temporary(one), "{one}");
            assert!(names[..index].iter().all(|other| other != one), "{one}");
        }
        assert_ne!(fresh("a"), fresh("a"));
    }

    #[test]
    fn each_file_has_its_own_beside_it() {
        let (one, other) = (OsStr::new("kernels.twb"), OsStr::new("other.twb"));
        let name = beside(one);
        assert!(is_beside(&name, one) && !is_beside(&name, other) && name != beside(one), "{name}");
        assert!(!is_temporary(&name) && beside(OsStr::new(&"long".repeat(60))).len() < 120);
        assert!(!is_beside("kernels.twb", one) && !is_beside(&name.replace(".tmp", ""), one));
    }

    #[test]
    fn no_host_leaves_the_folder() {
        for host in ["", "../../x", "a/b", "a\0b", "näme", &"long".repeat(1000)] {
            let name = fresh(host);
            assert!(is_temporary(&name) && name.len() < 80, "{name}");
        }
    }

    #[test]
    fn other_files_are_not_ours() {
        for name in ["", ".tmp", "..tmp", ".bashrc", "a.tmp", ".x-1.tmp", ".1-2", ".12.tmp", ".1-2.tmp/x", "..-1.tmp"] {
            assert!(!is_temporary(name), "{name}");
        }
        assert!(is_temporary(".123-4.tmp"), "what earlier versions wrote");
    }
}
