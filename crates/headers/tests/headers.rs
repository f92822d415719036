//! Every header of the include folder is embedded, under the path that `#include` lines use.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tilewright_headers::{device_headers, host_headers};

fn files_below(folder: &Path, found: &mut BTreeSet<String>, root: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found, root);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
        }
    }
}

#[test]
fn every_header_is_embedded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut found = BTreeSet::new();
    files_below(&root, &mut found, &root);
    let embedded: BTreeSet<String> =
        device_headers().iter().chain(host_headers()).map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(embedded, found);
    // NVRTC refuses a header that is given twice.
    assert_eq!(embedded.len(), device_headers().len() + host_headers().len(), "a header is listed twice");
}

#[test]
fn device_headers_need_no_host_header() {
    for (path, text) in device_headers() {
        assert!(!text.contains("tilewright/host/"), "{path}");
    }
}
