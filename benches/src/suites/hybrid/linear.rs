//! Linear algebra in the GPU's memory, from host memory and back: what larger-than-memory forms of it are to be set against.

use super::add;
use super::operands::random;
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::time::Instant;
use tilewright_hybrid::linear::{DeviceMat, Gpu, Lu, Norm, Place, norm};

/// A quick run has an eighth of the side.
const QUICK: usize = 8;

/// Measures `linear/solve/f64/` of a size, of one right-hand side.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let size: usize = case.rsplit('/').next().unwrap_or_default().parse()?;
    let size = if quick { size / QUICK } else { size };
    let values = random::<f64>(size, 1);
    let a = ArrayView2::from_shape((size, size), &values)?;
    let b = right_hand_side(size);
    let gpu = Gpu::new(session.gpu.stream());
    let (x, [factored, all]) = solved(&gpu, a, &b)?;
    small_residual(a, &x, &b)?;
    // What is among it, alone: the copy to the GPU as it lies, and the norm.
    let begin = Instant::now();
    DeviceMat::upload(&gpu, (&a.t()).into())?;
    gpu.stream().synchronize()?;
    let uploaded = begin.elapsed().as_secs_f64();
    norm(&Place::Cpu, Norm::One, (&a).into())?;
    let normed = begin.elapsed().as_secs_f64() - uploaded;
    let flops = 2.0 / 3.0 * (size as f64).powi(3);
    let figures = [
        ("factor_s", factored, "s"),
        ("solve_s", all - factored, "s"),
        ("tflops", flops / all * 1e-12, "TFLOP/s"),
        ("upload_s", uploaded, "s"),
        ("norm_s", normed, "s"),
    ];
    add(report, case, &figures);
    Ok(())
}

/// What larger-than-memory forms are given too.
pub(super) fn right_hand_side(size: usize) -> Array2<f64> {
    Array2::from_shape_fn((size, 1), |(row, _)| (row % 17) as f64 - 8.0)
}

/// A solution in the GPU's memory, and the seconds until there are factors and until there is a solution.
pub(super) fn solved(gpu: &Gpu, a: ArrayView2<'_, f64>, b: &Array2<f64>) -> Result<(Array2<f64>, [f64; 2])> {
    let place = Place::Gpu(gpu.clone());
    // Libraries are loaded, and the GPU wakes.
    let corner = a.slice(ndarray::s![..64.min(a.nrows()), ..64.min(a.ncols())]);
    Lu::factor(&place, (&corner).into())?;
    let begin = Instant::now();
    let lu = Lu::factor(&place, (&a).into())?;
    let factored = begin.elapsed().as_secs_f64();
    let x = lu.solve(b.into())?;
    Ok((x, [factored, begin.elapsed().as_secs_f64()]))
}

/// That `a x` is `b`, as nearly as rounding lets it be.
pub(super) fn small_residual(a: ArrayView2<'_, f64>, x: &Array2<f64>, b: &Array2<f64>) -> Result<()> {
    let largest = |values: &Array2<f64>| values.iter().fold(0.0f64, |largest, it| largest.max(it.abs()));
    let mut norm_and_rest = vec![[0.0f64; 2]; a.nrows()];
    norm_and_rest.par_iter_mut().enumerate().for_each(|(row, found)| {
        let (values, mut rest) = (a.row(row), -b[[row, 0]]);
        values.iter().zip(x.column(0)).for_each(|(value, x)| rest += value * x);
        *found = [values.iter().map(|value| value.abs()).sum(), rest.abs()];
    });
    let most =
        |of: usize| norm_and_rest.iter().fold(0.0, |most, found| if found[of] <= most { most } else { found[of] });
    let residual = most(1) / (a.nrows() as f64 * most(0) * largest(x) * f64::EPSILON);
    // What is no number is no solution.
    let is_small = residual <= 20.0;
    if !is_small {
        return Err(format!("the residual is {residual} of n |A| |x| eps").into());
    }
    Ok(())
}
