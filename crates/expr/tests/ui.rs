//! Mistakes do not compile, and their messages name the dimension or the type and say what to write instead.
//!
//! Cases print no set of two dimensions: the order within hangs on the hash of the case's number.
//! The messages are rustc's and change with it: after an update, `TRYBUILD=overwrite cargo test -p tilewright-expr-tests`.

use std::process::{Command, Stdio};

#[test]
fn messages() {
    if std::env::var_os("CARGO_MANIFEST_DIR").is_none() {
        return crate::skip("ui::messages", "not started by cargo, so the sources are not at hand");
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    if Command::new(cargo).arg("--version").stdout(Stdio::null()).status().is_err() {
        return crate::skip("ui::messages", "no cargo on this machine");
    }
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
