//! Compiles what a bundle lacks, and writes it.

use crate::catalogue::Entry;
use crate::targets::Targets;
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;
use tilewright_driver::{Arch, Bundle, Compiled, Error, Key, Source, Target, TargetKind, compile, compile_with_ptx};

/// A kernel for one target.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kernel.
    pub entry: Entry,
    /// What it is for.
    pub target: Target,
    /// Its place in the bundle.
    pub key: Key,
    /// How long it took to compile, an equal part of the time for forms that are compiled at once; `None` for one that was in the
    /// bundle already.
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
    /// Kernels that are for none of the targets asked for.
    pub left_out: Vec<String>,
    /// Kernels of the old bundle that are not in the new one.
    pub dropped: usize,
    /// The bundle's size.
    pub bytes: u64,
}

/// What is to be in the bundle of a kernel for an architecture: machine code, PTX or both, which are compiled at once.
struct Wanted<'a> {
    entry: &'a Entry,
    arch: Arch,
    forms: Vec<(TargetKind, Key)>,
}

/// Builds the kernels for these targets into one file. What an older bundle at that place has of them is taken from it. `progress`
/// hears of every kernel, with how many there are in all; it may come from any thread. A file there that is no bundle is an error.
///
/// A kernel that does not compile leaves the file as it was; so does a build that is killed.
pub fn build(
    entries: &[Entry],
    targets: &Targets,
    out: &Path,
    progress: &(dyn Fn(&str, usize) + Sync),
) -> Result<Built> {
    check_place(out)?;
    check_targets(targets)?;
    let (wanted, left_out) = wanted(entries, targets);
    let old = Bundle::open(out).ok();
    let count = wanted.len();
    let results: Vec<Result<Vec<Row>, Failure>> = wanted
        .par_iter()
        .map(|wanted| {
            let rows = wanted.rows(old.as_ref());
            progress(&wanted.entry.name(), count);
            rows
        })
        .collect();
    let mut built = Built { left_out, ..Built::default() };
    for result in results {
        match result {
            Ok(rows) => built.rows.extend(rows),
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
            let mut wanted: Vec<Wanted<'a>> = Vec::new();
            for target in targets.of(&entry.source) {
                let form = (target.kind, keys.of(target));
                match wanted.iter_mut().find(|wanted| wanted.arch == target.arch) {
                    Some(wanted) => wanted.forms.push(form),
                    None => wanted.push(Wanted { entry, arch: target.arch, forms: vec![form] }),
                }
            }
            wanted
        })
        .collect();
    let left_out = entries.iter().zip(&each).filter(|(_, all)| all.is_empty()).map(|(entry, _)| entry.name()).collect();
    (each.into_iter().flatten().collect(), left_out)
}

impl Wanted<'_> {
    /// From the old bundle, or compiled.
    fn rows(&self, old: Option<&Bundle>) -> Result<Vec<Row>, Failure> {
        let there = |(_, key): &(TargetKind, Key)| old.and_then(|old| old.get(key));
        let mut codes: Vec<Option<Compiled>> = self.forms.iter().map(there).collect();
        let missing: Vec<TargetKind> =
            self.forms.iter().zip(&codes).filter(|(_, code)| code.is_none()).map(|((kind, _), _)| *kind).collect();
        let mut ms = None;
        if let Some(first) = missing.first() {
            let begin = Instant::now();
            let made = self.compile(&missing).map_err(|error| Failure {
                name: self.entry.name(),
                target: Target::new(*first, self.arch),
                error: error.to_string(),
            })?;
            ms = Some(begin.elapsed().as_secs_f64() * 1e3 / made.len() as f64);
            for code in made {
                let place = self.forms.iter().position(|(kind, _)| *kind == code.target);
                place.into_iter().for_each(|place| codes[place] = Some(code.clone()));
            }
        }
        let row = |((kind, key), code): (&(TargetKind, Key), Option<Compiled>)| {
            let ms = ms.filter(|_| missing.contains(kind));
            Some(Row { entry: self.entry.clone(), target: Target::new(*kind, self.arch), key: *key, ms, code: code? })
        };
        Ok(self.forms.iter().zip(codes).filter_map(row).collect())
    }

    fn compile(&self, missing: &[TargetKind]) -> Result<Vec<Compiled>, Error> {
        let source = |kind| Source { target: kind, name: self.entry.name(), ..self.entry.source.clone() };
        if missing.contains(&TargetKind::Plain) && missing.contains(&TargetKind::Portable) {
            return Ok(compile_with_ptx(&source(TargetKind::Plain), self.arch)?.into());
        }
        missing.iter().map(|kind| compile(&source(*kind), self.arch)).collect()
    }
}

/// Refuses to write over a file that never was a bundle. A damaged one, or one of another format, is replaced.
fn check_place(out: &Path) -> Result<()> {
    let mut first = [0; Bundle::MAGIC.len()];
    match File::open(out) {
        Ok(mut file) => match file.read_exact(&mut first) {
            Ok(()) if first == Bundle::MAGIC => Ok(()),
            _ if file.metadata().is_ok_and(|about| about.len() == 0) => Ok(()),
            _ => bail!("{} is there, and no bundle; remove it, or name another file with `--out`", out.display()),
        },
        // What cannot be read is told when it is written.
        Err(_) => Ok(()),
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
