//! Measures configurations of convolutions and of pointwise kernels on this machine's GPU and appends them to data sets, for `cargo xtask train`.
//!
//! Runs without cargo. Rows that the data sets have of this kind of GPU are not measured again, so that many short runs add up. With `--ahead`
//! kernels are only compiled, where no GPU is: the folder of `$TILEWRIGHT_CACHE` can then be taken to one.
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
use tilewright_benches::tuning::grouped::{For, Grouped};
use tilewright_benches::tuning::plan::{self, Asked, List, Sampling};
use tilewright_benches::tuning::pointwise;
use tilewright_benches::tuning::timing::Timed;
use tilewright_driver::Arch;
use tilewright_ops::Gpu;
use tilewright_ops::pointwise::PointwiseOperation;
use tilewright_perf::dataset::{self, Row};
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models};

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
    /// How many more: of each number of strips, those that the estimate expects to be fastest.
    #[arg(long, default_value_t = 0)]
    strips: usize,
    /// How many more, at random among the 400 that it expects to be fastest.
    #[arg(long, default_value_t = 12)]
    near: usize,
    /// How many more, at random among all.
    #[arg(long, default_value_t = 4)]
    random: usize,
    /// Of each shape and pass so many that are known to be the fastest are measured again, and so is what the models choose: times of one run are of one GPU.
    #[arg(long, default_value_t = 0)]
    again: usize,
    /// Of pointwise kernels: how many of each problem, the plan's own among them, the others at random.
    #[arg(long, default_value_t = 24)]
    configurations: usize,
    /// Only so many shapes and passes.
    #[arg(long)]
    groups: Option<usize>,
    /// Only shapes and passes whose names, as the table has them, contain this: `320x56x56x80`.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Threads that compile; all cores but one if it is not given.
    #[arg(long)]
    threads: Option<usize>,
    /// Only compiles, into the cache of kernels, what would be measured on a GPU of this name, such as `h200`. No GPU is needed.
    #[arg(long, value_name = "NAME")]
    ahead: Option<String>,
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
    let target = Target::of(options)?;
    match options.op {
        Op::Conv2d => convolutions(options, &target, plan::Op::Conv2d, begin),
        Op::Conv2dGradWeight => convolutions(options, &target, plan::Op::Conv2dGradWeight, begin),
        Op::Pointwise => {
            let data = Data::of(options, PointwiseOperation.name().to_owned(), &target)?;
            let groups = pointwise::planned(options.list, options.configurations, &data.known)?;
            run(options, &target, &data, groups, begin)
        }
    }
}

fn convolutions(options: &Options, target: &Target, op: plan::Op, begin: Instant) -> Result<()> {
    let data = Data::of(options, op.name(), target)?;
    let Options { chosen, best, strips, near, random, again, .. } = *options;
    let models = Models::shipped()?;
    let asked = Asked { sm: (&target.device).into(), device: &target.device, models: &models };
    let groups =
        plan::planned((op, options.list), Sampling { chosen, best, strips, near, random, again }, &asked, &data.known)?;
    run(options, target, &data, groups, begin)
}

/// The GPU on which is measured, or for which kernels are compiled ahead.
struct Target {
    device: DeviceFacts,
    arch: Arch,
    /// None where kernels are only compiled.
    session: Option<Session>,
}

impl Target {
    fn of(options: &Options) -> Result<Target> {
        let Some(name) = &options.ahead else {
            let session = Session::open(true)?;
            return Ok(Target {
                device: session.gpu.facts(),
                arch: session.gpu.device().arch(),
                session: Some(session),
            });
        };
        let known = DeviceFacts::measured();
        let names = known.iter().map(|device| device.name.clone()).collect::<Vec<_>>().join(", ");
        let is_named = |device: &DeviceFacts| device.name.to_lowercase().contains(&name.to_lowercase());
        let device = known.into_iter().find(is_named).ok_or_else(|| format!("no GPU `{name}` among {names}"))?;
        let arch = Arch::new(device.architecture / 10, device.architecture % 10);
        Ok(Target { device, arch, session: None })
    }

    fn on(&self) -> For {
        ((&self.device).into(), self.arch)
    }
}

/// A data set.
struct Data {
    op: String,
    file: PathBuf,
    known: Vec<Row>,
}

impl Data {
    /// With what is known of this GPU.
    fn of(options: &Options, op: String, target: &Target) -> Result<Data> {
        let file = options.data.join(options.list.file(&op));
        let mut known = dataset::read(&file)?;
        known.retain(|row| row.device == target.device.name);
        Ok(Data { op, file, known })
    }
}

/// Compiles the groups' kernels, measures them where there is a GPU, and appends their rows.
fn run<G: Grouped>(options: &Options, target: &Target, data: &Data, mut groups: Vec<G>, begin: Instant) -> Result<()> {
    groups.retain(|group| options.only.as_ref().is_none_or(|text| group.name().contains(text)));
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
    let groups = Arc::new(groups);
    let compiling = Compiling::start(&groups, target.on(), threads, deadline);
    let bar = ProgressBar::new(total as u64);
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta} {msg}")?);
    let lines = match &target.session {
        Some(session) => timed(&groups, session, data, (compiling, deadline), &bar)?,
        None => ahead(&groups, compiling, &bar),
    };
    bar.finish_and_clear();
    lines.iter().for_each(|line| println!("{line}"));
    println!("{:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// Waits for kernels, and says how many there are.
fn ahead<G: Grouped>(groups: &[G], mut compiling: Compiling<G::Config>, bar: &ProgressBar) -> Vec<String> {
    let mut compiled = 0;
    for (index, group) in groups.iter().enumerate() {
        bar.set_message(group.name());
        compiled += compiling.wait(index).len();
        bar.set_position(compiled as u64);
    }
    compiling.stop();
    vec![format!("{compiled} kernels compiled, or there before")]
}

/// Measures the groups, and appends their rows. A table of them.
fn timed<G: Grouped>(
    groups: &[G],
    session: &Session,
    data: &Data,
    (mut compiling, deadline): (Compiling<G::Config>, Instant),
    bar: &ProgressBar,
) -> Result<Vec<String>> {
    let gauge = Gauge::start();
    let (mut lines, mut rows) =
        (vec!["problem | measured | best us | unasked us | regret | best configuration".into()], 0);
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
    lines.push(format!("{rows} rows; operands rotate, so that L2 holds none"));
    Ok(lines)
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
