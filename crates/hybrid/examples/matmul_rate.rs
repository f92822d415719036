//! How fast a product of f64 is on the CPU, beside faer called directly: runs in turns, medians.
//! The size is the first argument (512); `--release -- 4096` is the figure.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::{Duration, Instant};

use ndarray::{Array2, ShapeBuilder};
use tilewright_hybrid::linear::{Place, Precision, matmul};

const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = std::env::args().nth(1).map_or(Ok(512), |text| text.parse())?;
    let matrix =
        |seed: usize| Array2::from_shape_fn((size, size).f(), |(i, j)| ((i * 7 + j * 13 + seed) % 101) as f64 - 50.0);
    let (a, b, mut c) = (matrix(1), matrix(2), matrix(3));
    let mut ours = || {
        let begin = Instant::now();
        matmul(&Place::Cpu, Precision::Auto, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into())
            .map(|()| begin.elapsed())
    };
    let plain = |array: &Array2<f64>| faer::Mat::from_fn(size, size, |i, j| array[[i, j]]);
    let (left, right, mut result) = (plain(&a), plain(&b), faer::Mat::<f64>::zeros(size, size));
    let mut theirs = || {
        let begin = Instant::now();
        let par = faer::Par::rayon(0);
        faer::linalg::matmul::matmul(&mut result, faer::Accum::Replace, &left, &right, 1.0, par);
        begin.elapsed()
    };
    ours()?;
    theirs();
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        times[0].push(ours()?);
        times[1].push(theirs());
    }
    let [ours, theirs] = times.map(median);
    let rate = |time: Duration| 2.0 * (size as f64).powi(3) / time.as_secs_f64() / 1e9;
    println!("f64 {size}: tilewright {:.1} GFLOP/s, faer {:.1} GFLOP/s", rate(ours), rate(theirs));
    println!("ratio of the medians of {RUNS}: {:.3}", theirs.as_secs_f64() / ours.as_secs_f64());
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
