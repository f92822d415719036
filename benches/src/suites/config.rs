//! How a convolution's configuration is chosen: how long that takes, how good it is, and what timing three adds.

use crate::Result;
use crate::clock::median;
use crate::convolutions::{Convolution, convolutions};
use crate::machine;
use crate::report::{Report, Row};
use crate::session::Session;
use crate::shapes::params;
use crate::suites::{Lacks, config_depthwise, config_held_out};
use crate::tuning::grouped::Grouped;
use crate::tuning::plan::{Group, List};
use crate::tuning::pointwise;
use crate::tuning::timing::{C, H, K, N, R, S, W, repeated, time};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use tilewright_expr::f16;
use tilewright_ops::Tensor;
use tilewright_ops::conv::conv2d_into;
use tilewright_ops::conv::{Config, KernelConfig, Multiprocessor, Pass, RowOperation, WeightOperation};
use tilewright_ops::pointwise::{PointwiseOperation, PointwiseProblem};
use tilewright_perf::dataset;
use tilewright_perf::evaluation::Regret;
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models};

/// Layers that are chosen for: the table, and the first two of the others.
const LAYERS: usize = 12;
/// Layers of which the refined choice is timed.
const REFINED: usize = 4;
/// What an H200's multiprocessor has, for which choices are made where there is no GPU.
const H200: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };

fn layers() -> Result<Vec<Convolution>> {
    let mut all = convolutions()?;
    // The table comes first; the order of the rest stays.
    all.sort_by_key(|it| !it.sets.iter().any(|set| set == "table"));
    all.truncate(LAYERS);
    Ok(all)
}

/// Measures a case that needs no GPU: `ranking`, `regret`.
pub fn on_host(case: &str, quick: bool, report: &mut Report) -> Result<Option<Lacks>> {
    match case {
        "ranking" => ranking(quick, report).map(|()| None),
        "regret" => regret(report),
        other => Err(format!("no case `{other}`").into()),
    }
}

/// Measures a case that needs a GPU: `cached`, `refined`, `refined-held-out`, `depthwise`.
pub fn on_gpu(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    match case {
        "cached" => cached(session, report),
        "refined" => refined(session, report),
        "refined-held-out" => config_held_out::run(session, report),
        "depthwise" => config_depthwise::run(session, report),
        other => Err(format!("no case `{other}`").into()),
    }
}

/// On a machine with a GPU the report is that of the GPU.
fn here(row: &mut Row) {
    (row.device, row.driver) = (machine::cpu(), None);
}

/// Microseconds of a first choice, on one core.
fn ranking(quick: bool, report: &mut Report) -> Result<()> {
    let (models, device) = (Models::shipped()?, DeviceFacts::h200());
    for layer in layers()? {
        for pass in Pass::ALL {
            let choose = || black_box(KernelConfig::chosen(&models, &layer.problem, pass, H200, &device));
            choose();
            let once = |_| {
                let begin = Instant::now();
                choose();
                begin.elapsed().as_secs_f64() * 1e6
            };
            let us = median((0..if quick { 3 } else { 31 }).map(once).collect());
            here(report.add("config", "ranking", &format!("{}/{}_host_us", layer.case, name(pass)), us, "us"));
        }
    }
    pointwise_ranking(&models, quick, report)
}

/// The same for pointwise kernels, of all problems that are held out, where a model knows them.
fn pointwise_ranking(models: &Models, quick: bool, report: &mut Report) -> Result<()> {
    let device = DeviceFacts::h200();
    let Ok(model) = models.nearest(PointwiseOperation.name(), device.architecture) else { return Ok(()) };
    for group in pointwise::planned(List::HeldOut, 1, &[])? {
        let once = |_| {
            let begin = Instant::now();
            black_box(group.facts.chosen(model, &device));
            begin.elapsed().as_secs_f64() * 1e6
        };
        let us = median((0..if quick { 3 } else { 31 }).map(once).collect());
        here(report.add("config", "ranking", &format!("{}_host_us", group.name()), us, "us"));
    }
    Ok(())
}

pub(super) fn name(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "forward",
        Pass::GradInput => "grad_input",
        Pass::GradWeight => "grad_weight",
    }
}

