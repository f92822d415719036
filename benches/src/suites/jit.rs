//! The first call of a new pipeline, in processes of its own: compiled, and from the disk cache.

mod functions;
mod phases;

use crate::Result;
use crate::cases::{FRAME, Picture, Random, colours, crops};
use crate::clock::median;
use crate::report::Report;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use tilewright_driver::{Origin, toolkit};
use tilewright_ops::Device;

/// What a child tells when its result is there.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Account {
    /// Device, stream and one allocation.
    open_ms: f64,
    /// Running the closure.
    trace_ms: f64,
    /// NVRTC, with finding and loading it; 0 from the disk.
    compile_ms: f64,
    /// All of the first call until its kernel is queued, compilation included.
    queued_ms: f64,
    /// From the open device to the synchronised result.
    first_result_ms: f64,
    /// Where the code came from.
    origin: String,
    /// Whether NVRTC was looked for.
    compiler_sought: bool,
}

/// What a child process does: `base` opens the device, makes a stream and one allocation; `crops` also makes the first call of
/// the main job; `functions` and `phases` do what their files say. Returns the line to print the moment it is done.
pub fn child(name: &str) -> Result<String> {
    match name {
        "functions" => return functions::child(),
        "phases" => return phases::child(),
        _ => {}
    }
    let ms = |since: Instant| since.elapsed().as_secs_f64() * 1e3;
    let begin = Instant::now();
    let device = Device::gpu(0)?;
    let picture = Picture::zeros(FRAME, &device)?;
    device.synchronize()?;
    let mut account = Account { open_ms: ms(begin), ..Account::default() };
    if name == "base" {
        return Ok(serde_json::to_string(&account)?);
    }

    let begin = Instant::now();
    let crops = crops();
    account.trace_ms = ms(begin);
    let (boxes, [mul, sub, div]) = (Random::new(50).boxes(50, FRAME)?, colours()?);
    let call = Instant::now();
    let _batch = crops.call(&picture, &boxes, &mul, &sub, &div)?;
    account.queued_ms = ms(call);
    device.synchronize()?;
    account.first_result_ms = ms(begin);
    let origin = crops.last_built().map(|built| built.origin);
    if let Some(Origin::Compiled { ms }) = origin {
        account.compile_ms = ms;
    }
    account.compiler_sought = toolkit::attempted();
    account.origin = match origin {
        Some(Origin::Compiled { .. }) => "compiled".to_owned(),
        Some(other) => format!("{other:?}"),
        None => "nothing".to_owned(),
    };
    Ok(serde_json::to_string(&account)?)
}

/// Measures a case.
pub fn run(case: &str, quick: bool, report: &mut Report) -> Result<()> {
    match case {
        "functions" => functions::run(report),
        "phases" => phases::run(quick, report),
        _ => main_job(case, quick, report),
    }
}

/// Measures `jit/cold` or `jit/disk`. The child with the main job and the one without run in turns.
fn main_job(case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let repeats = if quick { 3 } else { 7 };
    let caches = tempfile::tempdir()?;
    let expected = if case == "cold" { "compiled" } else { "Disk" };
    let filled = caches.path().join("filled");
    // What the system reads from its disk for the first time does not count; the disk cache is filled.
    start("base", &filled, &[])?;
    start("crops", &filled, &[])?;

    let (mut base, mut first) = (Vec::new(), Vec::new());
    for repeat in 0..repeats {
        let cache = if case == "cold" { caches.path().join(repeat.to_string()) } else { filled.clone() };
        base.push(start("base", &cache, &[])?.0);
        let (wall, line) = start("crops", &cache, &[])?;
        let account: Account = serde_json::from_str(&line)?;
        if account.origin != expected {
            return Err(format!("the kernel came from {}, expected {expected}", account.origin).into());
        }
        first.push((wall, account));
    }
    let middle = |pick: fn(&(f64, Account)) -> f64| median(first.iter().map(pick).collect());
    let base = median(base);
    report.add("jit", case, "ms", middle(|(wall, _)| *wall) - base, "ms");
    report.add("jit", case, "in_process_ms", middle(|(_, account)| account.first_result_ms), "ms");
    report.add("jit", case, "trace_ms", middle(|(_, account)| account.trace_ms), "ms");
    report.add("jit", case, "compile_ms", middle(|(_, account)| account.compile_ms), "ms");
    let rest = middle(|(_, account)| account.queued_ms - account.compile_ms);
    report.add("jit", case, "plan_emit_load_launch_ms", rest, "ms");
    report.add("jit", case, "base_ms", base, "ms");
    Ok(())
}

/// What the line of `crops` says: milliseconds from the open device to the result. The kernel came from `origin`, and nobody looked for
/// the compiler.
pub(super) fn first_result_ms(line: &str, origin: &str) -> Result<f64> {
    let account: Account = serde_json::from_str(line)?;
    if account.origin != origin || account.compiler_sought {
        return Err(format!("the kernel came from {}, expected {origin} and no compiler", account.origin).into());
    }
    Ok(account.first_result_ms)
}

pub(super) use functions::calls_ms;

/// Runs a child whose caches are in a folder; milliseconds from its start to its line, and the line.
pub(super) fn start(name: &str, cache: &Path, environment: &[(&str, &str)]) -> Result<(f64, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    // NVRTC keeps what it compiled in the driver's cache too, where a pipeline seen before would be found again.
    command
        .args(["--child", name])
        .env_remove("TILEWRIGHT_BUNDLES")
        .envs(environment.iter().copied())
        .env("TILEWRIGHT_CACHE", cache)
        .env("CUDA_CACHE_DISABLE", "1")
        .stdout(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let wall_ms = begin.elapsed().as_secs_f64() * 1e3;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("the child process `{name}` failed: {status}").into());
    }
    Ok((wall_ms, line))
}
