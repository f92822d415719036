//! Decisions: how long one takes, what those cost that are wrong, and products whose times a model of them is fitted to.

pub mod sample;
mod sweep;
mod timed;

pub(super) use sweep::sweep;

use super::add;
use crate::Result;
use crate::clock::median;
use crate::report::Report;
use crate::session::Session;
use std::hint::black_box;
use std::time::Instant;
use tilewright_hybrid::dispatch::{At, Choice, Decision, Job, ProductExtents, Unit, decide};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::{Columns, Device, Error, Rows, Shape};

/// Decisions of a round, and rounds.
const DECISIONS: usize = 1000;
const ROUNDS: usize = 21;

/// Measures `dispatch/known`: decisions about sizes and places whose rates are known.
pub(super) fn known(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let device = Device::with(&Gpu::new(session.gpu.stream()));
    let (rates, budget) = (device.rates(), session.gpu.device().memory_bytes() as u64);
    // What whoever asked first waited for, now or when the profile was written.
    let measured = rates.measured_in.ok_or("these rates were not measured")?;
    let cube = |size| ProductExtents { rows: size, columns: size, depth: size };
    let product = |size| Job::matmul(("f64", 8, Unit::F64), cube(size), [At::Pageable; 3], false);
    let (job, larger) = (product(1024)?, product(131_072)?);
    let nanoseconds = |one: &dyn Fn() -> std::result::Result<Decision, Error>| -> Result<f64> {
        let round = || -> Result<f64> {
            let begin = Instant::now();
            (0..DECISIONS).try_for_each(|_| {
                black_box(one()?);
                Ok::<_, Error>(())
            })?;
            Ok(begin.elapsed().as_secs_f64() * 1e9 / DECISIONS as f64)
        };
        round()?;
        Ok(median((0..ROUNDS).map(|_| round()).collect::<Result<_>>()?))
    };
    let device = &device;
    let plan = |size| {
        let shape = Shape::new(Rows(size), Columns(size));
        move || device.plan_matmul::<f64>(Precision::Auto, [shape; 2], false)
    };
    // With its record, as a call leaves it; then the device's own, of what fits and of what is streamed. No driver is asked.
    let recorded = nanoseconds(&|| decide(&job, Choice::Auto, &rates, budget))?;
    let streamed = nanoseconds(&|| decide(&larger, Choice::Auto, &rates, budget))?;
    let (small, large) = (nanoseconds(&plan(1024))?, nanoseconds(&plan(131_072))?);
    let decided = [("decide_ns", recorded, "ns"), ("decide_streamed_ns", streamed, "ns")];
    let planned = [("plan_ns", small, "ns"), ("plan_streamed_ns", large, "ns")];
    add(report, case, &[decided, planned].concat());
    add(report, case, &[("measured_in_ms", measured * 1e3, "ms")]);
    Ok(())
}
