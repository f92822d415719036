//! How many instructions a call executes whose kernel is known, beside the driver and other libraries: counted one by one, and held against bounds.
//!
//! The driver is a stub (`crates/driver/tests/stub`), whose events count: they single-step this process by the processor's own
//! trap flag, which needs no profiler and no permission. What libraries execute, the C library among them, is not counted: which copy it
//! takes and how it reads the clock turn on the machine. A string instruction counts once for each of its repetitions. Meant for an
//! optimised build: `cargo xtask instructions`.

#![allow(clippy::print_stdout, reason = "the counts are its result")]

#[path = "../../crates/driver/tests/stub.rs"]
mod stub;

use std::process::{Command, ExitCode};
use tilewright_dims::dims;
use tilewright_driver::Stream;
use tilewright_expr::In;
use tilewright_ops::{Device, Evaluate, Tensor, fuse};

dims! { Y, X }

type Failure = Box<dyn std::error::Error>;

/// Set in the process that counts.
const CHILD: &str = "TILEWRIGHT_INSTRUCTIONS";

/// Instructions that a call may take: those it took when it was looked at last, and 5 % for other compilers.
const BOUNDS: [(&str, u64); 3] = [("call_into", 1150), ("call", 1730), ("eager", 3720)];

fn main() -> ExitCode {
    let outcome = if std::env::var_os(CHILD).is_some() { child() } else { parent() };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts this program again with the stub for a driver.
fn parent() -> Result<(), Failure> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("SKIP instructions: they are counted on x86-64 alone");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let Some([driver, compiler]) = stub::working(folder.path()) else {
        eprintln!("SKIP instructions: no C compiler");
        return Ok(());
    };
    let mut command = Command::new(std::env::current_exe()?);
    command.env(CHILD, "1").env("STUB_STEPS", "1").env("TILEWRIGHT_CACHE", folder.path().join("kernels"));
    let status = command.env("TILEWRIGHT_LIBCUDA", driver).env("TILEWRIGHT_CUDA", compiler).status()?;
    if status.success() { Ok(()) } else { Err(format!("the counting process ended with {status}").into()) }
}

/// Counts, prints, and compares with the bounds.
fn child() -> Result<(), Failure> {
    let mut above = Vec::new();
    for (name, instructions) in counts()? {
        let bound = BOUNDS.iter().find(|(bounded, _)| *bounded == name).map_or(0, |(_, bound)| *bound);
        println!("{name:<12} {instructions:>6} instructions, at most {bound}");
        if instructions > bound {
            above.push(name);
        }
    }
    if above.is_empty() { Ok(()) } else { Err(format!("above the bound: {}", above.join(", ")).into()) }
}

/// The least instructions of each way to compute `x * 2.5 + y`.
fn counts() -> Result<Vec<(&'static str, u64)>, Failure> {
    const LEN: usize = 1024;
    let device = Device::gpu(0)?;
    let gpu = device.as_gpu().ok_or("the stub is no GPU")?;
    let line = |value: f32| Tensor::<f32, (X,)>::from_vec([LEN], vec![value; LEN])?.to(&device);
    let (x, y, mut z) = (line(1.0)?, line(2.0)?, line(3.0)?);
    let axpy = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| (x * 2.5 + y).store::<(X,)>());
    let nothing = least(gpu.stream(), || Ok(()))?;
    let call_into = least(gpu.stream(), || Ok(axpy.call_into(&mut z, &x, &y)?))?;
    let call = least(gpu.stream(), || Ok(axpy.call(&x, &y).map(drop)?))?;
    let eager = least(gpu.stream(), || Ok((x.expr() * 2.5 + &y).store::<(X,)>().eval().map(drop)?))?;
    let counted = [("call_into", call_into), ("call", call), ("eager", eager)];
    Ok(counted.map(|(name, steps)| (name, steps - nothing)).into())
}

/// The least instructions of `work`, whose first calls build what later ones find.
fn least(stream: &Stream, mut work: impl FnMut() -> Result<(), Failure>) -> Result<u64, Failure> {
    let (mut start, mut end) = (stream.record()?, stream.record()?);
    let mut least = u64::MAX;
    for warm in [false, false, false, true, true, true, true, true] {
        if !warm {
            end.synchronize()?;
            work()?;
            continue;
        }
        stream.record_again(&mut start)?;
        let outcome = work();
        stream.record_again(&mut end)?;
        end.synchronize()?;
        outcome?;
        least = least.min(end.elapsed_ms_since(&start)? as u64);
    }
    Ok(least)
}
