//! Headers on disk: one that changes is a new key, whichever way the source reaches it.

use std::{fs, path::Path};

use tilewright_driver::{Arch, KernelCache, Key, Origin, Source};

use crate::compile::has_nvrtc;

const ARCH: Arch = Arch::new(9, 0);

fn source(text: &str, folders: &[&Path]) -> Source {
    let options = folders.iter().map(|folder| format!("--include-path={}", folder.display())).collect();
    Source { name: "headers".into(), text: text.into(), options, ..Source::default() }
}

/// The keys before and after each change of a file (its name, its new text; `None` removes it).
fn keys(text: &str, changes: &[(&str, Option<&str>)]) -> Vec<Key> {
    let root = tempfile::tempdir().unwrap();
    let folders = [root.path().join("a"), root.path().join("b")];
    let source = source(text, &[&folders[0], &folders[1]]);
    let mut keys = vec![source.key(ARCH)];
    for (name, content) in changes {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content {
            Some(content) => fs::write(path, content).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        keys.push(source.key(ARCH));
    }
    keys
}

/// Whether each change made a new key.
fn noticed(text: &str, changes: &[(&str, Option<&str>)]) -> Vec<bool> {
    keys(text, changes).windows(2).map(|pair| pair[0] != pair[1]).collect()
}

#[test]
fn what_is_included_is_in_the_key() {
    let changes =
        [("b/x.h", Some("int x;")), ("b/x.h", Some("int y;")), ("b/other.h", Some("")), ("a/x.h", Some("int z;"))];
    for text in [
        "#include <x.h>",
        "#include \"x.h\"",
        "  #  include\t<x.h> // why",
        "# /* why */ include /* this */ \"x.h\"",
        "#inc\\\nlude <x\\\r\n.h>",
        "%:include <x.h>",
        "#include_next <x.h>",
        "#if __has_include(<x.h>)\n#endif",
        "#if 0\n#include <x.h>\n#endif",
    ] {
        assert_eq!(noticed(text, &changes), [true, true, false, true], "{text}");
    }
    for text in ["", "int x;", "#error x.h", "\"x.h\"", "#include <y.h>"] {
        assert_eq!(noticed(text, &changes), [false; 4], "{text}");
    }
}

#[test]
fn headers_of_headers_are_followed_once() {
    let changes = [
        ("a/x.h", Some("#include \"deep/y.h\"\n")),
        ("a/deep/y.h", Some("#include \"z.h\"\n#include <x.h>\n")),
        ("a/deep/z.h", Some("1")),
        ("a/deep/z.h", Some("2")),
        ("b/z.h", Some("another z.h that could be meant")),
        ("a/deep/z.h", None),
        ("a/z.h", None),
    ];
    assert_eq!(noticed("#include <x.h>", &changes[..6]), [true; 6]);
}

#[test]
fn a_macro_may_name_any_header() {
    let changes =
        [("a/x.h", Some("1")), ("b/deep/er/y.h", Some("1")), ("b/deep/er/y.h", Some("12")), ("c/x.h", Some("1"))];
    assert_eq!(noticed("#define H <x.h>\n#include H\n", &changes), [true, true, true, false]);
    assert_eq!(noticed("#include <x.h>\n", &changes[1..]), [false; 3]);
}

#[test]
fn headers_in_memory_come_first() {
    let root = tempfile::tempdir().unwrap();
    let text = "#include \"x.h\"\n#include \"y.h\"\n";
    let memory = Source { headers: vec![("x.h".into(), "#include <z.h>".into())], ..source(text, &[root.path()]) };
    let key = memory.key(ARCH);
    fs::write(root.path().join("x.h"), "1").unwrap();
    assert_eq!(memory.key(ARCH), key);
    fs::write(root.path().join("z.h"), "1").unwrap();
    assert_ne!(memory.key(ARCH), key, "a header in memory includes one on disk");
}

#[test]
fn every_way_to_write_the_option() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().display();
    let pre = "--pre-include=x.h".to_owned();
    for options in [
        vec![format!("-I{folder}")],
        vec![format!("-I={folder}")],
        vec!["-I".into(), format!("{folder}")],
        vec!["--include-path".into(), format!("{folder}")],
        vec![format!("--include-path={folder}"), pre],
    ] {
        let text = if options.len() == 2 && options[1].contains("pre") { "" } else { "#include <x.h>" };
        let source = Source { options, ..source(text, &[]) };
        fs::write(root.path().join("x.h"), "1").unwrap();
        let key = source.key(ARCH);
        assert_eq!(source.key(ARCH), key);
        fs::write(root.path().join("x.h"), "2").unwrap();
        assert_ne!(source.key(ARCH), key, "{:?}", source.options);
    }
}

#[test]
fn a_changed_header_is_compiled_anew() {
    if !has_nvrtc("include::a_changed_header_is_compiled_anew") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let (headers, kernels) = (root.path().join("headers"), root.path().join("kernels"));
    fs::create_dir(&headers).unwrap();
    let text = "#include <value.h>\nextern \"C\" __global__ void k(int* x) { *x = VALUE; }";
    let source = source(text, &[&headers]);
    let mut images = Vec::new();
    for value in ["1", "2", "1"] {
        fs::write(headers.join("value.h"), format!("#define VALUE {value}\n")).unwrap();
        let (compiled, origin) = KernelCache::open(&kernels).get(&source, ARCH).unwrap();
        images.push(compiled.image.clone());
        assert_eq!(origin == Origin::Disk, images.len() == 3, "{origin:?}");
    }
    assert!(images[0] != images[1] && images[0] == images[2]);
}