/// By how much what is chosen among the configurations that were measured is slower than the best of them, of shapes that the model
/// has never seen. Needs the data sets, beside the source.
fn regret(report: &mut Report) -> Result<Option<Lacks>> {
    let operations: [&dyn Operation; 2] = [&RowOperation, &WeightOperation];
    let mut found = false;
    let lists = [(List::HeldOut, ""), (List::HeldOutFresh, "_fresh")];
    for (operation, (list, of_list)) in operations.into_iter().flat_map(|it| lists.map(|list| (it, list))) {
        let rows = measured(operation, list)?;
        if rows.is_empty() {
            continue;
        }
        found = true;
        // What is the best on one GPU is none of another's choices.
        for device in DeviceFacts::measured() {
            let rows: Vec<_> = rows.iter().filter(|row| row.device == device.name).cloned().collect();
            if rows.is_empty() {
                continue;
            }
            let (problems, measured) = (problems(&rows), times(&rows));
            let predicted = predicted(operation, &rows, &device)?;
            let kinds = rows.iter().map(|row| Ok(operation.kind(&row.configuration)?)).collect::<Result<Vec<_>>>()?;
            let kinds = numbered(kinds);
            let short = device.name.split_whitespace().nth(1).unwrap_or_default().to_lowercase() + of_list;
            for (timed, choice) in [(1, "first"), (3, "best_of_3")] {
                let regret = Regret::of_timed(timed, &problems, &kinds, &measured, &predicted)?;
                tell(&regret, &format!("{}/{short}_{choice}", operation.name()), &rows[0], report);
            }
            of_calls(&rows, &device, &format!("{}/{short}", operation.name()), report)?;
        }
    }
    Ok((!(found | pointwise_regret(report)?)).then_some("the data sets of held-out shapes"))
}

/// The same of what calls choose, who ask the model about the candidates of the estimate alone, and of the three that a refined choice times. Problems
/// of which these were not all measured are left out, and counted.
fn of_calls(rows: &[dataset::Row], device: &DeviceFacts, name: &str, report: &mut Report) -> Result<()> {
    let models = Models::shipped()?;
    let mut of: BTreeMap<&dataset::Named, Vec<&dataset::Row>> = BTreeMap::new();
    rows.iter().for_each(|row| of.entry(&row.problem).or_default().push(row));
    for (count, choice) in [(1, "call"), (3, "refined_call")] {
        let (mut problems, mut measured, mut places, mut left_out) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (number, (names, rows)) in of.iter().enumerate() {
            let (problem, pass) = RowOperation::of_problem(names)?;
            let chosen: Vec<dataset::Named> = match pass {
                Pass::GradWeight => WeightOperation::to_time(count, &models, &problem, device.into(), device)
                    .iter()
                    .map(WeightOperation::configuration)
                    .collect(),
                _ => RowOperation::to_time(count, &models, &problem, pass, device.into(), device)
                    .iter()
                    .map(RowOperation::configuration)
                    .collect(),
            };
            if chosen.iter().any(|config| rows.iter().all(|row| row.configuration != *config)) {
                left_out += 1;
                continue;
            }
            for row in rows {
                problems.push(number as u32);
                measured.push(row.median_us);
                let place = chosen.iter().position(|config| *config == row.configuration);
                places.push(place.map_or(f32::MAX, |place| place as f32));
            }
        }
        if !problems.is_empty() {
            tell(&Regret::of_top(count, &problems, &measured, &places)?, &format!("{name}_{choice}"), &rows[0], report);
        }
        let part = 100.0 * f64::from(left_out) / of.len() as f64;
        let row = report.add("config", "regret", &format!("{name}_{choice}_not_measured"), part, "%");
        (row.device, row.driver) = (rows[0].device.clone(), None);
    }
    Ok(())
}

/// The same of pointwise kernels, of which another configuration than the plan's own has to be worth it; and of the plan's own alone.
fn pointwise_regret(report: &mut Report) -> Result<bool> {
    let rows = measured(&PointwiseOperation, List::HeldOut)?;
    let (models, device) = (Models::shipped()?, DeviceFacts::h200());
    let Ok(model) = models.nearest(PointwiseOperation.name(), device.architecture) else { return Ok(false) };
    if rows.is_empty() {
        return Ok(false);
    }
    let (mut chosen, mut own) = (Vec::new(), Vec::new());
    for row in &rows {
        let problem = PointwiseProblem::of_names(&row.problem)?;
        let config = PointwiseOperation::of_configuration(&row.configuration)?;
        let (division, choice) = (problem.division(), problem.chosen(model, &device));
        let choice = choice.filter(|it| division.check(*it).is_ok()).unwrap_or(division.untold);
        chosen.push(if config == choice { 1.0 } else { 2.0 });
        own.push(if config == division.untold { 1.0 } else { 2.0 });
    }
    for (choice, taken) in [("chosen", chosen), ("own", own)] {
        let regret = Regret::of_top(1, &problems(&rows), &times(&rows), &taken)?;
        tell(&regret, &format!("{}/{choice}", PointwiseOperation.name()), &rows[0], report);
    }
    Ok(true)
}

