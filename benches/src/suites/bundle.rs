//! Kernels built ahead: what the file costs, and first calls that find theirs in it, in processes of their own.

use super::jit;
use crate::Result;
use crate::clock::median;
use crate::report::Report;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tilewright_driver::{Arch, Bundle, CacheFolder, Compiled, KernelResources, Key, Source, Target, TargetKind};

/// Kernels of `bundle/file`.
const KERNELS: u32 = 1000;
/// Bytes of one: what a pointwise kernel has.
const IMAGE_BYTES: u32 = 13_000;

/// Measures a case of the GPU: `crops`, the first call of the main job; `functions`, that of each special function.
pub fn run(case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bundle = filled(case, folder.path())?;
    let path = bundle.to_str().ok_or("a path that is no text")?;
    let repeats = if quick { 3 } else { 7 };
    let (mut base, mut first, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for repeat in 0..repeats {
        let empty = |name: &str| folder.path().join(format!("{name}-{repeat}"));
        let ahead = [("TILEWRIGHT_BUNDLES", path)];
        base.push(jit::start("base", &empty("base"), &ahead)?.0);
        let (wall, line) = jit::start(case, &empty(case), &ahead)?;
        first.push(wall);
        lines.push(line);
    }
    if case == "crops" {
        let in_process = lines.iter().map(|line| jit::first_result_ms(line, "Bundle")).collect::<Result<_>>()?;
        report.add("bundle", case, "ms", median(first) - median(base), "ms");
        report.add("bundle", case, "in_process_ms", median(in_process), "ms");
        return Ok(());
    }
    let names = ["first_call_ms", "worst_first_call_ms", "process_first_ms"];
    for (metric, ms) in names.into_iter().zip(jit::calls_ms(&lines, "Bundle")?) {
        report.add("bundle", case, metric, ms, "ms");
    }
    Ok(())
}

/// A bundle of all that a child compiles: its cache, packed.
fn filled(child: &str, folder: &Path) -> Result<PathBuf> {
    let (cache, bundle) = (folder.join("filled"), folder.join("kernels.twb"));
    jit::start(child, &cache, &[])?;
    CacheFolder::open(&cache)?.pack(&bundle, &mut |_| {})?;
    Ok(bundle)
}

/// Measures the file itself: opening one of 1,000 kernels, finding one, unpacking and checking it.
pub fn file(quick: bool, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("kernels.twb");
    let entries: Vec<(Key, Compiled)> = (0..KERNELS).map(synthetic).collect();
    Bundle::write(&path, entries.iter().cloned())?;
    let repeats = if quick { 20 } else { 200 };
    let us = |since: Instant| since.elapsed().as_secs_f64() * 1e6;
    let (mut open, mut find, mut get) = (Vec::new(), Vec::new(), Vec::new());
    for repeat in 0..repeats {
        let begin = Instant::now();
        let bundle = Bundle::open(&path)?;
        open.push(us(begin));
        let keys = entries.iter().skip(repeat % 7).step_by(31).map(|(key, _)| key).collect::<Vec<_>>();
        let begin = Instant::now();
        let found = keys.iter().filter(|key| bundle.entry(key).is_some()).count();
        find.push(us(begin) / keys.len() as f64);
        let begin = Instant::now();
        let whole = keys.iter().filter(|key| bundle.get(key).is_some()).count();
        get.push(us(begin) / keys.len() as f64);
        if (found, whole) != (keys.len(), keys.len()) {
            return Err("a kernel of the bundle is not found".into());
        }
    }
    report.add("bundle", "file", "open_us", median(open), "us");
    report.add("bundle", "file", "find_us", median(find), "us");
    report.add("bundle", "file", "get_us", median(get), "us");
    Ok(())
}

/// A kernel of many bytes, half of which repeat, as those of machine code do.
fn synthetic(number: u32) -> (Key, Compiled) {
    let byte = |i: u32| if i % 16 < 8 { (i % 251) as u8 } else { ((i ^ number).wrapping_mul(0x9e37_79b1) >> 24) as u8 };
    let name = format!("kernel {number}");
    let target = Target::new(TargetKind::Plain, Arch::new(9, 0));
    let source = Source { name: name.clone(), text: name.clone(), ..Source::default() };
    let compiled = Compiled {
        name,
        arch: target.arch,
        target: target.kind,
        compiler: (13, 0),
        kernels: vec![KernelResources { name: "kernel".into(), registers: 32, ..KernelResources::default() }],
        log: String::new(),
        image: (0..IMAGE_BYTES).map(byte).collect(),
    };
    (source.keys().of(target), compiled)
}
