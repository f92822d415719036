//! Compiles what a bundle lacks, and writes it.

use crate::catalogue::Entry;
use crate::targets::Targets;
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;
use tilewright_driver::{Bundle, Compiled, Error, Key, Source, Target, compile};

/// A kernel for one target.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kernel.
    pub entry: Entry,
    /// What it is for.
    pub target: Target,
    /// Its place in the bundle.
    pub key: Key,
    /// How long it took to compile; `None` for one that was in the bundle already.
    pub ms: Option<f64>,
    /// The code, and what the compiler says of it.
    pub code: Compiled,
}

impl Row {
    /// Registers of a thread; `None` for PTX, whose registers the driver gives out.
    pub fn registers(&self) -> Option<u32> {
        self.code.kernels.iter().map(|k| k.registers).max()
    }

    /// Static shared memory of a block, bytes.
    pub fn shared_bytes(&self) -> Option<u32> {
        self.code.kernels.iter().map(|k| k.shared_bytes).max()
    }

    /// Bytes that a thread stores and loads because registers ran out.
    pub fn spill_bytes(&self) -> Option<u32> {
        self.code.kernels.iter().map(|k| k.spill_store_bytes + k.spill_load_bytes).max()
    }
}

/// A kernel that does not compile.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kernel.
    pub name: String,
    /// For which target.
    pub target: Target,
    /// Why.
    pub error: String,
}

/// What a build did.
#[derive(Debug, Default)]
pub struct Built {
    /// Every kernel of the bundle, in the catalogue's order.
    pub rows: Vec<Row>,
    /// Kernels that do not compile. The bundle is not written then.
    pub failures: Vec<Failure>,
    /// Kernels that no target asked for is one of, and what they are for.
    pub left_out: Vec<String>,
    /// Kernels of the old bundle that are not in the new one.
    pub dropped: usize,
    /// The bundle's size.
    pub bytes: u64,
}

/// A kernel that is to be in the bundle.
struct Wanted<'a> {
    entry: &'a Entry,
    source: Source,
    target: Target,
    key: Key,
}

/// Builds the kernels for these targets into one file. What an older bundle at that place has of them is taken from it. `progress`
/// hears of every kernel, with how many there are in all; it may come from any thread.
///
/// A kernel that does not compile leaves the file as it was; so does a build that is killed.
pub fn build(
    entries: &[Entry],
    targets: &Targets,
    out: &Path,
    progress: &(dyn Fn(&str, usize) + Sync),
) -> Result<Built> {
    check_targets(targets)?;
    let (wanted, left_out) = wanted(entries, targets);
    let old = Bundle::open(out).ok();
    let count = wanted.len();
    let results: Vec<Result<Row, Failure>> = wanted
        .par_iter()
        .map(|wanted| {
            let row = row(wanted, old.as_ref());
            progress(&wanted.entry.name(), count);
            row
        })
        .collect();
    let mut built = Built { left_out, ..Built::default() };
    for result in results {
        match result {
            Ok(row) => built.rows.push(row),
            Err(failure) => built.failures.push(failure),
        }
    }
    if !built.failures.is_empty() {
        return Ok(built);
    }
    let keys: HashSet<Key> = built.rows.iter().map(|row| row.key).collect();
    let kept = old.as_ref().map_or(0, |old| old.keys().filter(|key| keys.contains(key)).count());
    built.dropped = old.as_ref().map_or(0, Bundle::len) - kept;
    let changed = built.dropped > 0 || built.rows.iter().any(|row| row.ms.is_some());
    built.bytes = match old.filter(|_| !changed) {
        Some(old) => old.bytes(),
        None => write(&built.rows, out)?,
    };
    Ok(built)
}

/// Each kernel for each of its targets, and those without any.
fn wanted<'a>(entries: &'a [Entry], targets: &Targets) -> (Vec<Wanted<'a>>, Vec<String>) {
    let each: Vec<Vec<Wanted<'a>>> = entries
        .par_iter()
        .map(|entry| {
            let keys = entry.source.keys();
            let one = |target: Target| {
                let source = Source { target: target.kind, name: entry.name(), ..entry.source.clone() };
                Wanted { entry, source, target, key: keys.of(target) }
            };
            targets.of(&entry.source).into_iter().map(one).collect()
        })
        .collect();
    let left_out = entries.iter().zip(&each).filter(|(_, all)| all.is_empty()).map(|(entry, _)| entry.name()).collect();
    (each.into_iter().flatten().collect(), left_out)
}

/// From the old bundle, or compiled.
fn row(wanted: &Wanted<'_>, old: Option<&Bundle>) -> Result<Row, Failure> {
    let Wanted { entry, source, target, key } = wanted;
    let row = |code, ms| Row { entry: (*entry).clone(), target: *target, key: *key, ms, code };
    if let Some(code) = old.and_then(|old| old.get(key)) {
        return Ok(row(code, None));
    }
    let start = Instant::now();
    match compile(source, target.arch) {
        Ok(code) => Ok(row(code, Some(start.elapsed().as_secs_f64() * 1e3))),
        Err(error) => Err(Failure { name: entry.name(), target: *target, error: error.to_string() }),
    }
}

/// Compiles nothing for each target: one that the compiler does not know, or a compiler that is not there, is told once.
fn check_targets(targets: &Targets) -> Result<()> {
    for target in targets.all() {
        let text = "extern \"C\" __global__ void kernel() {}".to_owned();
        let source = Source { name: format!("a kernel for {target}"), text, target: target.kind, ..Source::default() };
        match compile(&source, target.arch) {
            Ok(_) => {}
            Err(Error::UnknownArch { known, version, .. }) => {
                bail!("NVRTC {version} does not know {target}; it knows {known}. Leave it out of `--arch`")
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn write(rows: &[Row], out: &Path) -> Result<u64> {
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let entries = rows.iter().map(|row| (row.key, row.code.clone()));
    Ok(Bundle::write(out, entries)?.bytes)
}
