//! Fusion, on the experiments by which others measure it: long chains, batches with parameters for each picture, both
//! together, and what the host needs. Device data are pseudo-random, and rotate over more memory than the level-2 cache holds.

pub mod compile;
pub mod frames;
pub mod half_crops;
pub mod horizontal;
pub mod prebuilt;
pub mod rows;
pub mod transposed;
pub mod vertical;
pub mod video;

use super::same_bits;
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use tilewright_expr::Filter;

/// The cases, in the order of measuring.
pub const CASES: [&str; 64] = [
    "launch",
    "vertical/1",
    "vertical/10",
    "vertical/50",
    "vertical/100",
    "vertical/200",
    "vertical/500",
    "horizontal/10",
    "horizontal/50",
    "horizontal/100",
    "horizontal/300",
    "horizontal/600",
    "both/1",
    "both/100",
    "both/1000",
    "both/10000",
    "crops/10",
    "crops/50",
    "crops/100",
    "crops/150",
    "crops_f16/150",
    "frames4k/32",
    "frames4k_area/32",
    "nv12_1080p",
    "transposed/8192",
    "additions/1",
    "additions/21",
    "additions/61",
    "additions/121",
    "additions/181",
    "additions/241",
    "additions/301",
    "additions/401",
    "additions/521",
    "additions/681",
    "additions/881",
    "additions/1161",
    "per_kernel/1",
    "per_kernel/5",
    "per_kernel/20",
    "per_kernel/50",
    "per_kernel/100",
    "per_kernel/250",
    "per_kernel/500",
    "size/100",
    "size/10000",
    "size/282000",
    "size/1000000",
    "size/4000000",
    "size/9000000",
    "size/16654028",
    "type/u8-f32",
    "type/i8-f32",
    "type/u16-f32",
    "type/i16-f32",
    "type/i32-f32",
    "type/f32-f32",
    "type/u8-f64",
    "type/i8-f64",
    "type/u16-f64",
    "type/i16-f64",
    "type/i32-f64",
    "type/f32-f64",
    "compile",
];

/// Measures one case. Its name is a kind, and behind a slash how much of it.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let (kind, rest) = case.split_once('/').unwrap_or((case, ""));
    let number = || rest.parse::<usize>().map_err(|_| format!("`{rest}` is no number: {case}"));
    match kind {
        "launch" => launch(session, report),
        "vertical" => vertical::run(session, number()?, report),
        "horizontal" => horizontal::batch(session, number()?, report),
        "both" => horizontal::long_batch(session, number()?, report),
        "crops" => prebuilt::run(session, number()?, report),
        "crops_f16" => half_crops::run(session, number()?, report),
        "frames4k" => frames::run(session, (kind, Filter::Linear), number()?, report),
        "frames4k_area" => frames::run(session, (kind, Filter::Area), number()?, report),
        "nv12_1080p" => video::run(session, report),
        "transposed" => transposed::run(session, number()?, report),
        "additions" => rows::additions(session, number()?, report),
        "per_kernel" => rows::per_kernel(session, number()?, report),
        "size" => rows::size(session, number()?, report),
        "type" => rows::types(session, rest, report),
        "compile" => compile::run(report),
        other => Err(format!("no kind of case `{other}`").into()),
    }
}

/// What an empty kernel costs in the same run: no launch is faster.
fn launch(session: &Session, report: &mut Report) -> Result<()> {
    let mut call = |_| session.empty.launch();
    report.add("fuse", "launch", "device_us", session.clock.device_us(&mut call)?, "us");
    report.add("fuse", "launch", "device_us_graph", session.clock.graph_us(&mut call)?, "us");
    report.add("fuse", "launch", "host_us", session.clock.host_us(&mut call)?, "us");
    Ok(())
}

/// Whether a long result begins and ends with the same bits as expected, and was written everywhere.
fn same_ends(got: &[f32], begin: &[f32], end: &[f32]) -> Result<()> {
    let short = || format!("{} results, expected at least {}", got.len(), begin.len().max(end.len()));
    let first = got.get(..begin.len()).ok_or_else(short)?;
    let last = got.len().checked_sub(end.len()).and_then(|at| got.get(at..)).ok_or_else(short)?;
    same_bits(first, begin)?;
    same_bits(last, end)?;
    written(got)
}

/// Whether nothing is left of the NaN that memory held.
fn written(got: &[f32]) -> Result<()> {
    match got.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(format!("result {at} is {}: it was not written", got[at]).into()),
        None => Ok(()),
    }
}

/// Whether a peer, which rounds elsewhere, computes about the same after `steps` operations.
fn close(got: &[f32], expected: &[f32], steps: usize) -> Result<()> {
    let most = 2e-6 * steps.max(8) as f32;
    let is_close = |got: f32, expected: f32| (got - expected).abs() <= most * expected.abs().max(1.0);
    match got.iter().zip(expected).position(|(got, expected)| !is_close(*got, *expected)) {
        None if got.len() == expected.len() => Ok(()),
        None => Err(format!("the peer has {} results, expected {}", got.len(), expected.len()).into()),
        Some(at) => Err(format!("the peer has {} at {at}, expected {}", got[at], expected[at]).into()),
    }
}
