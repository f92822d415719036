//! What users call things never becomes a path or a command.

use std::fs;

use tilewright_driver::{KernelCache, Source};

use super::{ARCH, compiled, entries, source};

#[test]
fn names_stay_out_of_paths() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let cache = KernelCache::open(&folder);
    let long = "long".repeat(100_000);
    let names = ["../../x", "a; rm -rf /", "nul\0nul", "$(id)", "", ".", "..", "/etc/passwd", "\n", "-rf", "ü", &long];
    for (number, name) in names.iter().enumerate() {
        let source = Source { name: (*name).into(), ..source(&format!("{number} {name}")) };
        cache.put(&source, tilewright_driver::Compiled { name: (*name).into(), ..compiled("text", 50 + number) });
        let (found, _) = KernelCache::open(&folder).find(&source, ARCH).unwrap_or_else(|| panic!("{number} is kept"));
        assert_eq!((found.name.as_str(), found.image.len()), (*name, 50 + number));
    }
    let files = entries(&folder);
    assert_eq!(files.len(), names.len());
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().strip_suffix(".kernel").unwrap().to_owned();
        assert!(name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "nothing lies beside the folder");
}
