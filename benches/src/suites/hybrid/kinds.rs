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

/// The operand, what copies take, and figures.
struct Kinds<'a> {
    session: &'a Session,
    values: &'a [f32],
    x: &'a Array<'a, f32, (Y, X)>,
    extents: Extents,
    /// Seconds of copies of the operand to the GPU, and of those while as much comes back.
    alone: f64,
    both: f64,
    figures: Vec<(&'static str, f64, &'static str)>,
}

/// An expression of a kind's operand, for a sink.
macro_rules! of {
    ($kinds:ident, $expression:expr) => {{
        let (expression, x) = ($expression, $kinds.x);
        move |sink: &dyn Sink, evaluated: &mut Evaluated<'_>| evaluated(&Evaluation::new(&expression, (x,), &[sink])?)
    }};
}

/// Measures `stream/kinds`.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let extents = Extents::new(if quick { ROWS / QUICK } else { ROWS }, COLUMNS);
    let [mut values, mut results] = locked::<f32, 2>(*session.gpu.device(), [extents.rows * COLUMNS; 2])?;
    fill(&mut values, 1);
    let source = PinnedSource::new(&values, extents)?;
    let x = &Array::<f32, (Y, X)>::new(&source, [extents.rows, COLUMNS])?;
    let (link, bytes) = (link::measure(session.gpu.stream())?, size_of_val(&values[..]) as f64);
    let (alone, both) = (bytes / link.to_gpu, bytes / link.both);
    let mut kinds = Kinds { session, values: &values, x, extents, alone, both, figures: Vec::new() };
    kinds.scattered()?;
    kinds.beside_and_elsewhere(&mut results)?;
    kinds.brought_twice(&mut results)?;
    add(report, case, &kinds.figures);
    Ok(())
}

/// A whole number that follows from a value.
fn level(x: f32) -> i32 {
    ((x + 1.0) * 128.0).floor() as i32
}

