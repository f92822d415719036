//! Linear algebra in the GPU's memory, from host memory and back: what larger-than-memory forms of it are to be set against.

use super::add;
use super::operands::random;
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use ndarray::{Array2, ArrayView2};
use std::time::Instant;
use tilewright_hybrid::linear::{Gpu, Lu, Place};

/// A quick run has an eighth of the side.
const QUICK: usize = 8;

/// Measures `linear/solve/f64/` of a size, of one right-hand side.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let size: usize = case.rsplit('/').next().unwrap_or_default().parse()?;
    let size = if quick { size / QUICK } else { size };
    let place = Place::Gpu(Gpu::new(session.gpu.stream()));
    let values = random::<f64>(size, 1);
    let a = ArrayView2::from_shape((size, size), &values)?;
    let b = Array2::from_shape_fn((size, 1), |(row, _)| (row % 17) as f64 - 8.0);
    // Libraries are loaded, and the GPU wakes.
    let corner = a.slice(ndarray::s![..64.min(size), ..64.min(size)]);
    Lu::factor(&place, (&corner).into())?;

    let begin = Instant::now();
    let lu = Lu::factor(&place, (&a).into())?;
    let factored = begin.elapsed().as_secs_f64();
    let x = lu.solve((&b).into())?;
    let all = begin.elapsed().as_secs_f64();

    let norm = a.rows().into_iter().map(|row| row.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max);
    let largest = |values: &Array2<f64>| values.iter().fold(0.0f64, |largest, it| largest.max(it.abs()));
    let residual = largest(&(a.dot(&x) - &b)) / (size as f64 * norm * largest(&x) * f64::EPSILON);
    // What is no number is no solution.
    let is_small = residual <= 20.0;
    if !is_small {
        return Err(format!("the residual is {residual} of n |A| |x| eps").into());
    }
    let flops = 2.0 / 3.0 * (size as f64).powi(3);
    let figures =
        [("factor_s", factored, "s"), ("solve_s", all - factored, "s"), ("tflops", flops / all * 1e-12, "TFLOP/s")];
    add(report, case, &figures);
    Ok(())
}
