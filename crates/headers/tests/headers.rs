//! Every header of the include folder is embedded, under the path that `#include` lines use.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tilewright_headers::{device_headers, headers_for, host_headers};

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

#[test]
fn a_source_gets_what_it_includes() {
    let paths = |source: &str| headers_for(source).iter().map(|(path, _)| *path).collect::<BTreeSet<_>>();
    let all: BTreeSet<&str> = device_headers().iter().map(|(path, _)| *path).collect();
    assert!(paths("int x;").is_empty());
    assert_eq!(paths("#define H <x>\n # include H\n"), all);
    for (path, text) in device_headers() {
        let needed = paths(&format!("  #  include \"{path}\" // first\n#include <cuda_fp16.h>\n"));
        assert!(needed.contains(path), "{path}");
        // Whoever is needed brings all that it includes.
        for header in device_headers().iter().filter(|(path, _)| needed.contains(path)) {
            let named = header.1.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
            named.for_each(|name| assert!(needed.contains(name), "{path}: {} includes {name}", header.0));
        }
        assert!(text.contains("#pragma once"), "{path}");
    }
    let prelude = paths("#include \"tilewright/prelude.cuh\"");
    assert!(prelude.len() < 9 && !prelude.contains("tilewright/layout.cuh"), "{prelude:?}");
    // The word elsewhere, twice in a line, and at the end of all.
    let text =
        "int include; // #include\r\n#include <include/x.h>\r\n#include \"tilewright/prelude.cuh\"\r\n// include";
    assert_eq!(paths(text), prelude);
}
