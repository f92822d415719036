//! A bundle that an earlier build wrote, `data/two.twb`, which is part of this program; and one put together by hand.

use std::{fs, path::Path};

use tilewright_driver::{
    Arch, Bundle, Compiled, KernelCache, KernelResources, Key, Target, TargetKind, include_bundle,
};

use super::{bundles::reason, compiled, only_entry, source};

fn kernels() -> [(Key, Compiled); 2] {
    let resources = KernelResources { name: "k".into(), registers: 24, shared_bytes: 1024, ..Default::default() };
    let cubin = Compiled { arch: Arch::new(9, 0), kernels: vec![resources], ..compiled("golden ", 500) };
    let text = Compiled { arch: Arch::new(8, 0), target: TargetKind::Portable, ..compiled("golden text", 9) };
    [(Key([1; 32]), cubin), (Key([2; 32]), text)]
}

#[test]
fn what_was_written_before_is_read() {
    if std::env::var_os("TILEWRIGHT_OVERWRITE").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/two.twb");
        Bundle::write(path, kernels()).unwrap();
        return;
    }
    let bundle = include_bundle!("../data/two.twb").unwrap();
    for (key, kernel) in kernels() {
        let found = bundle.get(&key);
        assert_eq!(found, Some(kernel), "if SCHEMA or FORMAT were raised, TILEWRIGHT_OVERWRITE=1 writes it anew");
    }
    bundle.check().unwrap();
    let targets = [Target::new(TargetKind::Plain, Arch::new(9, 0)), Target::new(TargetKind::Portable, Arch::new(8, 0))];
    assert_eq!((bundle.targets(), bundle.len()), (&targets[..], 2));
}

/// A bundle of one kernel that is stored as it is, from its entry in a folder.
pub(super) fn by_hand(key: &Key, target: [u32; 3], entry: &[u8], image: &[u8]) -> Vec<u8> {
    let begin: u64 = 40 + 12 + 72 + 32;
    let bytes = u32::try_from(entry.len()).unwrap();
    let mut file = [b"TWBNDL\r\n".as_slice(), &2u32.to_le_bytes(), &1u32.to_le_bytes(), &1u64.to_le_bytes()].concat();
    file.extend([0, begin + u64::from(bytes)].map(u64::to_le_bytes).concat());
    file.extend(target.into_iter().flat_map(u32::to_le_bytes));
    file.extend([&key.0, &blake3::hash(image).as_bytes()[..16], &begin.to_le_bytes()].concat());
    file.extend([bytes, bytes].map(u32::to_le_bytes).concat());
    file.extend([0; 8]);
    let hash = blake3::hash(&file);
    [&file, hash.as_bytes().as_slice(), entry].concat()
}

#[test]
fn a_bundle_as_the_documentation_says() {
    let root = tempfile::tempdir().unwrap();
    let arch = Arch::new(8, 6);
    let (text, kernel) = (source("text"), Compiled { arch, ..compiled("text", 300) });
    KernelCache::open(root.path()).put(&text, kernel.clone());
    let entry = fs::read(only_entry(root.path())).unwrap();
    let (path, key) = (root.path().join("hand.twb"), text.key(arch));
    fs::write(&path, by_hand(&key, [0, 8, 6], &entry, &kernel.image)).unwrap();
    let bundle = Bundle::open(&path).unwrap();
    bundle.check().unwrap();
    assert_eq!(bundle.get(&key), Some(kernel.clone()));
    assert_eq!(bundle.entry(&key).map(|entry| entry.stored_bytes), Some(entry.len() as u64));

    // The index is as good as it was, and the entry of another schema: it is stale, and not used.
    let mut body = entry[..entry.len() - 32].to_vec();
    body[8] += 1;
    let stale = [body.as_slice(), blake3::hash(&body).as_bytes()].concat();
    fs::write(root.path().join("stale.twb"), by_hand(&key, [0, 8, 6], &stale, &kernel.image)).unwrap();
    let stale = Bundle::open(root.path().join("stale.twb")).unwrap();
    assert_eq!(stale.get(&key), None);
    assert!(reason(&stale.check().unwrap_err()).contains("of another version of tilewright"));
}
