//! Tests of tilewright-expr: one executable, a module a topic. It runs without a GPU and without NVRTC; what it skips it
//! names.

mod bands;
mod bind;
mod colour;
mod cut;
mod emitted;
mod explain;
mod extend;
mod functions;
mod halves;
mod inline;
mod laws;
mod manifest;
mod operations;
mod pointwise;
mod promote;
mod reference;
mod rows;
mod scalar_fn;
mod scans;
mod scatter;
mod sections;
mod sharing;
mod stages;
mod table;
mod taps;
mod truth;
mod ui;
mod variants;

use tilewright_expr::Element as Item;
use tilewright_expr_naive::{naive, random, tensor};

/// Reports that `test` was not run, and why: on the terminal, and in the file that `TILEWRIGHT_SKIPS` names.
fn skip(test: &str, reason: &str) {
    use std::io::Write;
    let line = format!("SKIP {test}: {reason}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("the file named by TILEWRIGHT_SKIPS is writable");
    }
}
