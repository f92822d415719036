//! Measures configurations of convolutions and of pointwise kernels on this machine's GPU and appends them to data sets, for `cargo xtask train`.
//!
//! Runs without cargo. Rows that the data sets have of this kind of GPU are not measured again, so that many short runs add up.
#![allow(clippy::print_stdout, reason = "the table is this program's output")]

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tilewright_benches::Result;
use tilewright_benches::session::Session;
use tilewright_benches::tuning::compiling::Compiling;
use tilewright_benches::tuning::gauge::Gauge;
use tilewright_benches::tuning::grouped::Grouped;
use tilewright_benches::tuning::plan::{self, Asked, List, Sampling};
use tilewright_benches::tuning::pointwise;
use tilewright_benches::tuning::timing::Timed;
use tilewright_ops::Gpu;
use tilewright_ops::conv::Multiprocessor;
use tilewright_ops::pointwise::PointwiseOperation;
use tilewright_perf::Models;
use tilewright_perf::dataset::{self, Row};
use tilewright_perf::training::Operation;

/// What is tuned.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Op {
    /// A convolution's result, and its input's gradient.
    Conv2d,
    /// Its weights' gradient.
    Conv2dGradWeight,
    /// Fused pointwise kernels.
    Pointwise,
}

/// Measures a planned sample of configurations.
#[derive(Parser)]
struct Options {
    /// The operation.
    #[arg(long, value_enum, default_value = "conv2d")]
    op: Op,
    /// For how long: seconds, or `10m`.
    #[arg(long, default_value = "10m", value_parser = seconds)]
    budget: u64,
    /// Which shapes.
    #[arg(long, value_enum, default_value = "training")]
    list: List,
    /// Where the data sets are.
    #[arg(long, default_value = "crates/perf/data")]
    data: PathBuf,
    /// How many of each shape and pass: the first that the models of the library choose.
    #[arg(long, default_value_t = 0)]
    chosen: usize,
    /// How many more: those that the estimate expects to be fastest.
    #[arg(long, default_value_t = 8)]
    best: usize,
    /// How many more, at random among the 400 that it expects to be fastest.
    #[arg(long, default_value_t = 12)]
    near: usize,
    /// How many more, at random among all.
    #[arg(long, default_value_t = 4)]
    random: usize,
    /// Of pointwise kernels: how many of each problem, the plan's own among them, the others at random.
    #[arg(long, default_value_t = 24)]
    configurations: usize,
    /// Only so many shapes and passes.
    #[arg(long)]
    groups: Option<usize>,
    /// Threads that compile; all cores but one if it is not given.
    #[arg(long)]
    threads: Option<usize>,
}

fn seconds(text: &str) -> std::result::Result<u64, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60),
        None => (text.strip_suffix('s').unwrap_or(text), 1),
    };
    number.parse::<u64>().map(|number| number * unit).map_err(|error| format!("{error}; write 300, 300s or 5m"))
}

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Plans what is missing of an operation's data set, and measures it.
fn measure(options: &Options) -> Result<()> {
    let begin = Instant::now();
    let session = Session::open(true)?;
    match options.op {
        Op::Conv2d => convolutions(options, &session, plan::Op::Conv2d, begin),
        Op::Conv2dGradWeight => convolutions(options, &session, plan::Op::Conv2dGradWeight, begin),
        Op::Pointwise => {
            let name = PointwiseOperation.name().to_owned();
            let data = Data::of(options, name, &session.gpu)?;
            let groups = pointwise::planned(options.list, options.configurations, &data.known)?;
            run(options, &session, &data, groups, begin)
        }
    }
}

fn convolutions(options: &Options, session: &Session, op: plan::Op, begin: Instant) -> Result<()> {
    let data = Data::of(options, op.name(), &session.gpu)?;
    let Options { chosen, best, near, random, .. } = *options;
    let (device, models) = (session.gpu.facts(), Models::shipped()?);
    let asked = Asked { sm: Multiprocessor::of(&session.gpu), device: &device, models: &models };
    let groups = plan::planned((op, options.list), Sampling { chosen, best, near, random }, &asked, &data.known)?;
    run(options, session, &data, groups, begin)
}

