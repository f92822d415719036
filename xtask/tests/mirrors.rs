//! What `cargo xtask bindgen` wrote is what it would write.

use crate::skip;
use xtask::bindgen::{MIRRORS, has_libclang};
use xtask::workspace;

#[test]
fn mirrors_are_up_to_date() {
    if !has_libclang() {
        return skip("mirrors::mirrors_are_up_to_date", "no libclang");
    }
    workspace::run(workspace::command(env!("CARGO_BIN_EXE_xtask")).args(["bindgen", "--check"])).unwrap();
}

#[test]
fn every_mirror_says_where_it_is_from() {
    for mirror in MIRRORS {
        let text = std::fs::read_to_string(workspace::root().join(mirror.output)).unwrap();
        let first = text.lines().next().unwrap();
        assert!(first.contains("Generated from") && first.contains(mirror.header), "{}: {first}", mirror.output);
        assert!(text.contains("Size of"), "{} asserts no layout", mirror.output);
        assert!(workspace::root().join("crates/headers/include").join(mirror.header).is_file(), "{}", mirror.header);
    }
}
