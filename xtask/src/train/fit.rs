//! The fit itself: rows, cross-validation by shape, the model of all rows.

use super::{Options, report};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tilewright_perf::dataset::{self, Row};
use tilewright_perf::synthetic::Synthetic;
use tilewright_perf::training::{Examples, Operation, Plan, cross_validate, train};
use tilewright_perf::{DeviceFacts, Model};

/// What a training gives.
pub(super) struct Training {
    pub(super) model: Model,
    pub(super) bytes: usize,
    pub(super) examples: Examples,
    /// In microseconds, each by a fit that has not seen the shape.
    pub(super) predicted: Vec<f32>,
    pub(super) plan: Plan,
    /// The rows are no measurements.
    pub(super) made_up: bool,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let operations: [Box<dyn Operation>; 1] = [Box::new(Synthetic)];
    let Some(operation) = operations.iter().find(|operation| operation.name() == options.op) else {
        let names: Vec<&str> = operations.iter().map(|operation| operation.name()).collect();
        bail!("no operation `{}`; there are: {}", options.op, names.join(", "));
    };
    let made_up = operation.name() == Synthetic.name();
    let rows = if made_up { Synthetic.rows(200, 50, 1) } else { measured(operation.name())? };
    let examples = Examples::of(operation.as_ref(), &rows, &[DeviceFacts::h200()])?;
    let plan = Plan { folds: options.folds, ..Plan::default() };
    println!("{}: {} rows of {} shapes", options.op, examples.rows(), examples.problems().len());
    let predicted = cross_validate(&examples, &plan)?;
    let model = train(operation.as_ref(), &examples, &plan, &today()?)?;
    let bytes = model.to_bytes()?;
    ensure!(Model::load(&bytes)? == model, "the model's file does not give the model back");
    let models = if made_up { "target/train" } else { "crates/perf/models" };
    let file = folder(&options.models, models)?.join(format!("{}.model", options.op));
    fs::write(&file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}: {} bytes", file.display(), bytes.len());
    let training = Training { model, bytes: bytes.len(), examples, predicted, plan, made_up };
    report::write(&training, &folder(&options.report, "docs/performance-model")?)
}

fn measured(op: &str) -> Result<Vec<Row>> {
    let file = workspace::root().join(format!("crates/perf/data/{op}.csv.gz"));
    let rows = dataset::read(&file)?;
    ensure!(!rows.is_empty(), "{} has no rows; measure some first", file.display());
    Ok(rows)
}

fn folder(given: &Option<PathBuf>, otherwise: &str) -> Result<PathBuf> {
    let folder = given.clone().unwrap_or_else(|| workspace::root().join(Path::new(otherwise)));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// Year-month-day.
fn today() -> Result<String> {
    workspace::first_line(workspace::command("date").args(["-u", "+%F"])).context("cannot ask `date` for the day")
}
