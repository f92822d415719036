//! The report: a page of Markdown with figures and two pictures.

use super::fit::Training;
use super::scatter;
use crate::plots::{Chart, Series};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::Path;
use tilewright_perf::evaluation::{Metrics, Regret};
use tilewright_perf::training::Examples;

/// The shapes that the page lists: those with the largest regret.
const LISTED: usize = 10;

pub(super) fn write(training: &Training, folder: &Path) -> Result<()> {
    let op = training.model.op();
    let (cases, measured) = (training.examples.cases(), training.examples.measured());
    let regret = |k, times: &[f32]| Regret::of_top(k, cases, measured, times);
    let timed = Regret::of_timed(3, cases, training.examples.kinds(), measured, &training.predicted)?;
    let regrets = [
        ("first choice", regret(1, &training.predicted)?),
        ("best of the 3 that are timed", timed),
        ("best of the first 8", regret(8, &training.predicted)?),
        ("expectation alone", regret(1, training.examples.expected())?),
    ];
    let metrics = Metrics::of(measured, &training.predicted)?;
    let save = |name: String, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    let mut text = page(training, &metrics, &regrets)?;
    println!("{}", table(&regrets)?);
    if let Some(regrets) = held_out(training)? {
        let table = table(&regrets)?;
        println!("shapes that are held out:\n{table}");
        let shapes = regrets[0].1.by_problem.len();
        writeln!(
            text,
            "\nRegret on {shapes} problems that are never trained on, a shape counting once for each pass and GPU:\n\n{table}"
        )?;
        save(format!("{op}-held-out-regret.svg"), &regret_by_shape(op, &regrets[..2]).svg()?)?;
        writeln!(text, "![Regret by shape that is held out]({op}-held-out-regret.svg)\n")?;
        if let Some((examples, _)) = &training.held_out {
            list(&mut text, &regrets[0].1, examples)?;
        }
    }
    save(format!("{op}.md"), &text)?;
    let title = format!("{op}: times of shapes that the fit has not seen");
    save(format!("{op}-predicted.svg"), &scatter::svg(&title, measured, &training.predicted)?)?;
    save(format!("{op}-regret.svg"), &regret_by_shape(op, &regrets[..2]).svg()?)
}

/// Of shapes that no fit has seen at all.
fn held_out(training: &Training) -> Result<Option<Vec<(&'static str, Regret)>>> {
    let Some((examples, predicted)) = &training.held_out else { return Ok(None) };
    let (cases, measured) = (examples.cases(), examples.measured());
    let first = Regret::of_top(1, cases, measured, predicted)?;
    let timed = Regret::of_timed(3, cases, examples.kinds(), measured, predicted)?;
    let expected = Regret::of_top(1, cases, measured, examples.expected())?;
    Ok(Some(vec![("first choice", first), ("best of the 3 that are timed", timed), ("expectation alone", expected)]))
}

fn page(training: &Training, metrics: &Metrics, regrets: &[(&str, Regret)]) -> Result<String> {
    let (model, examples) = (&training.model, &training.examples);
    let op = model.op();
    let devices: Vec<&str> = model.devices().iter().map(|device| device.name.as_str()).collect();
    let mut text =
        format!("# The model of `{op}`\n\nWritten by `cargo xtask train --op {op}` on {}.\n\n", model.trained());
    if training.made_up {
        writeln!(text, "**Its rows are made up by a formula: nothing here was measured on a GPU.**\n")?;
    }
    writeln!(text, "- Rows: {}, of {} shapes; {}.", model.rows(), model.problems(), devices.join(", "))?;
    let trees = model.trees();
    writeln!(text, "- Model: {} features, {trees:?} trees, {} bytes.", model.features().count(), training.bytes)?;
    let folds = training.plan.folds;
    writeln!(
        text,
        "- Cross-validation: {folds} folds by shape; no fit has seen a row of a shape that it is asked about."
    )?;
    let Metrics { r2, mape, max_error } = *metrics;
    let largest = max_error.exp_m1();
    writeln!(text, "- ln(time): R2 {r2:.4}; mean error {}, largest {}.\n", percent(mape), percent(largest))?;
    writeln!(text, "Regret, by shape: chosen / best of all measured, less 1.\n\n{}", table(regrets)?)?;
    writeln!(text, "![Predicted against measured]({op}-predicted.svg)\n\n![Regret by shape]({op}-regret.svg)\n")?;
    list(&mut text, &regrets[0].1, examples)?;
    Ok(text)
}

/// The shapes with the largest regret.
fn list(text: &mut String, regret: &Regret, examples: &Examples) -> Result<()> {
    writeln!(text, "The shapes with the largest regret:\n\n| shape | regret |\n|---|---|")?;
    let mut worst: Vec<(u32, f64)> = regret.by_problem.iter().map(|(case, regret)| (*case, *regret)).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (case, regret) in worst.into_iter().take(LISTED) {
        let row = examples.cases().iter().position(|of| *of == case).context("a case without rows")?;
        let problem = &examples.problems()[examples.groups()[row] as usize];
        let sizes: Vec<String> = problem.iter().map(|(name, size)| format!("{name} {size}")).collect();
        writeln!(text, "| {} | {} |", sizes.join(", "), percent(regret))?;
    }
    Ok(())
}

fn table(regrets: &[(&str, Regret)]) -> Result<String> {
    let mut text = "| choice | geometric mean | 90th percentile | worst |\n|---|---|---|---|\n".to_owned();
    for (name, regret) in regrets {
        let cells = [regret.geometric_mean, regret.ninetieth, regret.worst].map(percent);
        writeln!(text, "| {name} | {} |", cells.join(" | "))?;
    }
    Ok(text)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

fn regret_by_shape(op: &str, regrets: &[(&str, Regret)]) -> Chart {
    let series = regrets.iter().map(|(name, regret)| {
        let mut sorted: Vec<f64> = regret.by_problem.values().copied().collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let points = sorted.iter().enumerate().map(|(at, regret)| ((at + 1) as f64, 1.0 + regret)).collect();
        Series { name: (*name).to_owned(), points }
    });
    Chart {
        title: format!("{op}: regret of shapes that the fit has not seen"),
        across: "shapes, the worst first".to_owned(),
        up: "chosen / best".to_owned(),
        series: series.collect(),
        lines: true,
    }
}
