//! Header files on disk: everything that a source may read through its include path, so that the content key changes when one of
//! them does.
//!
//! Includes are followed by their text alone. Conditions are not judged and every folder is looked into, so the key covers more
//! than the compiler reads: a header that is not used can cost a compilation, one that is used is never missed. Where the name of a
//! header is a macro, nobody but a preprocessor can tell it; then the listing of the include folders (path, size, time of change)
//! stands for all that it could name.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::UNIX_EPOCH,
};

use memchr::memmem;

use crate::{Source, digest};

/// A listing ends here: an include path that names a whole disk must not take forever.
const MOST_LISTED: usize = 100_000;

/// What a source's text and headers reach on disk, as pieces for the key, in an order that is always the same. `more` are options
/// beside the source's own.
pub(crate) fn reached(source: &Source, more: Vec<String>) -> Vec<Vec<u8>> {
    let options: Vec<String> = source.options.iter().cloned().chain(more).collect();
    let mut walk =
        Walk { source, folders: folders(&options), seen: BTreeSet::new(), pieces: Vec::new(), computed: false };
    // NVRTC looks for `"name"` beside the source too, whose name may have a folder.
    let beside = Path::new(&source.name).parent().unwrap_or(Path::new("")).to_owned();
    let mut open = vec![(beside.clone(), Arc::new(Named::of(&source.text)))];
    open.extend(source.headers.iter().map(|(_, text)| (beside.clone(), digest::of(text).named.clone())));
    for option in &options {
        if let Some(name) = value(option, &["--pre-include=", "-include="]) {
            open.push((beside.clone(), Arc::new(Named::of(&format!("#include \"{name}\"")))));
        }
    }
    while let Some((folder, named)) = open.pop() {
        walk.computed |= named.computed;
        for name in &named.names {
            open.extend(walk.found(&folder, name));
        }
    }
    if walk.computed {
        let folders = walk.folders.clone();
        folders.iter().for_each(|folder| walk.list(folder));
    }
    walk.pieces
}

/// The headers that a text names.
#[derive(Debug, Default)]
pub(crate) struct Named {
    names: Vec<String>,
    /// Whether some include is a macro.
    computed: bool,
}

impl Named {
    pub(crate) fn of(text: &str) -> Self {
        // Looked for before anything is done for them: every key goes over its text, and most have neither.
        let mut text = Cow::Borrowed(text);
        for end in ["\\\r\n", "\\\n"] {
            if memmem::find(text.as_bytes(), end.as_bytes()).is_some() {
                text = text.replace(end, "").into();
            }
        }
        let mut named = Self::default();
        // A line that has the word twice is looked at twice, which finds nothing else.
        for at in memmem::find_iter(text.as_bytes(), "include") {
            let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let line = text[begin..].lines().next().unwrap_or_default().trim_start();
            let directive = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")).map(without_comment);
            if let Some(rest) = directive.and_then(|d| d.strip_prefix("include")) {
                match quoted(without_comment(rest.strip_prefix("_next").unwrap_or(rest))) {
                    Some(name) => named.names.push(name.to_owned()),
                    None => named.computed = true,
                }
            } else if let Some((_, rest)) = line.split_once("__has_include") {
                let asked =
                    rest.split("__has_include").filter_map(|part| quoted(part.trim_start().strip_prefix('(')?.trim()));
                named.names.extend(asked.map(str::to_owned));
            }
        }
        named
    }
}

struct Walk<'a> {
    source: &'a Source,
    folders: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
    pieces: Vec<Vec<u8>>,
    /// Whether some include is a macro.
    computed: bool,
}

impl Walk<'_> {
    /// The files of this name, each with its folder. Headers in memory come before those on disk, and are in the key as they are.
    fn found(&mut self, beside: &Path, name: &str) -> Vec<(PathBuf, Arc<Named>)> {
        if self.source.headers.iter().any(|(known, _)| known == name) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for folder in std::iter::once(beside).chain(self.folders.iter().map(PathBuf::as_path)) {
            let path = folder.join(name);
            let Ok(content) = fs::read(&path) else { continue };
            let known = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if !self.seen.insert(known) {
                continue;
            }
            self.pieces.push(path.to_string_lossy().into_owned().into_bytes());
            let named = Named::of(&String::from_utf8_lossy(&content));
            found.push((path.parent().unwrap_or(folder).to_owned(), Arc::new(named)));
            self.pieces.push(content);
        }
        found
    }

    /// Adds path, size and time of change of every file below a folder.
    fn list(&mut self, folder: &Path) {
        let (mut open, mut lines) = (vec![folder.to_owned()], BTreeSet::new());
        while let Some(folder) = open.pop().filter(|_| lines.len() < MOST_LISTED) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(about) = entry.metadata() else { continue };
                if about.is_dir() {
                    open.push(entry.path());
                    continue;
                }
                let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let changed = since.map_or(0, |since| since.as_nanos());
                lines.insert(format!("{} {} {changed}\n", entry.path().display(), about.len()));
            }
        }
        self.pieces.push(lines.into_iter().collect::<String>().into_bytes());
    }
}

/// The folders of `--include-path=DIR`, `-I=DIR`, `-IDIR`, and `-I DIR` in two options.
fn folders(options: &[String]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let folder = match option.as_str() {
            "-I" | "--include-path" => options.next().map(String::as_str),
            option => value(option, &["--include-path=", "-I=", "-I"]),
        };
        folders.extend(folder.map(PathBuf::from));
    }
    folders
}

fn value<'a>(option: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| option.strip_prefix(prefix))
}

/// `name` of `"name" ..` and `<name> ..`.
fn quoted(text: &str) -> Option<&str> {
    let close = match text.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    text[1..].split_once(close).map(|(name, _)| name)
}

/// What follows blanks and comments.
fn without_comment(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        match text.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
            Some((_, rest)) => text = rest,
            None => return text,
        }
    }
}
