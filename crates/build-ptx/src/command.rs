//! The command line: what `build-ptx` and `cargo xtask build-ptx` take.

use crate::budgets::Budgets;
use crate::build::{Built, build};
use crate::catalogue::{Entries, Entry, Suite};
use crate::table;
use crate::targets::{ArchOption, Kind, Targets};
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tilewright_driver::Bundle;
use tilewright_ops::Manifest;

/// The committed budgets of the catalogue.
const BUDGETS: &str = include_str!("../budgets.tsv");
/// Failures that are shown whole.
const SHOWN_FAILURES: usize = 5;

/// Compiles kernels ahead, into one bundle that programs open: no GPU is needed, only NVRTC.
///
/// Without options that is portable PTX of the standard catalogue. Kernels that the bundle at `--out` has already are kept.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "build-ptx")]
pub struct Options {
    /// Architectures to build machine code for: `80,86,89,90a,100`.
    #[arg(long, value_delimiter = ',')]
    arch: Vec<ArchOption>,
    /// PTX, cubins or both; by default cubins as soon as `--arch` names an architecture, and PTX always.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Parts of the catalogue, several with commas between; all without this, none with `--manifest` alone.
    #[arg(long, value_enum, value_delimiter = ',')]
    suite: Vec<Suite>,
    /// Pipelines that a program recorded or printed.
    #[arg(long)]
    manifest: Vec<PathBuf>,
    /// The bundle.
    #[arg(long, default_value = "target/tilewright/kernels.twb")]
    out: PathBuf,
    /// Compiler threads; by default one for each core.
    #[arg(long)]
    jobs: Option<usize>,
    /// Budgets of registers and spills instead of the catalogue's own: a table as `--update-budgets` writes it.
    #[arg(long)]
    budgets: Option<PathBuf>,
    /// Demands a budget for every kernel of the catalogue, and a kernel for every budget.
    #[arg(long)]
    check_budgets: bool,
    /// Writes what kernels use into the table of budgets, instead of comparing it.
    #[arg(long, requires = "budgets")]
    update_budgets: bool,
}

/// Does what the options say, and tells `to`.
pub fn run(options: &Options, to: &mut dyn Write) -> Result<()> {
    let start = Instant::now();
    if let Some(jobs) = options.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global().context("`--jobs` comes too late")?;
    }
    let targets = Targets::new(options.arch.clone(), options.kind)?;
    let budgets = budgets(options)?;
    let entries = entries(options)?;
    let built = with_bar(entries.list(), &targets, &options.out)?;
    tell_failures(&built, to)?;
    let bundle = Bundle::open(&options.out)?;
    let stored = |row: &crate::build::Row| bundle.entry(&row.key).map_or(0, |entry| entry.stored_bytes);
    write!(to, "{}", table::shown(&built.rows, &stored))?;
    let rows = options.out.with_extension("tsv");
    std::fs::write(&rows, table::every_row(&built.rows, &stored))
        .with_context(|| format!("cannot write {}", rows.display()))?;
    let compiled = built.rows.iter().filter(|row| row.ms.is_some()).count();
    let dropped = if built.dropped > 0 { format!(", {} dropped", built.dropped) } else { String::new() };
    writeln!(
        to,
        "{}: {} kernels, {} bytes; {compiled} compiled, {} kept{dropped}, {:.1} s. Every kernel: {}",
        options.out.display(),
        built.rows.len(),
        built.bytes,
        built.rows.len() - compiled,
        start.elapsed().as_secs_f64(),
        rows.display()
    )?;
    for name in &built.left_out {
        writeln!(
            to,
            "left out: {name} is for none of these; kernels for exactly one architecture want it with an `a`, as in `--arch 90a`"
        )?;
    }
    compare(options, budgets, &built)
}

/// The kernels asked for.
fn entries(options: &Options) -> Result<Entries> {
    let suites = match (options.suite.as_slice(), options.manifest.is_empty()) {
        ([], true) => Suite::ALL.to_vec(),
        (suites, _) => suites.to_vec(),
    };
    let mut entries = Entries::standard(&suites)?;
    for path in &options.manifest {
        for source in Manifest::read(path)?.sources()? {
            let operation = source.name.clone();
            entries.add(Entry { suite: None, operation, variant: String::new(), source });
        }
    }
    if entries.list().is_empty() {
        bail!("there is nothing to build: the manifests name no pipeline; add `--suite functions` or another");
    }
    Ok(entries)
}

fn with_bar(entries: &[Entry], targets: &Targets, out: &Path) -> Result<Built> {
    let style = ProgressStyle::with_template("compiling [{bar:40}] {pos} of {len}, {eta} left  {wide_msg}");
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let progress = |name: &str, count: usize| {
        bar.set_length(count as u64);
        bar.set_message(name.to_owned());
        bar.inc(1);
    };
    let built = build(entries, targets, out, &progress);
    bar.finish_and_clear();
    built
}

fn tell_failures(built: &Built, to: &mut dyn Write) -> Result<()> {
    if built.failures.is_empty() {
        return Ok(());
    }
    for failure in built.failures.iter().take(SHOWN_FAILURES) {
        writeln!(to, "{} for {}: {}\n", failure.name, failure.target, failure.error)?;
    }
    let (failed, all) = (built.failures.len(), built.rows.len() + built.failures.len());
    bail!("{failed} of {all} kernels do not compile; no bundle is written");
}

fn budgets(options: &Options) -> Result<Budgets> {
    match &options.budgets {
        None => Budgets::parse(BUDGETS, "budgets.tsv"),
        Some(path) => match std::fs::read_to_string(path) {
            Ok(text) => Budgets::parse(&text, &path.display().to_string()),
            Err(error) if options.update_budgets && error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Budgets::default())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        },
    }
}

/// Compares with the budgets, or writes them.
fn compare(options: &Options, budgets: Budgets, built: &Built) -> Result<()> {
    if let Some(path) = options.budgets.as_ref().filter(|_| options.update_budgets) {
        let all = budgets.updated(Budgets::of(&built.rows)).to_string();
        return std::fs::write(path, all).with_context(|| format!("cannot write {}", path.display()));
    }
    let mut wrong = budgets.excesses(&built.rows, options.check_budgets);
    if options.check_budgets {
        wrong.extend(budgets.idle(&built.rows).into_iter().map(|name| format!("{name} has a budget, and no kernel")));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let update = "`--budgets crates/build-ptx/budgets.tsv --update-budgets` takes what they use for their budgets";
    bail!("{} kernels are over their budgets:\n  {}\n{update}", wrong.len(), wrong.join("\n  "))
}
