//! The device benchmark: measures, writes the results and prints the table.
#![allow(clippy::print_stdout, reason = "the table is this program's output")]

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::process::ExitCode;
use tilewright_benches::report::{Report, folder, peers};
use tilewright_benches::session::Session;
use tilewright_benches::suites::{self, cases, needs_gpu};
use tilewright_benches::{Result, machine, table};

/// Measures tilewright on this machine's GPU, and fused on its CPU.
#[derive(Parser)]
struct Options {
    /// Runs only cases whose `suite/case` contains this.
    #[arg(long, default_value = "")]
    filter: String,
    /// Few repetitions, to see that everything works; writes no results.
    #[arg(long)]
    quick: bool,
    /// What a process started by a suite does.
    #[arg(long, hide = true)]
    child: Option<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match &options.child {
        Some(name) => suites::child(name).map(|line| {
            println!("{line}");
            true
        }),
        None => measure_deep(options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// [`measure`] with room on the stack: chains of thousands of operations are walked to their ends.
fn measure_deep(options: Options) -> Result<bool> {
    let work = move || measure(&options).map_err(|error| error.to_string());
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work)?;
    Ok(thread.join().map_err(|_| "the benchmark panicked")??)
}

/// Runs the wanted cases; whether none failed.
fn measure(options: &Options) -> Result<bool> {
    let wanted: Vec<(&str, &str)> =
        cases().into_iter().filter(|(suite, case)| format!("{suite}/{case}").contains(&options.filter)).collect();
    if wanted.is_empty() {
        return Err(format!("no case contains `{}`", options.filter).into());
    }
    let session = Session::open(options.quick);
    let (device, driver) = match &session {
        Ok(session) => (session.gpu.device().name().to_owned(), Some(machine::driver(&session.gpu))),
        Err(_) => (machine::cpu(), None),
    };
    let mut report = Report::new(&device, driver);
    let (mut skipped, mut lacking, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let is_ahead = std::env::var_os("TILEWRIGHT_BUNDLES").is_some();
    let bar = ProgressBar::new(wanted.len() as u64);
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:20}")?);
    if let Ok(session) = &session {
        bar.set_message("compiling");
        bar.tick();
        suites::compile_ahead(session, &wanted);
    }
    for (suite, case) in wanted {
        let name = format!("{suite}/{case}");
        bar.set_message(name.clone());
        bar.tick();
        let done = match &session {
            _ if is_ahead && suites::compiles(suite, case) => {
                lacking.push(format!("{name}: the kernels of this run are built ahead"));
                Ok(())
            }
            _ if !needs_gpu(suite, case) => suites::on_host(suite, case, options.quick, &mut report)
                .map(|lacks| lacking.extend(lacks.map(|lacks| format!("{name}: {lacks}")))),
            Ok(session) => suites::on_gpu(session, suite, case, options.quick, &mut report),
            Err(_) => {
                skipped.push(name.clone());
                Ok(())
            }
        };
        failed.extend(done.err().map(|error| format!("{name}: {error}")));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let folder = folder();
    report.join(&peers(&folder));
    let is_whole = options.filter.is_empty() && failed.is_empty();
    let name = if session.is_ok() { device.clone() } else { format!("cpu {device}") };
    let written = match options.quick || report.rows.is_empty() {
        false => Some(report.write(&folder, &name, is_whole)?),
        true => None,
    };
    print(&report, &device, &failed);
    if let (Err(reason), false) = (&session, skipped.is_empty()) {
        println!("skipped {}: {}\n  {reason}", skipped.len(), skipped.join(", "));
    }
    lacking.iter().for_each(|case| println!("skipped {case}"));
    println!("{}", written.map_or("no results written".to_owned(), |file| file.display().to_string()));
    Ok(failed.is_empty())
}

fn print(report: &Report, device: &str, failed: &[String]) {
    println!("{device}, {}, commit {}", machine::date(), machine::commit());
    print!("{}", table::table(&report.rows));
    for failure in failed {
        println!("failed: {failure}");
    }
}
