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
    let mut unsafe_files: BTreeMap<&str, &File> = BTreeMap::new();
    for file in tree.rust() {
        let code = mask(&file.text, Blank::CommentsAndText);
        forbidden(file, &code, found);
        device_library(file, &code, found);
        let Some(first) = unsafety(file, &code, found) else { continue };
        if !file.path.starts_with(&format!("{}/src/", file.package())) {
            continue;
        }
        let home = *unsafe_files.entry(file.package()).or_insert(file);
        if home.path != file.path {
            let advice = format!(
                "unsafe code of this crate stands in {} already; move it there, behind a safe function",
                home.path
            );
            found.push(file.violation(first, "unsafe-file", advice));
        }
    }
    tree.files.iter().for_each(|file| inline_ptx(file, found));
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
        first = first.or(Some(index + 1));
        let rest = line[at + "unsafe".len()..].trim_start();
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