impl Kinds<'_> {
    /// Counts, and sums of rows, into results that are whole.
    fn scattered(&mut self) -> Result<()> {
        let values = self.values;
        let [mut counts] = locked::<i64, 1>(*self.session.gpu.device(), [BINS])?;
        let histogram = of!(
            self,
            fuse(|x: In<f32, (Y, X)>| {
                ((x + 1.0) * 128.0).floor().to::<i32>().histogram::<(Y, X), K>(BINS).store::<(K,)>()
            })
        );
        let is_right = |counts: &[i64]| {
            // Of so many values some are rounded to 1.
            let count = |mut table: Vec<i64>, x: &f32| {
                table.get_mut(level(*x) as usize).into_iter().for_each(|count| *count += 1);
                table
            };
            let and = |a: Vec<i64>, b: Vec<i64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
            let zeros = || vec![0i64; BINS];
            counts == values.par_iter().fold(zeros, count).reduce(zeros, and)
        };
        let names = ["histogram_s", "histogram_share"];
        self.timed(names, self.alone, histogram, (&mut counts, Extents::new(1, BINS)), is_right)?;

        let [mut sums] = locked::<i32, 1>(*self.session.gpu.device(), [CELLS * COLUMNS])?;
        let of_cell = self.extents.rows.div_ceil(CELLS);
        let scatter = of!(
            self,
            fuse(move |x: In<f32, (Y, X)>| {
                let (value, cell) = (((x + 1.0) * 128.0).floor().to::<i32>(), coordinate::<Y>() / of_cell as i32);
                value.scatter::<Y, K, _, _>(cell, CELLS, meet::Sum, Initial::Filled(0)).store::<(K, X)>()
            })
        );
        let is_right = |sums: &[i32]| {
            sums.par_chunks(COLUMNS).enumerate().all(|(cell, sums)| {
                let mut expected = vec![0; COLUMNS];
                let rows = values.chunks(of_cell * COLUMNS).nth(cell).into_iter().flatten();
                rows.enumerate().for_each(|(i, x)| expected[i % COLUMNS] += level(*x));
                sums == expected
            })
        };
        let names = ["scatter_s", "scatter_share"];
        self.timed(names, self.alone, scatter, (&mut sums, Extents::new(CELLS, COLUMNS)), is_right)
    }

    /// Rows beside the point, and backwards.
    fn beside_and_elsewhere(&mut self, results: &mut PinnedBuffer<f32>) -> Result<()> {
        let (values, extents) = (self.values, self.extents);
        let stencil = of!(
            self,
            fuse(|x: In<f32, (Y, X)>| {
                x.correlate::<Y, X>([[0.25f32], [0.5], [0.25]], Border::Wrap).store::<(Y, X)>()
            })
        );
        let is_right = |results: &[f32]| {
            results.par_chunks(COLUMNS).enumerate().all(|(row, got)| {
                let row_at = |by: usize| &values[(row + by) % extents.rows * COLUMNS..][..COLUMNS];
                let [above, here, below] = [extents.rows - 1, 0, 1].map(row_at);
                let expected =
                    |i: usize| 0.25 * f64::from(above[i]) + 0.5 * f64::from(here[i]) + 0.25 * f64::from(below[i]);
                got.iter().enumerate().all(|(i, got)| (f64::from(*got) - expected(i)).abs() <= 1e-6)
            })
        };
        self.timed(["stencil_s", "stencil_share"], self.both, stencil, (results, extents), is_right)?;

        let backwards = of!(self, fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>() * 2.0).store::<(Y, X)>()));
        let is_right = |results: &[f32]| {
            let rows = results.par_chunks(COLUMNS).zip(values.par_chunks(COLUMNS).rev());
            rows.all(|(got, row)| got.iter().zip(row).all(|(got, x)| got.to_bits() == (x * 2.0).to_bits()))
        };
        self.timed(["backwards_s", "backwards_share"], self.both, backwards, (results, extents), is_right)
    }

    /// What needs the operand for what bands come to, and again for the results.
    fn brought_twice(&mut self, results: &mut PinnedBuffer<f32>) -> Result<()> {
        let (values, extents, copies) = (self.values, self.extents, self.alone + self.both);
        let scan = of!(self, fuse(|x: In<f32, (Y, X)>| x.cummax::<Y>().store::<(Y, X)>()));
        let is_right = |results: &[f32]| {
            let mut most = vec![f32::NEG_INFINITY; COLUMNS];
            values.chunks(COLUMNS).zip(results.chunks(COLUMNS)).all(|(row, got)| {
                most.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(*x));
                most == got
            })
        };
        self.timed(["scan_s", "scan_share"], copies, scan, (results, extents), is_right)?;

        let less = of!(self, fuse(|x: In<f32, (Y, X)>| (x - x.maximum::<(Y, X)>()).store::<(Y, X)>()));
        let is_right = |results: &[f32]| {
            let most = values.par_iter().copied().reduce(|| f32::NEG_INFINITY, f32::max);
            results.par_iter().zip(values).all(|(got, x)| got.to_bits() == (x - most).to_bits())
        };
        self.timed(["reduced_s", "reduced_share"], copies, less, (results, extents), is_right)
    }

    /// Seconds of an evaluation into page-locked memory, whose result is looked at, and what copies alone take over that.
    fn timed<T: Stored + Pod>(
        &mut self,
        [seconds, share]: [&'static str; 2],
        copies: f64,
        evaluation: impl Fn(&dyn Sink, &mut Evaluated<'_>) -> Result<()>,
        (result, extents): (&mut PinnedBuffer<T>, Extents),
        is_right: impl FnOnce(&[T]) -> bool,
    ) -> Result<()> {
        bytemuck::cast_slice_mut::<T, u8>(result).fill(0xc7);
        let s = wall_ms(3, || {
            let sink = PinnedSink::new(result, extents)?;
            evaluation(&sink, &mut |evaluation| {
                let budgets = Budgets {
                    device: Budget::new(Memory::Device, DEVICE_BYTES),
                    pinned: Budget::new(Memory::Pinned, PINNED_BYTES),
                };
                evaluate(&self.session.device, &budgets, evaluation, Control::default())?;
                Ok(())
            })?;
            Ok(Box::new(sink).commit()?)
        })? / 1e3;
        if !is_right(result) {
            return Err(format!("a result is wrong: {seconds}").into());
        }
        self.figures.extend([(seconds, s, "s"), (share, copies / s, "x")]);
        Ok(())
    }
}
