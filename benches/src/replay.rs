//! Holds the model of times against products that were timed (`device-bench --filter hybrid/dispatch/sample`): what its choices would have cost, and how far it is off.
#![allow(clippy::print_stdout, reason = "the tables are this program's output")]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use tilewright_benches::Result;
use tilewright_benches::suites::hybrid::dispatch::sample::{Sample, Timed};
use tilewright_hybrid::Side;
use tilewright_hybrid::dispatch::{Choice, decide};

/// Holds the model of times against products that were timed.
#[derive(Parser)]
struct Options {
    /// Files that `dispatch/sample` wrote.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Tells so many of the products at which the choice costs the most.
    #[arg(long, default_value_t = 20)]
    worst: usize,
}

/// A product that was timed, and what the model makes of it.
struct Point {
    timed: Timed,
    expected: [f64; 2],
    chosen: usize,
}

impl Point {
    /// What the chosen side took over what the better one did.
    fn loss(&self) -> f64 {
        let [cpu, gpu] = self.timed.took;
        self.timed.took[self.chosen] / cpu.min(gpu)
    }

    /// The logarithm of what a side took over what is expected there.
    fn error(&self, side: usize) -> f64 {
        (self.timed.took[side] / self.expected[side]).ln()
    }

    fn bytes(&self) -> f64 {
        let [rows, columns, depth] = self.timed.extents.map(|extent| extent as f64);
        (rows * depth + depth * columns + rows * columns) * if self.timed.is_f64 { 8.0 } else { 4.0 }
    }
}

fn main() -> ExitCode {
    match replay(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(options: &Options) -> Result<()> {
    let mut points = Vec::new();
    for file in &options.files {
        let sample: Sample = serde_json::from_slice(&std::fs::read(file)?)?;
        for timed in sample.products {
            let decision = decide(&timed.job()?, Choice::Auto, &sample.rates, sample.device_bytes)?;
            let on_gpu = decision.gpu.as_ref().map_or(f64::NAN, |gpu| gpu.cost.wall);
            let chosen = usize::from(decision.side == Side::Gpu);
            points.push(Point { timed, expected: [decision.cpu.wall, on_gpu], chosen });
        }
    }
    points.sort_by(|one, other| other.loss().total_cmp(&one.loss()));
    println!(
        "{:<28} {:>6} {:>7} {:>7} {:>7}  {:>15} {:>15}",
        "", "count", ">1.1", "mean", "worst", "CPU off", "GPU off"
    );
    let all: Vec<&Point> = points.iter().collect();
    line("all", &all);
    for (name, is_f64) in [("f64", true), ("f32", false)] {
        line(name, &of(&all, |point| point.timed.is_f64 == is_f64));
    }
    for place in 0..5 {
        let there = of(&all, |point| point.timed.place == place);
        let name = there.first().map_or(String::new(), |point| format!("{:?}", point.timed.at()));
        line(&name, &there);
    }
    for power in (8..28).step_by(2) {
        let range = f64::from(power).exp2()..f64::from(power + 2).exp2();
        line(&format!("2^{power} to 2^{} bytes", power + 2), &of(&all, |point| range.contains(&point.bytes())));
    }
    println!("\nwhere the choice costs the most:");
    for point in points.iter().take(options.worst) {
        let ([rows, columns, depth], took, expected) = (point.timed.extents, point.timed.took, point.expected);
        let element = if point.timed.is_f64 { "f64" } else { "f32" };
        println!(
            "{:5.2}  {rows} x {columns} of {depth}, {element}, {:?}: CPU {:.3} ms ({:.3} expected), GPU {:.3} ({:.3})",
            point.loss(),
            point.timed.at(),
            took[0] * 1e3,
            expected[0] * 1e3,
            took[1] * 1e3,
            expected[1] * 1e3
        );
    }
    Ok(())
}

fn of<'a>(points: &[&'a Point], is_meant: impl Fn(&Point) -> bool) -> Vec<&'a Point> {
    points.iter().copied().filter(|point| is_meant(point)).collect()
}

/// How many there are; of how many the choice costs more than a tenth; what it costs; and by how much either side's time is off, in the mean and around it.
fn line(name: &str, points: &[&Point]) {
    if points.is_empty() {
        return;
    }
    let count = points.len() as f64;
    let wrong = 100.0 * points.iter().filter(|point| point.loss() > 1.1).count() as f64 / count;
    let mean = points.iter().map(|point| point.loss()).sum::<f64>() / count;
    let worst = points.iter().map(|point| point.loss()).fold(1.0, f64::max);
    let off = |side: usize| {
        let mean = points.iter().map(|point| point.error(side)).sum::<f64>() / count;
        let spread = points.iter().map(|point| (point.error(side) - mean).powi(2)).sum::<f64>() / count;
        format!("{:+.2} +- {:.2}", mean, spread.sqrt())
    };
    println!("{name:<28} {count:>6} {wrong:>6.1}% {mean:>7.3} {worst:>7.2}  {:>15} {:>15}", off(0), off(1));
}
