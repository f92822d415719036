//! How fast a fused expression of six operations goes over data in the host's memory, on a GPU if there is one: in bands, both ways of the link
//! at once. The size of the operand is the first argument, in MiB (64); `--release -- 32768` is the figure: 32 GiB in and as many back.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_hybrid::budget::Budget;
use tilewright_hybrid::dispatch::Rates;
use tilewright_hybrid::store::{MemorySink, MemorySource, Sink};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, Meter, evaluate};
use tilewright_ops::{Device, fuse};

dims! { Y, X }

const COLUMNS: usize = 1 << 14;
const RUNS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mebibytes: usize = std::env::args().nth(1).map_or(Ok(64), |text| text.parse())?;
    let rows = (mebibytes << 20).div_ceil(4 * COLUMNS);
    let device = Device::auto();
    let budgets = Budgets {
        device: match device.as_gpu() {
            Some(gpu) => Budget::device(*gpu.device()),
            None => Budget::host(),
        },
        pinned: Budget::pinned(),
    };
    let (mut values, mut results) = (vec![0.0f32; rows * COLUMNS], vec![0.0f32; rows * COLUMNS]);
    // Every page is there before anything is timed.
    values.par_iter_mut().enumerate().for_each(|(i, value)| *value = (i % 1009) as f32);
    results.par_iter_mut().for_each(|value| *value = f32::NAN);

    let six = fuse(|x: In<f32, (Y, X)>| (((x * 0.5 + 1.0).abs().sqrt() - 0.25).max(0.5) / 3.0).store::<(Y, X)>());
    for run in 0..RUNS {
        let source = MemorySource::new(ArrayView2::from_shape((rows, COLUMNS), &values)?);
        let sink = MemorySink::new(ArrayViewMut2::from_shape((rows, COLUMNS), &mut results)?);
        let x = Array::<f32, (Y, X)>::new(&source, [rows, COLUMNS])?;
        let evaluation = Evaluation::new(&six, (&x,), &[&sink])?;
        if run == 0 {
            let plan = evaluation.plan(budgets.device.available())?;
            println!("on {device}: {} bands of {} rows", plan.count(), plan.band);
            let time = Rates::h200().gpu.map(|gpu| plan.time(&gpu));
            time.iter().for_each(|time| println!("an H200 is expected to take {:.3} s, {:?}", time.wall, time.bound()));
        }
        let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template("{wide_bar} {msg}")?);
        let meter = Meter::new(|pace| {
            bar.set_length(pace.steps);
            bar.set_position(pace.done);
            bar.set_message(pace.to_string());
        });
        let progress = |done, steps| meter.tell(done, steps);
        let begin = Instant::now();
        evaluate(&device, &budgets, &evaluation, Control { progress: Some(&progress), ..Control::default() })?;
        let seconds = begin.elapsed().as_secs_f64();
        bar.finish_and_clear();
        drop(evaluation);
        Box::new(sink).commit()?;
        println!("{seconds:.3} s: {:.1} GB/s each way", (4 * rows * COLUMNS) as f64 / seconds / 1e9);
    }
    let six = |x: f32| ((x.mul_add(0.5, 1.0).abs().sqrt() - 0.25).max(0.5)) / 3.0;
    let wrong = values.par_iter().zip(&results).filter(|(x, got)| six(**x).to_bits() != got.to_bits()).count();
    println!("{wrong} of {} values are wrong", results.len());
    Ok(())
}