/// A data set.
struct Data {
    op: String,
    file: PathBuf,
    known: Vec<Row>,
}

impl Data {
    /// With what is known of this GPU.
    fn of(options: &Options, op: String, gpu: &Gpu) -> Result<Data> {
        let file = options.data.join(options.list.file(&op));
        let mut known = dataset::read(&file)?;
        known.retain(|row| row.device == gpu.device().name());
        Ok(Data { op, file, known })
    }
}

/// Measures the groups, and appends their rows.
fn run<G: Grouped>(
    options: &Options,
    session: &Session,
    data: &Data,
    mut groups: Vec<G>,
    begin: Instant,
) -> Result<()> {
    groups.truncate(options.groups.unwrap_or(usize::MAX));
    let total: usize = groups.iter().map(|group| group.configs().len()).sum();
    println!(
        "{}: {} rows of this GPU there, {total} to measure, of {} problems",
        data.file.display(),
        data.known.len(),
        groups.len()
    );
    println!("planned in {:.1} s", begin.elapsed().as_secs_f64());

    let deadline = begin + Duration::from_secs(options.budget);
    let threads = options.threads.unwrap_or_else(|| tilewright_benches::machine::cores().saturating_sub(1).max(1));
    let (gauge, groups) = (Gauge::start(), Arc::new(groups));
    let mut compiling = Compiling::start(&groups, &session.gpu, threads, deadline);
    let bar = ProgressBar::new(total as u64);
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta} {msg}")?);
    let (mut lines, mut rows) = (Vec::new(), 0);
    for (index, group) in groups.iter().enumerate() {
        bar.set_message(group.name());
        // Of a group that was not compiled to its end what there is.
        let compiled = compiling.wait(index);
        if compiled.is_empty() {
            // Either the time is over, or none of this group's kernels compiled.
            if Instant::now() > deadline {
                break;
            }
            continue;
        }
        match group.time(session, &compiled) {
            Ok(timed) => {
                rows += timed.len();
                dataset::append(&data.file, &rows_of(&data.op, group, &timed, &session.gpu, &gauge))?;
                lines.push(line(group, &timed));
            }
            Err(error) => eprintln!("{}: {error}", group.name()),
        }
        bar.inc(group.configs().len() as u64);
        if Instant::now() > deadline {
            break;
        }
    }
    compiling.stop();
    bar.finish_and_clear();
    println!("problem | measured | best us | unasked us | regret | best configuration");
    lines.iter().for_each(|line| println!("{line}"));
    println!("{rows} rows in {:.1} s; operands rotate, so that L2 holds none", begin.elapsed().as_secs_f64());
    Ok(())
}

fn rows_of<G: Grouped>(op: &str, group: &G, timed: &[Timed<G::Config>], gpu: &Gpu, gauge: &Gauge) -> Vec<Row> {
    let (clock_mhz, power_w) = gauge.read();
    let problem = group.problem();
    let row = |timed: &Timed<G::Config>| Row {
        op: op.to_owned(),
        problem: problem.clone(),
        configuration: group.named(timed.config),
        device: gpu.device().name().to_owned(),
        clock_mhz,
        power_w,
        median_us: timed.median_us,
        spread: timed.spread,
    };
    timed.iter().map(row).collect()
}

/// A line of the table: the best of those measured, and what would have been taken without a model.
fn line<G: Grouped>(group: &G, timed: &[Timed<G::Config>]) -> String {
    let Some(best) = timed.iter().min_by(|a, b| a.median_us.total_cmp(&b.median_us)) else {
        return format!("{} | 0", group.name());
    };
    let taken = timed.iter().find(|timed| timed.config == group.plain()).map(|timed| timed.median_us);
    let regret = taken.map_or("-".into(), |us| format!("{:.1} %", 100.0 * (us / best.median_us - 1.0)));
    let taken = taken.map_or("-".into(), |us| format!("{us:.1}"));
    format!("{} | {} | {:.1} | {taken} | {regret} | {:?}", group.name(), timed.len(), best.median_us, best.config)
}
