//! What the CPU does: a product of numbers beside faer's own, and of bits beside what its instructions can count.

use super::operands::random;
use crate::Result;
use crate::clock::median;
use crate::machine;
use crate::report::{Report, Row};
use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, Mat, Par};
use ndarray::{Array2, ShapeBuilder};
use std::time::{Duration, Instant};
use tilewright_hybrid::bits::{BitMatrix, Path, Product};
use tilewright_hybrid::linear::{Place, Precision, matmul};

/// The cases.
pub const CASES: [&str; 2] = ["cpu/matmul/f64/4096", "cpu/bits/8192"];

/// Measures a case, on this machine's CPU.
pub fn run(case: &str, quick: bool, report: &mut Report) -> Result<()> {
    match case {
        "cpu/matmul/f64/4096" => numbers(case, if quick { 512 } else { 4096 }, report),
        "cpu/bits/8192" => bits(case, if quick { 1024 } else { 8192 }, report),
        _ => Err(format!("no case `{case}`").into()),
    }
}

fn add(report: &mut Report, case: &str, metric: &str, value: f64, unit: &str) {
    let row: &mut Row = report.add("hybrid", case, metric, value, unit);
    (row.device, row.driver) = (machine::cpu(), None);
}

fn seconds(run: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    run()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Pairs of runs, in turns.
const RUNS: usize = 9;

/// Ours and faer's, on all cores, in turns; `over_faer` is faer's time over ours.
fn numbers(case: &str, size: usize, report: &mut Report) -> Result<()> {
    let array = |seed| Array2::from_shape_vec((size, size).f(), random(size, seed));
    let (a, b) = (array(1)?, array(2)?);
    let mut c = Array2::from_elem((size, size).f(), f64::NAN);
    let of = |array: &Array2<f64>| Mat::from_fn(size, size, |i, j| array[[i, j]]);
    let (their_a, their_b, mut theirs) = (of(&a), of(&b), Mat::<f64>::zeros(size, size));
    let mut ours = || Ok(matmul(&Place::Cpu, Precision::Auto, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into())?);
    let mut faer = || {
        faer_matmul(theirs.as_mut(), Accum::Replace, their_a.as_ref(), their_b.as_ref(), 1.0, Par::rayon(0));
        Ok(())
    };
    ours()?;
    faer()?;
    let pairs = (0..RUNS).map(|_| Ok([seconds(&mut ours)?, seconds(&mut faer)?])).collect::<Result<Vec<_>>>()?;
    if (0..size).any(|i| (c[[i, size - 1 - i]] - theirs[(i, size - 1 - i)]).abs() > 1e-9 * size as f64) {
        return Err("the two products differ".into());
    }
    let [ours, faer] = [0, 1].map(|side| median(pairs.iter().map(|pair| pair[side]).collect()));
    add(report, case, "s", ours, "s");
    add(report, case, "faer_s", faer, "s");
    add(report, case, "over_faer", faer / ours, "x");
    Ok(())
}

/// On one core, by each of the vector paths that it has; `share` is of what its instructions count in as long a time ([`Path::limit_over`]), a product
/// and that in turns; `share_of_peak` of the best of moments ([`Path::limit`]).
fn bits(case: &str, size: usize, report: &mut Report) -> Result<()> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (left, right) = (BitMatrix::random(size, size, 0.5, 1)?, BitMatrix::random(size, size, 0.5, 2)?);
    let pairs = (size as f64).powi(3);
    for path in Path::ALL {
        let product = Product::of_rows(&left, &right)?;
        let Some(peak) = path.limit() else { continue };
        let product = product.on(path)?;
        let mut run = || one.install(|| product.more_than(size as u64 / 4)).map(drop).map_err(Into::into);
        let first = Duration::from_secs_f64(seconds(&mut run)?);
        let turn = |_| -> Result<[f64; 2]> {
            let s = seconds(&mut run)?;
            Ok([pairs / s, one.install(|| path.limit_over(first)).ok_or("no limit")?])
        };
        let turns = (0..RUNS).map(turn).collect::<Result<Vec<_>>>()?;
        let [rate, limit] = [0, 1].map(|side| median(turns.iter().map(|turn| turn[side]).collect()));
        let peak = path.limit().map_or(peak, |after| peak.max(after));
        let name = format!("{path:?}").to_lowercase();
        for (metric, rate) in [("tops", rate), ("limit_tops", limit), ("peak_tops", peak)] {
            add(report, case, &format!("{name}_{metric}"), 2e-12 * rate, "TOP/s");
        }
        add(report, case, &format!("{name}_share"), rate / limit, "x");
        add(report, case, &format!("{name}_share_of_peak"), rate / peak, "x");
    }
    Ok(())
}
