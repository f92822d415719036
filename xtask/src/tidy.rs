//! `cargo xtask tidy`: the rules of the house that a program can hold. CONTRIBUTING.md says why each is there.

mod code;
mod manifests;
mod mask;
mod text;
mod tree;

use crate::workspace;
use anyhow::{Result, bail};
use std::fmt;
use std::path::Path;
use tree::Tree;

/// One place where the tree breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, relative to the root, with forward slashes.
    pub file: String,
    /// The line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong, and what to do.
    pub advice: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file, self.line.max(1), self.rule, self.advice)
    }
}

/// Checks the tree under `root` and returns what breaks a rule, in the order of files and lines.
pub fn check(root: &Path) -> Result<Vec<Violation>> {
    let tree = Tree::load(root)?;
    let mut found = Vec::new();
    manifests::check(&tree, &mut found);
    code::check(&tree, &mut found);
    text::check(&tree, &mut found);
    found.sort();
    Ok(found)
}

/// Checks this workspace, prints each violation and fails if there is one.
pub fn run() -> Result<()> {
    let found = check(workspace::root())?;
    for violation in &found {
        println!("{violation}");
    }
    if !found.is_empty() {
        bail!("{} violations of the rules in CONTRIBUTING.md", found.len());
    }
    println!("tidy");
    Ok(())
}
