//! Rules about source code: unsafe blocks, unfinished code, the device library, inline PTX.

use super::Violation;
use super::mask::{Blank, find_word, mask};
use super::tree::{File, Tree};
use std::collections::BTreeMap;

/// What must not stand in code, and what to do instead.
const FORBIDDEN: [(&str, &str); 4] = [
    ("todo!", "finish it, or leave it out and open an issue"),
    ("unimplemented!", "finish it, or return an error that says so"),
    ("dbg!", "remove it"),
    ("#[ignore", "let the test skip itself at run time and say why (CONTRIBUTING.md, Tests)"),
];

pub(super) fn check(tree: &Tree, found: &mut Vec<Violation>) {
    let mut rooms: BTreeMap<&str, Vec<(&File, usize)>> = BTreeMap::new();
    for file in tree.rust() {
        let code = mask(&file.text, Blank::CommentsAndText);
        forbidden(file, &code, found);
        device_library(file, &code, found);
        if let Some(first) = unsafety(file, &code, found)
            && file.path.starts_with(&format!("{}/src/", file.package()))
        {
            rooms.entry(file.package()).or_default().push((file, first));
        }
    }
    rooms.values().for_each(|files| one_room(files, found));
    tree.files.iter().for_each(|file| inline_ptx(file, found));
}

/// Where unsafe code of a crate may stand together: the outermost folder `raw/` that the file lies in, or the file alone.
fn room(file: &File) -> &str {
    let source = file.package().len() + "/src".len();
    file.path[source..].find("/raw/").map_or(&file.path, |at| &file.path[..source + at + "/raw/".len()])
}

/// Demands that all files of a crate that hold unsafe code, with its first line, stand in one room.
fn one_room(files: &[(&File, usize)], found: &mut Vec<Violation>) {
    // What is named `raw` is the room, whatever comes first in the order of files.
    let strangeness = |room: &&str| (!room.ends_with("/raw/"), !room.ends_with("/raw.rs"));
    let Some(home) = files.iter().map(|(file, _)| room(file)).min_by_key(strangeness) else { return };
    for (file, first) in files.iter().filter(|(file, _)| room(file) != home) {
        let advice =
            format!("unsafe code of this crate stands in {home} already; move it there, behind a safe function");
        found.push(file.violation(*first, "unsafe-room", advice));
    }
}

fn forbidden(file: &File, code: &str, found: &mut Vec<Violation>) {
    for (index, line) in code.lines().enumerate() {
        for (word, advice) in FORBIDDEN {
            let stands = if word.starts_with('#') { line.contains(word) } else { find_word(line, word).is_some() };
            if stands {
                found.push(file.violation(index + 1, "unfinished", format!("`{word}`: {advice}")));
            }
        }
    }
}

fn device_library(file: &File, code: &str, found: &mut Vec<Violation>) {
    if file.path.starts_with("crates/driver/") {
        return;
    }
    for (index, line) in code.lines().enumerate() {
        if find_word(line, "cudarc").is_some() {
            found.push(file.violation(
                index + 1,
                "device-library",
                "only crates/driver names cudarc; go through tilewright-driver",
            ));
        }
    }
}

/// Demands a reason above every unsafe block and implementation; returns the first line where unsafe code stands.
fn unsafety(file: &File, code: &str, found: &mut Vec<Violation>) -> Option<usize> {
    let code: Vec<&str> = code.lines().collect();
    let text: Vec<&str> = file.text.lines().collect();
    let mut first = None;
    for (index, line) in code.iter().enumerate() {
        let Some(at) = find_word(line, "unsafe") else { continue };
        let rest = line[at + "unsafe".len()..].trim_start();
        if is_pointer_type(rest) {
            continue;
        }
        first = first.or(Some(index + 1));
        let opens_block = rest.starts_with('{')
            || (rest.is_empty() && code.get(index + 1).is_some_and(|next| next.trim_start().starts_with('{')));
        let needs_reason = opens_block || rest.starts_with("impl") || rest.starts_with('(');
        if needs_reason && !has_reason(&text, &code, index) {
            found.push(file.violation(
                index + 1,
                "unsafe-reason",
                "write `// SAFETY:` above, with the argument that makes it sound",
            ));
        }
    }
    first
}

/// Whether what follows `unsafe` makes it the type of a pointer to a function: naming one runs nothing.
fn is_pointer_type(rest: &str) -> bool {
    let after_abi = rest.strip_prefix("extern").unwrap_or(rest).trim_start();
    after_abi.strip_prefix("fn").is_some_and(|after| after.trim_start().starts_with('('))
}

/// Whether `// SAFETY:` stands on the line or above the statement that the line belongs to.
fn has_reason(text: &[&str], code: &[&str], index: usize) -> bool {
    if text[index].contains("// SAFETY:") {
        return true;
    }
    for above in (0..index).rev() {
        if text[above].contains("SAFETY:") {
            return true;
        }
        let code = code[above].trim();
        let is_comment = code.is_empty() && !text[above].trim().is_empty();
        let is_attribute = code.starts_with("#[") || code.starts_with("#![");
        let goes_on = !code.is_empty() && !code.ends_with([';', '{', '}', ',']);
        if !(is_comment || is_attribute || goes_on) {
            return false;
        }
    }
    false
}

fn inline_ptx(file: &File, found: &mut Vec<Violation>) {
    let is_layer = file.path.starts_with("crates/headers/") && file.lies_in("arch");
    // The host model's context switch is assembly of the host: it lies in a folder or a file of that name.
    let is_host = file.path.starts_with("crates/headers/") && file.path.contains("host");
    if is_layer
        || is_host
        || file.package() == "xtask"
        || !file.has_extension(&["rs", "cu", "cuh", "h", "hpp", "cpp", "py"])
    {
        return;
    }
    // In Rust, emitted code stands in strings: they count. Rust's own `asm!` does not.
    let text = if file.has_extension(&["rs"]) { mask(&file.text, Blank::Comments) } else { file.text.clone() };
    // In pieces, so that this file does not break its own rule.
    let openings = ["(", " (", " volatile", " __volatile__"].map(|rest| format!("asm{rest}"));
    for (index, line) in text.lines().enumerate() {
        let stands =
            openings.iter().any(|opening| line.match_indices(opening.as_str()).any(|(at, _)| begins_a_word(line, at)));
        if stands {
            found.push(file.violation(
                index + 1,
                "inline-ptx",
                "raw PTX stands only under crates/headers/**/arch/; call a primitive from there",
            ));
        }
    }
}

fn begins_a_word(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
}
