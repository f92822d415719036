//! Which of the device headers a source needs.

use crate::device_headers;
use memchr::memmem;
use std::sync::OnceLock;

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
    let Some(named) = included(source) else { return all.to_vec() };
    let mut needed = vec![false; all.len()];
    let mut unread = named;
    while let Some(next) = unread.pop() {
        if !std::mem::replace(&mut needed[next], true) {
            unread.extend(&includes_of_headers()[next]);
        }
    }
    all.iter().zip(needed).filter(|(_, needed)| *needed).map(|(header, _)| *header).collect()
}

/// What each header includes itself.
fn includes_of_headers() -> &'static [Vec<usize>] {
    static KNOWN: OnceLock<Vec<Vec<usize>>> = OnceLock::new();
    KNOWN.get_or_init(|| device_headers().iter().map(|(_, text)| included(text).unwrap_or_default()).collect())
}

/// The headers that the `#include` lines of a text name; `None` if one of the lines takes its name from a macro.
fn included(text: &str) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    // Every first call of a kernel goes over its text, in which hardly a line has the word.
    for at in memmem::find_iter(text.as_bytes(), "include") {
        let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let Some(name) = directive.and_then(|d| d.strip_prefix("include")).map(str::trim_start) else { continue };
        let path = name.strip_prefix(['"', '<'])?.split(['"', '>']).next()?;
        found.extend(device_headers().iter().position(|(known, _)| *known == path));
    }
    Some(found)
}
