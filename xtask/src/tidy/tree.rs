//! The files that the rules look at.

use super::Violation;
use anyhow::{Context, Result};
use std::path::Path;

/// A text file of the tree.
pub(super) struct File {
    /// Its path relative to the root, with forward slashes.
    pub(super) path: String,
    /// What it says.
    pub(super) text: String,
}

impl File {
    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether one of the folders that it lies in has this name.
    pub(super) fn lies_in(&self, folder: &str) -> bool {
        self.path.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(|name| name == folder))
    }

    /// `crates/x` for a file of that crate, `xtask`, `benches`, `tests` for theirs, `.` for what lies at the root.
    pub(super) fn package(&self) -> &str {
        let slashes = if self.path.starts_with("crates/") { 1 } else { 0 };
        self.path.match_indices('/').nth(slashes).map_or(".", |(end, _)| &self.path[..end])
    }

    pub(super) fn violation(&self, line: usize, rule: &'static str, advice: impl Into<String>) -> Violation {
        Violation { file: self.path.clone(), line, rule, advice: advice.into() }
    }
}

/// All text files under a root, but for those that git ignores.
pub(super) struct Tree {
    pub(super) files: Vec<File>,
}

impl Tree {
    pub(super) fn load(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        let walk = ignore::WalkBuilder::new(root)
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk {
            let entry = entry.context("cannot walk the tree")?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let bytes = match std::fs::read(entry.path()) {
                Ok(bytes) => bytes,
                // Gone since the walk saw it: an editor's temporary file.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", entry.path().display())),
            };
            // What is not text is not for these rules.
            if let Ok(text) = String::from_utf8(bytes) {
                let names: Vec<_> =
                    entry.path().strip_prefix(root)?.iter().map(|name| name.to_string_lossy()).collect();
                files.push(File { path: names.join("/"), text });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    pub(super) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.has_extension(&["rs"]))
    }
}
