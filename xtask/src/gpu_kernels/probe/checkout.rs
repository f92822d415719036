//! A revision of a git repository, as cargo keeps it.

use super::Need;
use crate::machine::Machine;
use std::path::PathBuf;

/// cargo names a checkout by the first digits of its revision.
const DIGITS: usize = 7;

/// The folder where cargo has checked out `revision` of the repository `name`. `fetch` is the command that brings it.
pub fn probe(machine: &Machine, name: &str, revision: &str, fetch: &str) -> Result<PathBuf, Need> {
    let checkouts = machine.cargo_home().join("git/checkouts");
    let repositories = std::fs::read_dir(&checkouts).into_iter().flatten().flatten();
    // Their names end in a hash of the address.
    let ours = repositories.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{name}-")));
    let short = revision.get(..DIGITS).unwrap_or(revision);
    let is_whole = |folder: &PathBuf| folder.join("Cargo.toml").is_file();
    ours.map(|entry| entry.path().join(short)).find(is_whole).ok_or_else(|| {
        let what = format!("{name} at revision {revision}");
        let tried = format!("cargo has no checkout of it in {}", checkouts.display());
        Need::new(what, tried, format!("{fetch}  (once, with a network that reaches github.com)"))
    })
}
