//! Which of the device headers a source needs.

use crate::device_headers;

/// The [`device_headers`] that a source includes, directly or through others: pairs of path and text, in the order of
/// `device_headers`. A source that takes an `#include` from a macro gets all of them.
///
/// Only these are part of what a compiled kernel depends on, so that a change to another one compiles nothing anew.
///
/// ```
/// let needed = tilewright_headers::headers_for("#include \"tilewright/coords.cuh\"\n");
/// let paths: Vec<&str> = needed.iter().map(|(path, _)| *path).collect();
/// assert!(paths.contains(&"tilewright/prelude.cuh") && !paths.contains(&"tilewright/tensor.cuh"));
/// ```
pub fn headers_for(source: &str) -> Vec<(&'static str, &'static str)> {
    let all = device_headers();
    let mut needed = vec![false; all.len()];
    if !mark(source, &mut needed) {
        return all.to_vec();
    }
    let mut read = vec![false; all.len()];
    while let Some(next) = (0..all.len()).find(|i| needed[*i] && !read[*i]) {
        read[next] = true;
        mark(all[next].1, &mut needed);
    }
    all.iter().zip(needed).filter(|(_, needed)| *needed).map(|(header, _)| *header).collect()
}

/// Marks the headers that the `#include` lines of a text name; false if one of the lines names none.
fn mark(text: &str, needed: &mut [bool]) -> bool {
    let mut plain = true;
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let Some(name) = directive.and_then(|d| d.strip_prefix("include")).map(str::trim_start) else { continue };
        let Some(path) = name.strip_prefix(['"', '<']).and_then(|rest| rest.split(['"', '>']).next()) else {
            plain = false;
            continue;
        };
        if let Some(found) = device_headers().iter().position(|(known, _)| *known == path) {
            needed[found] = true;
        }
    }
    plain
}
