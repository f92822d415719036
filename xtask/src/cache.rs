//! `cargo xtask cache`: looks at the folder of compiled kernels, checks it (and bundles), empties it, packs it.

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tilewright_driver::{Bundle, CacheEntry, CacheFolder, Compiled, Error, FolderStatistics, KernelCache};

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
    /// The folder; by default the one that programs use ($TILEWRIGHT_CACHE, else tilewright/kernels in the user's cache folder).
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// Says how many kernels there are, for what, how large, and when they were used.
    Stat,
    /// Removes all kernels, and names each file. Files of other names stay.
    Clear,
    /// Checks every byte of every kernel, of the folder or of bundles. Fails if some cannot be used.
    Verify {
        /// Removes those from the folder.
        #[arg(long)]
        remove: bool,
        /// Bundles to check in place of the folder; of several, also whether they have different code for one kernel.
        #[arg(value_name = "BUNDLE", conflicts_with = "remove")]
        bundles: Vec<PathBuf>,
    },
    /// Writes all kernels into one bundle, to be named in $TILEWRIGHT_BUNDLES or shipped, and reads it back.
    Pack {
        /// The file, such as kernels.twb; an older one is replaced.
        #[arg(long, value_name = "FILE")]
        output: PathBuf,
    },
}

/// Does what is asked, and prints what was found or done.
pub fn run(options: &Options) -> Result<()> {
    if let Action::Verify { bundles, .. } = &options.action
        && !bundles.is_empty()
    {
        return verify_bundles(bundles);
    }
    let path = options.dir.clone().or_else(KernelCache::default_dir);
    let path = path.context("there is no cache folder: set HOME or TILEWRIGHT_CACHE, or name one with --dir")?;
    if !path.exists() {
        println!("there is no cache in {}", path.display());
        return Ok(());
    }
    let folder = CacheFolder::open_existing(&path)?;
    match &options.action {
        Action::Stat => stat(&folder),
        Action::Clear => clear(&folder),
        Action::Verify { remove, .. } => verify(&folder, *remove),
        Action::Pack { output } => {
            let bar = bar("packing", folder.entries()?.len());
            let packed = folder.pack(output, &mut |_| bar.inc(1))?;
            bar.finish_and_clear();
            let (entries, size) = (packed.written.entries, bytes(packed.written.bytes));
            println!("{}: {entries} kernels, {size}, {} left out as unusable", output.display(), packed.left_out);
            Ok(())
        }
    }
}

fn stat(folder: &CacheFolder) -> Result<()> {
    let mut kinds = BTreeMap::<(String, String), (u64, u64)>::new();
    let statistics = survey(folder, |entry, checked| {
        let Ok(kernel) = checked else { return };
        let (major, minor) = kernel.compiler;
        let kind = kinds.entry((kernel.target.target(kernel.arch), format!("NVRTC {major}.{minor}"))).or_default();
        *kind = (kind.0 + 1, kind.1 + entry.bytes);
    })?;
    let row = |name: &str, value: String| println!("{name:<12} {value}");
    row("folder", folder.path().display().to_string());
    row("kernels", format!("{}, {}", statistics.entries, bytes(statistics.bytes)));
    row("limit", folder.limit().map_or("none".into(), bytes));
    row("oldest use", statistics.oldest.map_or("-".into(), since));
    row("newest use", statistics.newest.map_or("-".into(), since));
    row("unusable", statistics.unusable.to_string());
    row("temporary", statistics.temporaries.to_string());
    for ((target, compiler), (count, size)) in kinds {
        row("", format!("{count:>6} {target:<11} {compiler:<11} {:>10}", bytes(size)));
    }
    Ok(())
}

fn clear(folder: &CacheFolder) -> Result<()> {
    let (mut count, mut total) = (0u64, 0);
    folder.clear(&mut |name, size| {
        println!("{name}");
        (count, total) = (count + 1, total + size);
    })?;
    println!("removed {count} files, {}, from {}", bytes(total), folder.path().display());
    Ok(())
}

fn verify(folder: &CacheFolder, remove: bool) -> Result<()> {
    let mut unusable = Vec::new();
    let statistics = survey(folder, |entry, checked| {
        unusable.extend(checked.err().map(|error| (entry.clone(), error)));
    })?;
    let mut left = 0;
    for (entry, error) in &unusable {
        // Written anew meanwhile: then it is not this one any more.
        let removed = remove && folder.remove(entry).unwrap_or(false);
        println!("{error}{}", if removed { "; removed" } else { "" });
        left += usize::from(!removed);
    }
    println!("{} of {} kernels are whole", statistics.entries - statistics.unusable, statistics.entries);
    if left > 0 {
        bail!("{left} unusable; `cargo xtask cache verify --remove` removes them");
    }
    Ok(())
}

fn verify_bundles(paths: &[PathBuf]) -> Result<()> {
    let bundles = paths.iter().map(Bundle::open).collect::<Result<Vec<_>, _>>()?;
    let mut left = 0;
    for (bundle, path) in bundles.iter().zip(paths) {
        let mut whole = 0;
        bundle.survey(&mut |entry, checked| match checked {
            Ok(_) => whole += 1,
            Err(reason) => println!("{} ({}): {reason}", entry.key, entry.target),
        })?;
        left += bundle.len() - whole;
        println!("{}: {whole} of {} kernels are whole, {}", path.display(), bundle.len(), bytes(bundle.bytes()));
    }
    for (at, later) in bundles.iter().enumerate() {
        for (earlier, path) in bundles[..at].iter().zip(paths) {
            let differ = earlier.conflicts(later);
            if let Some(first) = differ.first() {
                let (count, path, later) = (differ.len(), path.display(), paths[at].display());
                println!(
                    "{path} and {later} have different code for {count} kernels, such as {first}; the first named serves"
                );
            }
        }
    }
    if left > 0 {
        bail!("{left} unusable; build the bundle anew");
    }
    Ok(())
}

/// Looks at every entry, behind a progress bar.
fn survey(
    folder: &CacheFolder,
    mut each: impl FnMut(&CacheEntry, Result<Compiled, Error>),
) -> Result<FolderStatistics, Error> {
    let bar = bar("checking", folder.entries()?.len());
    let statistics = folder.survey(&mut |entry, checked| {
        bar.inc(1);
        each(entry, checked);
    });
    bar.finish_and_clear();
    statistics
}

fn bar(doing: &'static str, count: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<9} [{bar:40}] {pos} of {len}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count as u64).with_style(style).with_message(doing)
}

fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", count as f64 / 1_073_741_824.0),
    }
}

fn since(time: SystemTime) -> String {
    let Ok(age) = SystemTime::now().duration_since(time) else { return "in the future: some clock is wrong".into() };
    const DAY: Duration = Duration::from_secs(24 * 3600);
    match age.as_secs() / DAY.as_secs() {
        0 => "today".into(),
        1 => "yesterday".into(),
        days => format!("{days} days ago"),
    }
}
