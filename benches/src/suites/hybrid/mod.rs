//! What `tilewright-hybrid` does, a file for each kind of work.

mod bits;
mod bits_streamed;
mod copies;
pub mod cpu;
pub mod dispatch;
mod expression;
mod factors;
mod kinds;
mod linear;
mod link;
mod matmul;
mod operands;
mod watched;

use crate::Result;
use crate::report::Report;
use crate::session::Session;

/// The cases of all kinds.
pub const CASES: [&str; 27] = [
    "bits/4096",
    "bits/8192",
    "bits/16384",
    "bits/32768",
    "bits/131072",
    "matmul/f64/32768",
    "matmul/f64/49152",
    "matmul/f32/65536",
    "matmul-npy/f64/32768",
    "matmul-capped/f64/32768",
    "matmul-tiles/f64/16384",
    "copies/64K",
    "copies/256K",
    "copies/1M",
    "copies/2M",
    "copies/4M",
    "copies/16M",
    "copies/64M",
    "copies/256M",
    "copies/1024M",
    "dispatch/known",
    "dispatch/sample",
    "dispatch/sweep",
    "linear/solve/f64/16384",
    "stream/6ops",
    "stream/kinds",
    "stream/solve/f64/49152",
];

/// Measures a case: a kind of work, what it is on, and how large it is.
pub fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    match case.split_once('/') {
        Some(("bits", "131072")) => bits_streamed::run(session, case, 131_072, quick, report),
        Some(("bits", size)) => bits::run(session, case, size.parse()?, report),
        Some(("matmul", _)) => matmul::run(session, case, quick, report),
        Some(("matmul-capped", _)) => matmul::run_capped(session, case, quick, report),
        Some(("matmul-tiles", _)) => matmul::run_tiles(session, case, quick, report),
        Some(("matmul-npy", _)) => matmul::run_npy(session, case, quick, report),
        Some(("copies", size)) => copies::run(session, case, bytes(size)?, report),
        Some(("dispatch", "known")) => dispatch::known(session, case, report),
        Some(("dispatch", "sample")) => dispatch::sample::sample(session, case, quick, report),
        Some(("dispatch", "sweep")) => dispatch::sweep(session, case, quick, report),
        Some(("linear", _)) => linear::run(session, case, quick, report),
        Some(("stream", "6ops")) => expression::run(session, case, quick, report),
        Some(("stream", "kinds")) => kinds::run(session, case, quick, report),
        Some(("stream", _)) => factors::run(session, case, quick, report),
        _ => Err(format!("no case `{case}`").into()),
    }
}

/// As many bytes as `4M` and `64K` say.
fn bytes(size: &str) -> Result<usize> {
    let (count, unit) = size.split_at(size.len() - 1);
    Ok(count.parse::<usize>()? << if unit == "M" { 20 } else { 10 })
}

/// Adds figures of a case: metric, value and unit.
fn add(report: &mut Report, case: &str, figures: &[(&str, f64, &str)]) {
    for (metric, value, unit) in figures {
        report.add("hybrid", case, metric, *value, unit);
    }
}
