//! The first call of pipelines that nobody has seen: fifty random ones, without any cache.

use crate::Result;
use crate::clock::median;
use crate::kernels::Empty;
use crate::pipelines::{Given, Pipeline};
use crate::report::Report;
use crate::suites::{jit, same_bits};
use serde::{Deserialize, Serialize};
use std::time::Instant;
use tilewright_driver::compile;
use tilewright_ops::Device;

/// Pipelines of a run.
pub const PIPELINES: u64 = 50;

/// What the child tells: milliseconds from each closure to its synchronised result, in order.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Account {
    ms: Vec<f64>,
    /// Of these, what NVRTC took.
    compiler_ms: Vec<f64>,
    /// What NVRTC takes for an empty kernel, now and then between them: how fast this machine is today.
    empty_ms: Vec<f64>,
}

/// Runs in a process of its own, whose caches are empty: builds each pipeline, calls it once, then compares it with the CPU.
pub fn child() -> Result<String> {
    let device = Device::gpu(0)?;
    let gpu = device.as_gpu().ok_or("not a GPU")?;
    let given = Given::new()?;
    let there = given.to(&device)?;
    device.synchronize()?;
    let mut account = Account::default();
    for seed in 0..PIPELINES {
        let begin = Instant::now();
        let pipeline = Pipeline::random(seed);
        let computed = pipeline.call(&there)?;
        device.synchronize()?;
        account.ms.push(begin.elapsed().as_secs_f64() * 1e3);
        account.compiler_ms.extend(pipeline.compiler_ms());
        if seed % 10 == 9 {
            let begin = Instant::now();
            compile(&Empty::source(64 + 4 * seed as usize), gpu.device().arch())?;
            account.empty_ms.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        same_numbers(&computed.to_vec()?, &pipeline.call(&given)?.to_vec()?)
            .map_err(|error| format!("pipeline {seed}: {error}"))?;
    }
    Ok(serde_json::to_string(&account)?)
}

/// The same bits, or NaN on both sides: random pipelines divide.
fn same_numbers(got: &[f32], expected: &[f32]) -> Result<()> {
    let canonical = |values: &[f32]| values.iter().map(|x| if x.is_nan() { f32::NAN } else { *x }).collect::<Vec<_>>();
    same_bits(&canonical(got), &canonical(expected))
}

/// Measures `compile`. The first pipeline pays for finding and loading the compiler.
pub fn run(report: &mut Report) -> Result<()> {
    let cache = tempfile::tempdir()?;
    let (_, line) = jit::start("pipelines", cache.path(), &[])?;
    let mut account: Account = serde_json::from_str(&line)?;
    let first = account.ms.first().copied().ok_or("no pipeline was built")?;
    account.ms.sort_by(f64::total_cmp);
    let ninth = account.ms[account.ms.len() * 9 / 10];
    report.add("fuse", "compile", "ms", median(account.ms), "ms");
    report.add("fuse", "compile", "p90_ms", ninth, "ms");
    report.add("fuse", "compile", "first_ms", first, "ms");
    report.add("fuse", "compile", "compiler_ms", median(account.compiler_ms), "ms");
    report.add("fuse", "compile", "empty_ms", median(account.empty_ms), "ms");
    Ok(())
}
