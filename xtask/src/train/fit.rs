//! The fit itself: rows, cross-validation by shape, the model of all rows.

use super::{Options, report};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tilewright_ops::conv::{RowOperation, WeightOperation};
use tilewright_ops::pointwise::PointwiseOperation;
use tilewright_perf::dataset::{self, Row};
use tilewright_perf::synthetic::Synthetic;
use tilewright_perf::training::{Examples, Operation, Plan, cross_validate, predict, train};
use tilewright_perf::{DeviceFacts, Model};

/// What a training gives.
pub(super) struct Training {
    pub(super) model: Model,
    pub(super) bytes: usize,
    pub(super) examples: Examples,
    /// In microseconds, each by a fit that has not seen the shape.
    pub(super) predicted: Vec<f32>,
    pub(super) plan: Plan,
    /// Examples of shapes that are never trained on, with predicted times; none where none were measured.
    pub(super) held_out: Option<(Examples, Vec<f32>)>,
    /// The rows are no measurements.
    pub(super) made_up: bool,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let operations: [Box<dyn Operation>; 4] =
        [Box::new(Synthetic), Box::new(RowOperation), Box::new(WeightOperation), Box::new(PointwiseOperation)];
    let Some(operation) = operations.iter().find(|operation| operation.name() == options.op) else {
        let names: Vec<&str> = operations.iter().map(|operation| operation.name()).collect();
        bail!("no operation `{}`; there are: {}", options.op, names.join(", "));
    };
    let made_up = operation.name() == Synthetic.name();
    let rows = if made_up { Synthetic.rows(200, 50, 1) } else { measured(operation.name())? };
    ensure!(!rows.is_empty(), "crates/perf/data has no rows of {}; `cargo xtask tune` measures some", options.op);
    let examples = Examples::of(operation.as_ref(), &rows, &DeviceFacts::measured())?;
    let plan = Plan { folds: options.folds, ..operation.plan() };
    println!("{}: {} rows of {} shapes", options.op, examples.rows(), examples.problems().len());
    let predicted = cross_validate(&examples, &plan)?;
    let model = train(operation.as_ref(), &examples, &plan, &today()?)?;
    let bytes = model.to_bytes()?;
    ensure!(Model::load(&bytes)? == model, "the model's file does not give the model back");
    let models = if made_up { "target/train" } else { "crates/perf/models" };
    let file = folder(&options.models, models)?.join(format!("{}.model", options.op));
    fs::write(&file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}: {} bytes", file.display(), bytes.len());
    let held_out = held_out(operation.as_ref(), &examples, &plan)?;
    let training = Training { model, bytes: bytes.len(), examples, predicted, plan, held_out, made_up };
    report::write(&training, &folder(&options.report, "docs/performance-model")?)
}

/// The rows of a data set, which may not be there.
fn measured(name: &str) -> Result<Vec<Row>> {
    Ok(dataset::read(&workspace::root().join(format!("crates/perf/data/{name}.csv.gz")))?)
}

/// What is held out, with times by a fit that has seen none of it.
fn held_out(operation: &dyn Operation, known: &Examples, plan: &Plan) -> Result<Option<(Examples, Vec<f32>)>> {
    let rows = measured(&format!("{}-held-out", operation.name()))?;
    if rows.is_empty() {
        return Ok(None);
    }
    let asked = Examples::of(operation, &rows, &DeviceFacts::measured())?;
    let trained = asked.problems().iter().find(|problem| known.problems().contains(problem));
    ensure!(trained.is_none(), "a shape that is held out is trained on: {trained:?}");
    let predicted = predict(known, &asked, plan)?;
    Ok(Some((asked, predicted)))
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
