//! Fused expressions that are cut in other ways than point by point, over data in page-locked memory: what they take, against copies alone.

use super::add;
use super::link;
use super::operands::{fill, locked};
use crate::Result;
use crate::clock::wall_ms;
use crate::report::Report;
use crate::session::Session;
use bytemuck::Pod;
use rayon::prelude::*;
use tilewright_dims::dims;
use tilewright_driver::PinnedBuffer;
use tilewright_expr::{Border, In, Initial, coordinate, meet};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::store::{Extents, PinnedSink, PinnedSource, Sink, Stored};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
use tilewright_ops::fuse;

dims! { Y, X, K }

/// Rows and columns of the operand, f32: 8 GB.
const ROWS: usize = 125_000;
const COLUMNS: usize = 16_000;
/// A quick run has so many times fewer rows.
const QUICK: usize = 64;
const DEVICE_BYTES: u64 = 4 << 30;
const PINNED_BYTES: u64 = 1 << 30;
/// Bins of a histogram, and cells that rows are summed in.
const BINS: usize = 256;
const CELLS: usize = 1000;

/// What has an evaluation for a sink run.
type Evaluated<'e> = dyn FnMut(&Evaluation<'_>) -> Result<()> + 'e;

/// Measures `stream/kinds`.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let extents = Extents::new(if quick { ROWS / QUICK } else { ROWS }, COLUMNS);
    let (rows, device) = (extents.rows, *session.gpu.device());
    let [mut values, mut results] = locked::<f32, 2>(device, [rows * COLUMNS; 2])?;
    fill(&mut values, 1);
    let [mut counts] = locked::<i64, 1>(device, [BINS])?;
    let [mut sums] = locked::<i32, 1>(device, [CELLS * COLUMNS])?;
    let source = PinnedSource::new(&values, extents)?;
    let x = &Array::<f32, (Y, X)>::new(&source, [rows, COLUMNS])?;
    macro_rules! of {
        ($expression:expr) => {{
            let expression = $expression;
            move |sink: &dyn Sink, evaluated: &mut Evaluated<'_>| {
                evaluated(&Evaluation::new(&expression, (x,), &[sink])?)
            }
        }};
    }
    let [alone, both] = seconds_of_copies(session, (rows * COLUMNS * size_of::<f32>()) as f64)?;
    let mut figures = Vec::new();
    let mut add_figures = |[s, share]: [&'static str; 2], seconds: f64, copies: f64| {
        figures.extend([(s, seconds, "s"), (share, copies / seconds, "x")]);
    };

    let bin = |x: f32| ((x + 1.0) * 128.0).floor() as i32;
    let histogram = of!(fuse(|x: In<f32, (Y, X)>| {
        ((x + 1.0) * 128.0).floor().to::<i32>().histogram::<(Y, X), K>(BINS).store::<(K,)>()
    }));
    let seconds = timed(session, histogram, (&mut counts, Extents::new(1, BINS)), |counts| {
        // Of so many values some are rounded to 1.
        let count = |mut table: Vec<i64>, x: &f32| {
            table.get_mut(bin(*x) as usize).into_iter().for_each(|count| *count += 1);
            table
        };
        let and = |a: Vec<i64>, b: Vec<i64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let zeros = || vec![0i64; BINS];
        counts == values.par_iter().fold(zeros, count).reduce(zeros, and)
    })?;
    add_figures(["histogram_s", "histogram_share"], seconds, alone);

    let of_cell = rows.div_ceil(CELLS);
    let scatter = of!(fuse(move |x: In<f32, (Y, X)>| {
        let (value, cell) = (((x + 1.0) * 128.0).floor().to::<i32>(), coordinate::<Y>() / of_cell as i32);
        value.scatter::<Y, K, _, _>(cell, CELLS, meet::Sum, Initial::Filled(0)).store::<(K, X)>()
    }));
    let seconds = timed(session, scatter, (&mut sums, Extents::new(CELLS, COLUMNS)), |sums| {
        sums.par_chunks(COLUMNS).enumerate().all(|(cell, sums)| {
            let mut expected = vec![0; COLUMNS];
            let cells = values.chunks(of_cell * COLUMNS).nth(cell).into_iter().flatten();
            cells.enumerate().for_each(|(i, x)| expected[i % COLUMNS] += bin(*x));
            sums == expected
        })
    })?;
    add_figures(["scatter_s", "scatter_share"], seconds, alone);

    let stencil = of!(fuse(|x: In<f32, (Y, X)>| {
        x.correlate::<Y, X>([[0.25f32], [0.5], [0.25]], Border::Wrap).store::<(Y, X)>()
    }));
    let seconds = timed(session, stencil, (&mut results, extents), |results| {
        results.par_chunks(COLUMNS).enumerate().all(|(row, got)| {
            let [above, here, below] = [rows - 1, 0, 1].map(|by| &values[(row + by) % rows * COLUMNS..][..COLUMNS]);
            let expected =
                |i: usize| 0.25 * f64::from(above[i]) + 0.5 * f64::from(here[i]) + 0.25 * f64::from(below[i]);
            got.iter().enumerate().all(|(i, got)| (f64::from(*got) - expected(i)).abs() <= 1e-6)
        })
    })?;
    add_figures(["stencil_s", "stencil_share"], seconds, both);

    let backwards = of!(fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>() * 2.0).store::<(Y, X)>()));
    let seconds = timed(session, backwards, (&mut results, extents), |results| {
        let rows = results.par_chunks(COLUMNS).zip(values.par_chunks(COLUMNS).rev());
        rows.all(|(got, row)| got.iter().zip(row).all(|(got, x)| got.to_bits() == (x * 2.0).to_bits()))
    })?;
    add_figures(["backwards_s", "backwards_share"], seconds, both);

    // Brought for what bands come to, and again for the results.
    let scan = of!(fuse(|x: In<f32, (Y, X)>| x.cummax::<Y>().store::<(Y, X)>()));
    let seconds = timed(session, scan, (&mut results, extents), |results| {
        let mut most = vec![f32::NEG_INFINITY; COLUMNS];
        values.chunks(COLUMNS).zip(results.chunks(COLUMNS)).all(|(row, got)| {
            most.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(*x));
            most == got
        })
    })?;
    add_figures(["scan_s", "scan_share"], seconds, alone + both);

    let less = of!(fuse(|x: In<f32, (Y, X)>| (x - x.maximum::<(Y, X)>()).store::<(Y, X)>()));
    let seconds = timed(session, less, (&mut results, extents), |results| {
        let most = values.par_iter().copied().reduce(|| f32::NEG_INFINITY, f32::max);
        results.par_iter().zip(&values[..]).all(|(got, x)| got.to_bits() == (x - most).to_bits())
    })?;
    add_figures(["reduced_s", "reduced_share"], seconds, alone + both);
    add(report, case, &figures);
    Ok(())
}