/// The rows of an operation's held-out shapes; none without the data sets.
pub(super) fn measured(operation: &dyn Operation, list: List) -> Result<Vec<dataset::Row>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/perf/data");
    Ok(dataset::read(&data.join(list.file(operation.name())))?)
}

fn tell(regret: &Regret, choice: &str, of: &dataset::Row, report: &mut Report) {
    for (what, part) in [("geometric_mean", regret.geometric_mean), ("90th", regret.ninetieth), ("worst", regret.worst)]
    {
        let row = report.add("config", "regret", &format!("{choice}_{what}"), 100.0 * part, "%");
        (row.device, row.driver) = (of.device.clone(), None);
    }
}

/// The number of each row's problem.
fn problems(rows: &[dataset::Row]) -> Vec<u32> {
    numbered(rows.iter().map(|row| &row.problem).collect())
}

/// Of each value the number of its first like.
fn numbered<T: Ord>(values: Vec<T>) -> Vec<u32> {
    let mut known = BTreeMap::new();
    let number = |value| {
        let next = known.len() as u32;
        *known.entry(value).or_insert(next)
    };
    values.into_iter().map(number).collect()
}

fn times(rows: &[dataset::Row]) -> Vec<f32> {
    rows.iter().map(|row| row.median_us).collect()
}

/// The times that the choice goes by.
fn predicted(operation: &dyn Operation, rows: &[dataset::Row], device: &DeviceFacts) -> Result<Vec<f32>> {
    let models = Models::shipped()?;
    let model = models.nearest(operation.name(), device.architecture)?;
    let mut predicted = Vec::new();
    for row in rows {
        let work = operation.work(&row.problem, &row.configuration, device)?;
        predicted.push(model.rank(device, 1, |_| work)?.best().microseconds);
    }
    Ok(predicted)
}

/// Host time of a call whose choice is known.
fn cached(session: &Session, report: &mut Report) -> Result<()> {
    let layer = layers()?.swap_remove(0);
    let device = &session.device;
    let x: Tensor<f16, (N, H, W, C)> = repeated(layer.problem.input_extents(), f16::from_f32)?.to(device)?;
    let w: Tensor<f16, (K, R, S, C)> = repeated(layer.problem.weight_extents(), f16::from_f32)?.to(device)?;
    let mut y = Tensor::<f16, (N, H, W, K)>::zeros(layer.problem.output_extents(), device)?;
    for (config, metric) in [(Config::auto(), "call_host_us"), (Config::refined(), "refined_call_host_us")] {
        let params = params(&layer.problem).config(config);
        let us = session.clock.host_us(&mut |_| Ok(conv2d_into(&mut y, &x, &w, &params)?))?;
        report.add("config", "cached", metric, us, "us");
    }
    Ok(())
}

/// Device time of the chosen configuration and of the refined one, in turns, from operands that L2 does not hold.
fn refined(session: &Session, report: &mut Report) -> Result<()> {
    let gpu = &session.gpu;
    for layer in layers()?.into_iter().take(REFINED) {
        for pass in Pass::ALL {
            let problem = layer.problem;
            let begin = Instant::now();
            let (chosen, refined) =
                (KernelConfig::on(gpu, &problem, pass), KernelConfig::refined(gpu, &problem, pass)?);
            let once_ms = begin.elapsed().as_secs_f64() * 1e3;
            let mut configs = vec![chosen];
            configs.extend((refined != chosen).then_some(refined));
            let group = Group { problem, pass, estimated: chosen, configs };
            let timed = time(session, &group, &group.configs)?;
            let us =
                |config: KernelConfig| timed.iter().find(|it| it.config == config).map(|it| f64::from(it.median_us));
            let (Some(chosen), Some(refined)) = (us(chosen), us(refined)) else {
                return Err(format!("{}: a configuration does not run", group.name()).into());
            };
            let metric = |what: &str| format!("{}/{}_{what}", layer.case, name(pass));
            report.add("config", "refined", &metric("chosen_device_us"), chosen, "us");
            report.add("config", "refined", &metric("device_us"), refined, "us");
            report.add("config", "refined", &metric("once_ms"), once_ms, "ms");
        }
    }
    Ok(())
}
