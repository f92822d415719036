//! `cargo xtask test`: everything that can be tested on this machine.

use crate::tidy;
use crate::workspace::{self, Packages};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All packages, with the features that are off by default: whoever uses them wants them tested too. `.ci/run` names the same ones:
/// with others all would be built again.
const ALL: [&str; 3] = ["--workspace", "--features", "tilewright-hybrid/zarr,xtask/bindgen,xtask/train"];

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// Tests what `--release` builds.
    #[arg(long)]
    release: bool,
}

/// Runs tidy, all tests (documentation's included) and every example of the libraries; fails at the
/// end if any failed.
pub fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let skips = folder.path().join("skips");
    std::fs::write(&skips, "")?;
    let profile: &[&str] = if options.release { &["--release"] } else { &[] };
    let mut failed = Vec::new();
    let mut stage = |name: String, outcome: Result<()>| {
        if let Err(error) = outcome {
            println!("\n{name} FAILED: {error:#}");
            failed.push(name);
        }
    };

    println!("== tidy");
    stage("tidy".into(), tidy::run());

    println!("\n== tests");
    let mut tests = workspace::cargo();
    tests.arg("test").args(ALL).arg("--no-fail-fast").args(profile).env("TILEWRIGHT_SKIPS", &skips);
    stage("tests".into(), workspace::run(&mut tests));

    println!("\n== examples");
    match examples(profile) {
        Err(error) => stage("examples".into(), Err(error)),
        Ok(examples) => {
            for (name, executable) in examples {
                println!("\n== example {name}");
                let mut run = workspace::command(executable);
                stage(format!("example {name}"), workspace::run(run.env("TILEWRIGHT_SKIPS", &skips)));
            }
        }
    }

    println!("\n== summary");
    print!("{}", summary(&read_skips(&skips)?));
    if !failed.is_empty() {
        bail!("failed {}: {}", failed.len(), failed.join(", "));
    }
    println!("all passed");
    Ok(())
}

/// Every example of the libraries, built with what the tests were, so that nothing is built twice: its name and its executable.
fn examples(profile: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    let packages = Packages::load()?;
    let libraries: BTreeSet<&str> = packages.libraries().map(|library| library.name.as_str()).collect();
    let artifacts = workspace::artifacts(workspace::cargo().arg("build").args(ALL).arg("--examples").args(profile))?;
    let example = |artifact| {
        let (package, name, kind, file) = packages.described(artifact)?;
        (kind == "example" && libraries.contains(package.name.as_str())).then(|| (name.to_owned(), file))
    };
    Ok(artifacts.iter().filter_map(example).collect())
}

fn read_skips(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Counts and names what the lines `SKIP name: reason` say, a line per reason. Each name counts once.
pub fn summary(skips: &str) -> String {
    let mut by_reason: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in skips.lines().filter_map(|line| line.strip_prefix("SKIP ")) {
        let (name, reason) = line.split_once(": ").unwrap_or((line, "no reason given"));
        by_reason.entry(reason.trim()).or_default().insert(name.trim());
    }
    if by_reason.is_empty() {
        return "skipped 0\n".into();
    }
    let mut text = String::new();
    for (reason, names) in by_reason {
        let list: Vec<&str> = names.into_iter().collect();
        text += &format!("skipped {}: {reason}: {}\n", list.len(), list.join(", "));
    }
    text
}
