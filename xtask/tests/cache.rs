//! `cargo xtask cache`, as a user runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tilewright_driver::{Arch, Bundle, CacheFolder, Compiled, KernelCache, Source, TargetKind};

fn kernel(arch: Arch, target: TargetKind) -> Compiled {
    let name = "a kernel".to_owned();
    Compiled { name, arch, target, compiler: (13, 0), kernels: vec![], log: String::new(), image: vec![7; 3000] }
}

/// A folder with five kernels, one of another architecture, and a file of the user's.
fn folder() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let cache = KernelCache::open(root.path());
    for number in 0..5 {
        let arch = if number == 0 { Arch::new(8, 0) } else { Arch::new(9, 0) };
        let source = Source { text: number.to_string(), target: TargetKind::ArchSpecific, ..Source::default() };
        cache.put(&source, kernel(arch, TargetKind::ArchSpecific));
    }
    fs::write(root.path().join("notes.txt"), "mine").unwrap();
    root
}

fn run(folder: &Path, arguments: &[&str]) -> (Output, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("cache").args(arguments).arg("--dir").arg(folder).env_remove("TILEWRIGHT_CACHE_LIMIT");
    let output = command.output().unwrap();
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    (output, String::from_utf8(text).unwrap())
}

/// Runs, and gives what was printed if the exit code is as expected.
fn expect(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let (output, text) = run(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    text
}

fn damage(folder: &Path) -> String {
    let name = CacheFolder::open_existing(folder).unwrap().entries().unwrap()[1].file_name();
    let mut content = fs::read(folder.join(&name)).unwrap();
    content[100] ^= 1;
    fs::write(folder.join(&name), content).unwrap();
    name
}

#[test]
fn stat_counts_by_target() {
    let root = folder();
    let text = expect(0, root.path(), &["stat"]);
    for part in [
        "kernels      5, 15.",
        "limit        1.0 GiB",
        "oldest use   today",
        "unusable     0",
        "     4 sm_90a      NVRTC 13.0",
        "     1 sm_80a      NVRTC 13.0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    damage(root.path());
    assert!(expect(0, root.path(), &["stat"]).contains("unusable     1"));
}

#[test]
fn verify_fails_while_something_is_wrong() {
    let root = folder();
    assert!(expect(0, root.path(), &["verify"]).contains("5 of 5 kernels are whole"));
    let name = damage(root.path());
    let text = expect(1, root.path(), &["verify"]);
    assert!(text.contains(&name) && text.contains("it is damaged") && text.contains("4 of 5"), "{text}");
    assert!(root.path().join(&name).exists(), "looking removes nothing");
    let text = expect(0, root.path(), &["verify", "--remove"]);
    assert!(text.contains("; removed") && !root.path().join(&name).exists(), "{text}");
    assert!(expect(0, root.path(), &["verify"]).contains("4 of 4 kernels are whole"));
    // What cannot be removed remains.
    fs::create_dir(root.path().join(&name)).unwrap();
    assert!(expect(1, root.path(), &["verify", "--remove"]).contains("1 unusable"));
}

#[test]
fn clear_names_what_it_removes_and_leaves_the_rest() {
    let root = folder();
    fs::write(root.path().join(".12-3.tmp"), "half").unwrap();
    let entries = CacheFolder::open_existing(root.path()).unwrap().entries().unwrap();
    let text = expect(0, root.path(), &["clear"]);
    assert!(entries.iter().all(|entry| text.contains(&entry.file_name())) && text.contains(".12-3.tmp"), "{text}");
    assert!(text.contains("removed 6 files"), "{text}");
    let left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "notes.txt" || name == ".evict"), "{left:?}");
    assert!(expect(0, root.path(), &["clear"]).contains("removed 0 files"));
}

#[test]
fn a_bundle_has_what_is_whole() {
    let (root, elsewhere) = (folder(), tempfile::tempdir().unwrap());
    damage(root.path());
    let output = elsewhere.path().join("kernels.twb");
    let text = expect(0, root.path(), &["pack", "--output", output.to_str().unwrap()]);
    assert!(text.contains("4 kernels") && text.contains("1 left out"), "{text}");
    assert_eq!(Bundle::open(&output).unwrap().keys().len(), 4);
    assert!(expect(1, root.path(), &["pack", "--output", "/no/such/folder/x"]).contains("cannot write"));
}

#[test]
fn bundles_are_verified_without_a_folder() {
    let root = tempfile::tempdir().unwrap();
    let [one, other] = ["one.twb", "other.twb"].map(|name| root.path().join(name));
    let of = |image: u8| {
        let kernels = [Arch::new(8, 0), Arch::new(9, 0)].map(|arch| kernel(arch, TargetKind::Plain));
        kernels.map(|kernel| (Source::default().key(kernel.arch), Compiled { image: vec![image; 99], ..kernel }))
    };
    Bundle::write(&one, of(1)).unwrap();
    Bundle::write(&other, of(2)).unwrap();
    let [one, other] = [one, other].map(|path| path.to_str().unwrap().to_owned());
    let absent = root.path().join("absent");
    assert!(expect(0, &absent, &["verify", &one]).contains("2 of 2 kernels are whole"));
    let text = expect(0, &absent, &["verify", &one, &other]);
    assert!(text.contains("different code for 2 kernels") && text.contains("the first named serves"), "{text}");
    let mut content = fs::read(&one).unwrap();
    *content.last_mut().unwrap() ^= 1;
    fs::write(&one, content).unwrap();
    let text = expect(1, &absent, &["verify", &one]);
    assert!(
        text.contains("1 of 2") && text.contains("it is damaged") && text.contains("build the bundle anew"),
        "{text}"
    );
    fs::write(&one, "no bundle").unwrap();
    assert!(expect(1, &absent, &["verify", &one]).contains("it is no bundle"));
    assert!(expect(2, &absent, &["verify", "--remove", &one]).contains("cannot be used with"));
}

#[test]
fn folders_that_are_not_there_or_not_safe() {
    let root = tempfile::tempdir().unwrap();
    let absent = root.path().join("absent");
    assert!(expect(0, &absent, &["stat"]).contains("there is no cache"));
    assert!(!absent.exists(), "and none is made");
    let linked = root.path().join("linked");
    std::os::unix::fs::symlink(root.path(), &linked).unwrap();
    assert!(expect(1, &linked, &["clear"]).contains("symlink"));
}
