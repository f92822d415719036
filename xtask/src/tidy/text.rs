//! Rules about any text: names, length, white space, paths of somebody's machine, examples that are named.

use super::Violation;
use super::tree::{File, Tree};

/// The most lines that a source file may have.
const MOST_LINES: usize = 600;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = ["utils", "util", "common", "misc", "helpers", "helper", "manager", "managers"];

/// How cargo is told which example to run.
const EXAMPLE: &str = "--example ";

pub(super) fn check(tree: &Tree, found: &mut Vec<Violation>) {
    // In pieces, so that this file does not break its own rule.
    let machine_folders = ["work", "root", "home"].map(|name| format!("/{name}/"));
    for file in &tree.files {
        name(file, found);
        length(file, found);
        white_space(file, found);
        machine_paths(file, &machine_folders, found);
        examples(file, tree, found);
    }
}

/// What a document has people run is there.
fn examples(file: &File, tree: &Tree, found: &mut Vec<Violation>) {
    if !file.has_extension(&["md"]) {
        return;
    }
    for (index, line) in file.text.lines().enumerate() {
        for (_, name) in line.match_indices(EXAMPLE).map(|(start, _)| line.split_at(start + EXAMPLE.len())) {
            let name: String = name.chars().take_while(|it| it.is_alphanumeric() || "_-".contains(*it)).collect();
            let ends = [format!("examples/{name}.rs"), format!("examples/{name}/main.rs")];
            if !tree.files.iter().any(|other| ends.iter().any(|end| other.path.ends_with(end))) {
                let advice = format!("there is no example `{name}`; bring it back, or name one that is there");
                found.push(file.violation(index + 1, "example", advice));
            }
        }
    }
}

fn name(file: &File, found: &mut Vec<Violation>) {
    let is_source = file.has_extension(&["rs", "cu", "cuh", "h", "hpp", "cpp", "py", "sh"]);
    let empty = |name: &str| EMPTY_NAMES.contains(&name.split('.').next().unwrap_or(name));
    if is_source && file.path.split('/').any(empty) {
        found.push(file.violation(0, "name", "a file and a folder are named after the one concept inside; rename it"));
    }
}

fn length(file: &File, found: &mut Vec<Violation>) {
    let is_source = file.has_extension(&["rs", "cu", "cuh", "h", "hpp", "cpp", "py"]);
    let lines = file.text.lines().count();
    if is_source && lines > MOST_LINES && !file.lies_in("generated") {
        let advice = format!(
            "{lines} lines, at most {MOST_LINES}: split it by concept (or move generated data to `generated/`)"
        );
        found.push(file.violation(MOST_LINES + 1, "length", advice));
    }
}

fn white_space(file: &File, found: &mut Vec<Violation>) {
    if !file.has_extension(&["rs", "md", "toml", "py"]) {
        return;
    }
    for (index, line) in file.text.lines().enumerate() {
        if line.contains('\t') {
            found.push(file.violation(index + 1, "tab", "indent with spaces; in a string write \\t"));
        }
        if line.ends_with([' ', '\t', '\r']) {
            found.push(file.violation(index + 1, "trailing-space", "remove the white space at the line's end"));
        }
    }
}

fn machine_paths(file: &File, folders: &[String], found: &mut Vec<Violation>) {
    for (index, line) in file.text.lines().enumerate() {
        let begins_a_path = |start: usize| {
            !line[..start].ends_with(|before: char| before.is_alphanumeric() || "_-./~}$".contains(before))
        };
        let names_one = |folder: &&String| line.match_indices(folder.as_str()).any(|(start, _)| begins_a_path(start));
        if let Some(folder) = folders.iter().find(names_one) {
            let advice = format!(
                "`{folder}..` is a path of one machine; write it relative to the repository, or ask the environment"
            );
            found.push(file.violation(index + 1, "machine-path", advice));
        }
    }
}
