//! Mistakes do not compile, and their messages name the dimensions and say what to write instead.
//!
//! The messages are rustc's and change with it, and the order of two dimensions in a type hangs on the hash of the case's
//! number: after an update, or with a new case, `TRYBUILD=overwrite cargo test -p tilewright-dims`.

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
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
