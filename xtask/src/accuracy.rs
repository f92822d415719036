//! `cargo xtask accuracy`: errors of the special functions in units in the last place, on files of correctly rounded values.
//!
//! The values come from `examples/eval.rs`, as a user's would, from the CPU or from a GPU.

// The format of the files, what an error is and what it is relative to, as in the tests of the functions.
#[path = "../../crates/special/tests/measure.rs"]
mod measure;

use crate::workspace;
use anyhow::{Context, Result, anyhow, bail};
use measure::{Points, Size, Summary, error, row, size, summary};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What `cargo xtask accuracy` takes.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// A file of points, in the format of crates/special/tests/data/grid.txt; can be given several times. Left out: those of the tests.
    #[arg(long)]
    grid: Vec<PathBuf>,
    /// Where the functions are computed.
    #[arg(long, default_value = "cpu", value_parser = ["cpu", "gpu"])]
    device: String,
    /// Figures of other libraries: JSON, from a function to a library to `ulp_median`, `ulp_p95` and `ulp_max`.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// The example `eval` as it was built, where it is not to be built here.
    #[arg(long)]
    eval: Option<PathBuf>,
}

/// Prints a table: for each function the median, the 95th percentile and the worst, where the worst is, and the peers' figures.
///
/// # Errors
///
/// When a file cannot be read or is no such file, when the example cannot be built, or when it finds no GPU.
pub fn run(options: &Options) -> Result<()> {
    let text = grid(&options.grid)?;
    let all = measure::points(&text).map_err(|line| anyhow!("`{line}` is no point: expected hexadecimal numbers"))?;
    let all: BTreeMap<&str, Points> = all.into_iter().collect();
    let peers = options.peers.as_deref().map(peers).transpose()?.unwrap_or_default();
    let double = errors(&all, options, "f64")?;
    let single = errors(&all, options, "f32")?;
    println!("| function | f64 | worst at | f32 | worst at | peers |\n|---|---|---|---|---|---|");
    let mut left_out = Vec::new();
    for name in all.keys() {
        let [double, single] = [&double, &single].map(|errors| errors.get(name));
        if double.is_none() && single.is_none() {
            left_out.push(*name);
            continue;
        }
        println!("| `{name}` | {} | {} | {} |", cells(double), cells(single), peer_cell(&peers[*name]));
    }
    if !left_out.is_empty() {
        println!("\nNot functions of the example `eval`: {}.", left_out.join(", "));
    }
    Ok(())
}

fn grid(files: &[PathBuf]) -> Result<String> {
    let data = workspace::root().join("crates/special/tests/data");
    let own = [data.join("grid.txt"), data.join("own.txt")];
    let files = if files.is_empty() { &own } else { files };
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn peers(file: &Path) -> Result<Value> {
    serde_json::from_str(&read(file)?).with_context(|| format!("{} is not JSON", file.display()))
}

/// `median / 95th percentile / worst | arguments of the worst`.
fn cells(summary: Option<&Summary>) -> String {
    summary.map_or(" | ".to_owned(), |s| {
        let place: Vec<String> = s.worst.iter().map(|x| format!("{x:?}")).collect();
        format!("{} | {}", row(&s.figures), place.join(", "))
    })
}

/// `library: median / 95th percentile / worst`, one after the other.
fn peer_cell(libraries: &Value) -> String {
    let Some(libraries) = libraries.as_object() else { return String::new() };
    let figures = |library: &Value| {
        let numbers = ["ulp_median", "ulp_p95", "ulp_max"].map(|key| library[key].as_f64().unwrap_or(f64::INFINITY));
        row(&numbers)
    };
    libraries.iter().map(|(name, of)| format!("{name}: {}", figures(of))).collect::<Vec<_>>().join("; ")
}

/// The errors of every function that `eval` answers for, in a format.
fn errors<'a>(all: &BTreeMap<&'a str, Points>, options: &Options, format: &str) -> Result<BTreeMap<&'a str, Summary>> {
    let single = format == "f32";
    let rows = || {
        all.iter().flat_map(|(name, points)| points.rows.iter().filter(|row| row.2 || !single).map(|row| (*name, row)))
    };
    let values = evaluate(options, format, rows().map(|(name, (x, ..))| line(name, x)))?;
    let sizes: Vec<Size> = rows().map(|(name, (x, ..))| size(name, x)).collect();
    // Sizes are values of functions, too; what is a number has an empty line.
    let asked = sizes.iter().map(|size| match size {
        Size::Of(name, x, _) => line(name, x),
        Size::Number(_) => String::new(),
    });
    let found = evaluate(options, "f64", asked)?;
    let mut errors: BTreeMap<&str, Vec<(f64, Vec<f64>)>> = BTreeMap::new();
    for (((name, (x, wanted, _)), got), (size, found)) in rows().zip(values).zip(sizes.iter().zip(found)) {
        let size = match (size, found) {
            (Size::Number(size), _) => *size,
            (Size::Of(_, _, least), found) => found.unwrap_or(0.0).abs().max(*least),
        };
        if let Some(got) = got {
            errors.entry(name).or_default().push((error(got, *wanted, size, single), x.clone()));
        }
    }
    Ok(errors.into_iter().map(|(name, errors)| (name, summary(errors))).collect())
}

/// A line for `eval`, which names two functions otherwise than Rust does.
fn line(name: &str, x: &[f64]) -> String {
    let name = match name {
        "sin_pi" => "sinpi",
        "cos_pi" => "cospi",
        other => other,
    };
    x.iter().fold(name.to_owned(), |line, x| format!("{line} {x:e}"))
}

/// What `eval` answers to each line; nothing where it does not know the function.
fn evaluate(options: &Options, format: &str, lines: impl Iterator<Item = String>) -> Result<Vec<Option<f64>>> {
    let mut questions = tempfile::tempfile()?;
    let mut count = 0;
    let text: String = lines.inspect(|_| count += 1).map(|line| line + "\n").collect();
    questions.write_all(text.as_bytes())?;
    questions.rewind()?;
    let mut command = match &options.eval {
        Some(program) => workspace::command(std::path::absolute(program)?),
        None => workspace::cargo(),
    };
    if options.eval.is_none() {
        command.args(["run", "--quiet", "--release", "--package", "tilewright", "--example", "eval", "--"]);
    }
    command.args(["--dtype", format, "--device", &options.device]);
    let output = command.stdin(questions).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", output.status);
    }
    let answers = String::from_utf8(output.stdout)?;
    // An f32 is written with the digits that an f32 needs.
    let value = |word: &str| if format == "f32" { word.parse::<f32>().ok().map(f64::from) } else { word.parse().ok() };
    let answers: Vec<Option<f64>> = answers.lines().map(value).collect();
    if answers.len() != count {
        bail!("{command:?} answered {} of {count} lines", answers.len());
    }
    Ok(answers)
}