/// What so many bytes take to the GPU, and to it while as many come back.
fn seconds_of_copies(session: &Session, bytes: f64) -> Result<[f64; 2]> {
    let link = link::measure(session.gpu.stream())?;
    Ok([bytes / link.to_gpu, bytes / link.both])
}

/// Seconds of an evaluation into page-locked memory, whose result is looked at.
fn timed<T: Stored + Pod>(
    session: &Session,
    evaluation: impl Fn(&dyn Sink, &mut Evaluated<'_>) -> Result<()>,
    (result, extents): (&mut PinnedBuffer<T>, Extents),
    is_right: impl FnOnce(&[T]) -> bool,
) -> Result<f64> {
    bytemuck::cast_slice_mut::<T, u8>(result).fill(0xc7);
    let ms = wall_ms(3, || {
        let sink = PinnedSink::new(result, extents)?;
        evaluation(&sink, &mut |evaluation| {
            let budgets = Budgets {
                device: Budget::new(Memory::Device, DEVICE_BYTES),
                pinned: Budget::new(Memory::Pinned, PINNED_BYTES),
            };
            evaluate(&session.device, &budgets, evaluation, Control::default())?;
            Ok(())
        })?;
        Ok(Box::new(sink).commit()?)
    })?;
    if is_right(result) { Ok(ms / 1e3) } else { Err("a result is wrong".into()) }
}
