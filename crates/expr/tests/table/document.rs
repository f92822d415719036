//! The table as a document, which this test holds.

use crate::operations::{CHANNELS, Channels, absent, names};
use std::fmt::Write as _;
use std::path::Path;
use tilewright_expr::DType;

const HEAD: &str = "\
# Operations

Every operation of the typed face by element type. `cargo test -p tilewright-expr-tests table` runs each cell with every number
of channels of its row, in memory of any layout: the host evaluator gives the bits of an independent naive evaluator, and two
cells of each row run as kernels on the host model. Where there is a GPU, `cargo test -p tilewright-ops table` runs every row of
every type there, with one number of channels each, and compares with the host, bit for bit. What each operation *means* is tested
against ndarray, published figures or OpenCV; the same table holds that none lacks such a reference.

A letter is a note below the table: the reason why there is no such cell. *any* number of channels: CHANNELS are tested; up to 8
live in registers, more are a dimension like any other. This file is written by the test:
`TILEWRIGHT_OVERWRITE=1 cargo test -p tilewright-expr-tests table`.

";

/// Letters for notes, in the order of their first use.
struct Notes(Vec<&'static str>);

impl Notes {
    fn letter(&mut self, why: &'static str) -> String {
        let known = self.0.iter().position(|w| *w == why);
        let number = known.unwrap_or_else(|| {
            self.0.push(why);
            self.0.len() - 1
        });
        char::from(b'a' + number as u8).to_string()
    }
}

fn document() -> String {
    let list: Vec<String> = CHANNELS.iter().map(usize::to_string).collect();
    let mut text = HEAD.replace("CHANNELS", &list.join(", "));
    let types: Vec<&str> = DType::ALL.iter().map(|d| d.name()).collect();
    let _ = writeln!(text, "| operation | channels | {} |\n|---|---|{}", types.join(" | "), "---|".repeat(types.len()));
    let mut notes = Notes(Vec::new());
    for (name, channels) in names() {
        let channels = match channels {
            Channels::Any => "any".into(),
            Channels::Only(list, why) => format!("{} {}", list[0], notes.letter(why)),
        };
        let cell = |d: &DType| absent(name, *d).first().map_or("yes".into(), |why| notes.letter(why));
        let cells: Vec<String> = DType::ALL.iter().map(cell).collect();
        let _ = writeln!(text, "| `{}` | {channels} | {} |", name.replace('|', "\\|"), cells.join(" | "));
    }
    text.push('\n');
    for (i, why) in notes.0.iter().enumerate() {
        let _ = writeln!(text, "- {}: {why}", char::from(b'a' + i as u8));
    }
    text
}

#[test]
fn the_document_is_the_table() {
    let text = document();
    if std::env::var_os("TILEWRIGHT_OVERWRITE").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/operations.md");
        return std::fs::write(file, text).expect("docs/operations.md is writable");
    }
    let written = include_str!("../../../../docs/operations.md");
    assert!(text == written, "docs/operations.md is not the table: run this with TILEWRIGHT_OVERWRITE=1");
}
