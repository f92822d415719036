//! Products larger than what they may use of the GPU's memory, against what their parts take alone in the same run.

mod npy;

pub(super) use npy::run_npy;

use super::add;
use super::link;
use super::operands::Operands;
use super::watched::{cancelled, traced};
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use bytemuck::Pod;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use std::sync::OnceLock;
use std::time::Instant;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Accelerator, Expected, Flops, Link, Processor, ProductExtents, Unit};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource, PinnedSink, PinnedSource, Sink, Source};
use tilewright_hybrid::stream::{
    self, Budgets, Cancel, Control, Factor, MatmulPlan, MatmulTime, Product, STAGES, Verify,
};
use tilewright_hybrid::{Columns, Device, MatRef, Multiplicand, Rows, Shape, Streamed};

/// What a product may use of the GPU's memory, and of page-locked memory.
const DEVICE_BYTES: u64 = 8 << 30;
const PINNED_BYTES: u64 = 2 << 30;
/// Sides of square tiles.
const SIDES: [usize; 4] = [1024, 2048, 4096, 8192];
/// A quick run has sides and tiles of an eighth.
const QUICK: usize = 8;
/// Rows of a result that are compared with the CPU's, and how much more they may be off than rounding by chance is.
const ROWS: usize = 64;
const MARGIN: f64 = 16.0;

/// What is measured in.
pub(super) trait Real: Streamed + Multiplicand<Factor = Self> + Pod {
    const UNIT: Unit;
}

impl Real for f32 {
    const UNIT: Unit = Unit::F32;
}

impl Real for f64 {
    const UNIT: Unit = Unit::F64;
}

/// A product and what it may use.
struct Case<T: Pod> {
    gpu: Gpu,
    operands: Operands<T>,
    budgets: Budgets,
    plan: MatmulPlan,
    staged_plan: MatmulPlan,
}

/// Seconds from begin to end, and until the first product was queued.
struct Timed {
    wall: f64,
    begin: f64,
}

impl<T: Real> Case<T> {
    fn new(session: &Session, size: usize, quick: bool) -> Result<Self> {
        Self::within(DEVICE_BYTES, session, size, quick)
    }

    fn within(device_bytes: u64, session: &Session, size: usize, quick: bool) -> Result<Self> {
        let part = if quick { QUICK } else { 1 };
        let size = size / part;
        let (device, pinned) = (device_bytes / (part * part) as u64, PINNED_BYTES);
        let budgets =
            Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, pinned) };
        let extents = ProductExtents { rows: size, columns: size, depth: size };
        // As `stream::matmul` chooses them: of whole rows from page-locked memory, as square as may be from other memory.
        let plan = MatmulPlan::by_rows(extents, size_of::<T>(), device, STAGES)?;
        let staged_plan = MatmulPlan::new(extents, size_of::<T>(), device, STAGES)?;
        Ok(Self {
            gpu: Gpu::new(session.gpu.stream()),
            operands: Operands::random(*session.gpu.device(), size)?,
            budgets,
            plan,
            staged_plan,
        })
    }

    /// A whole product by a plan, from page-locked memory, which the GPU reads and writes itself.
    fn stream(&mut self, plan: &MatmulPlan) -> Result<Timed> {
        self.stream_until(plan, None)
    }

    /// The same, unless somebody cancels it.
    fn stream_until(&mut self, plan: &MatmulPlan, cancel: Option<&Cancel>) -> Result<Timed> {
        let extents = Extents::new(self.operands.size, self.operands.size);
        let Operands { a, b, c, .. } = &mut self.operands;
        let (a, b) = (PinnedSource::new(a, extents)?, PinnedSource::new(b, extents)?);
        multiply::<T>(&self.gpu, &self.budgets, plan, [&a, &b], Box::new(PinnedSink::new(c, extents)?), cancel)
    }

    /// The same through slots, as from memory that is not page-locked: of that this machine has no more than of the other.
    fn stream_staged(&mut self) -> Result<Timed> {
        let plan = self.staged_plan;
        let extents = Extents::new(self.operands.size, self.operands.size);
        let Operands { a, b, c, .. } = &mut self.operands;
        let (a, b) = (MemorySource::from_slice(a, extents)?, MemorySource::from_slice(b, extents)?);
        multiply::<T>(&self.gpu, &self.budgets, &plan, [&a, &b], in_memory(c, extents)?, None)
    }

    fn check(&self) -> Result<()> {
        let Operands { size, a, b, c } = &self.operands;
        let of = |values| MemorySource::from_slice(values, Extents::new(*size, *size));
        let (a, b, c) = (of(a)?, of(b)?, of(c)?);
        let product = Product { a: Factor::plain(&a), b: Factor::plain(&b), c: None, alpha: T::ONE, beta: T::ZERO };
        Ok(Verify::default().check(&product, Precision::Auto, &c).map(drop)?)
    }

    /// The most that whole rows are off the products that the CPU makes; an error where that is more than rounding.
    fn check_rows(&self) -> Result<f64> {
        let Operands { size, a, b, c } = &self.operands;
        let size = *size;
        let rows = (0..ROWS).map(|number| number * (size - 1) / (ROWS - 1));
        let of = |values: &[T]| -> Result<Array2<T>> {
            let lines = rows.clone().flat_map(|row| &values[row * size..][..size]).copied().collect();
            Ok(Array2::from_shape_vec((ROWS, size), lines)?)
        };
        let (of_a, got) = (of(a)?, of(c)?);
        let expected =
            Device::cpu().product((&of_a).into(), (&ArrayView2::from_shape((size, size), &b[..])?).into())?;
        let worst = got.iter().zip(&expected).map(|(got, exact)| (got.wide() - exact.wide()).norm());
        let worst = worst.fold(0.0, |most: f64, off| if off.is_nan() { f64::INFINITY } else { most.max(off) });
        // Sums of n products wander by the root of n, and so does their rounding.
        let most = MARGIN * T::EPSILON * size as f64;
        if worst > most { Err(format!("rows are off by {worst:e}, more than {most:e}").into()) } else { Ok(worst) }
    }

    /// The most that was in use of the GPU's memory and of page-locked memory, MiB; an error where that is more than there is leave for, or some still is.
    fn peaks(&self) -> Result<[f64; 2]> {
        let Budgets { device, pinned } = &self.budgets;
        for budget in [device, pinned] {
            if budget.used() > 0 || budget.peak() > budget.limit() {
                return Err(format!("memory beyond what it may use: {budget:?}").into());
            }
        }
        Ok([device, pinned].map(|budget| budget.peak() as f64 / f64::from(1 << 20)))
    }

    fn flops(&self) -> f64 {
        2.0 * (self.operands.size as f64).powi(3)
    }

    /// Operations in a second of the products that the plan is made of, as many as it has, one behind the other, with all operands there. As many:
    /// the GPU's clock follows its power and its warmth.
    fn rate(&self) -> Result<f64> {
        self.rate_after(false)
    }

    /// The same where each product waits for its panels, which come before it: the GPU rests meanwhile, and its clock is another one.
    fn rate_in_turns(&self) -> Result<f64> {
        self.rate_after(true)
    }

    fn rate_after(&self, copies: bool) -> Result<f64> {
        let ([rows, columns], panel) = (self.plan.tile, self.plan.panel);
        // What lies row by row is, column by column, the transposed matrix: `transpose(c) = transpose(b) transpose(a)`.
        let part = |values: &[T], rows, columns| -> Result<DeviceMat<T>> {
            let part = MatRef::column_major(&values[..rows * columns], Rows(rows), Columns(columns))?;
            Ok(DeviceMat::upload(&self.gpu, part)?)
        };
        let (b, a) = (part(&self.operands.b, columns, panel)?, part(&self.operands.a, panel, rows)?);
        let mut c = DeviceMat::uninitialised(&self.gpu, Shape::new(Rows(columns), Columns(rows)))?;
        let mut product = |beta| self.gpu.matmul(Precision::Auto, T::ONE, b.view(), a.view(), beta, &mut c);
        product(T::ZERO)?;
        let stream = self.gpu.stream();
        let mut seconds = |count: usize| -> Result<f64> {
            let begin = stream.record()?;
            (0..count).try_for_each(|_| product(T::ONE))?;
            let end = stream.record()?;
            end.synchronize()?;
            Ok(f64::from(end.elapsed_ms_since(&begin)?) / 1e3)
        };
        let count = self.plan.counts().iter().product();
        let mut seconds = |count: usize| -> Result<f64> {
            if !copies {
                return seconds(count);
            }
            let (of_a, of_b) = (rows * panel, columns * panel);
            let mut arriving = [stream.alloc::<T>(of_a)?, stream.alloc::<T>(of_b)?];
            (0..count).try_fold(0.0, |sum, _| {
                arriving[0].copy_from_pinned_start(stream, &self.operands.a, of_a)?;
                arriving[1].copy_from_pinned_start(stream, &self.operands.b, of_b)?;
                Ok(sum + seconds(1)?)
            })
        };
        let flops = 2.0 * rows as f64 * columns as f64 * panel as f64;
        Ok(count as f64 * flops / seconds(count)?)
    }

    /// What the plan is expected to take, by rates measured now.
    fn expected(&self, plan: &MatmulPlan, rate: f64, link: &Link) -> MatmulTime {
        let flops = Flops { f64: rate, f32: rate, tf32: rate, half: rate };
        let processor = Processor { flops, memory: f64::INFINITY, call: 0.0, start: 0.0 };
        let expected = Expected::default();
        plan.time(&Accelerator { processor, link: *link, expected }, T::UNIT, self.flops(), false)
    }
}

/// The longest of its parts.
fn bound(time: &MatmulTime) -> f64 {
    time.compute.max(time.to_gpu).max(time.to_host)
}

fn multiply<T: Real>(
    gpu: &Gpu,
    budgets: &Budgets,
    plan: &MatmulPlan,
    [a, b]: [&dyn Source; 2],
    sink: Box<dyn Sink + '_>,
    cancel: Option<&Cancel>,
) -> Result<Timed> {
    let product = Product { a: Factor::plain(a), b: Factor::plain(b), c: None, alpha: T::ONE, beta: T::ZERO };
    let first = OnceLock::new();
    let begin = Instant::now();
    let progress = |_, _| {
        first.get_or_init(|| begin.elapsed().as_secs_f64());
    };
    let control = Control { progress: Some(&progress), cancel, ..Control::default() };
    stream::matmul_by(plan, gpu, budgets, Precision::Auto, &product, &*sink, control)?;
    let wall = begin.elapsed().as_secs_f64();
    sink.commit()?;
    Ok(Timed { wall, begin: first.get().copied().unwrap_or(f64::NAN) })
}

fn in_memory<T: Real>(values: &mut [T], extents: Extents) -> Result<Box<dyn Sink + '_>> {
    Ok(Box::new(MemorySink::new(ArrayViewMut2::from_shape((extents.rows, extents.columns), values)?)))
}

/// Measures `matmul/` of a type and a size.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    match case.split('/').collect::<Vec<_>>()[..] {
        [_, "f64", size] => measure::<f64>(session, case, size.parse()?, quick, report),
        [_, "f32", size] => measure::<f32>(session, case, size.parse()?, quick, report),
        _ => Err(format!("no case `{case}`").into()),
    }
}

fn measure<T: Real>(session: &Session, case: &str, size: usize, quick: bool, report: &mut Report) -> Result<()> {
    let mut of = Case::<T>::new(session, size, quick)?;
    let plan = of.plan;
    let link = link::measure(session.gpu.stream())?;
    let before = of.rate()?;
    let streamed = of.stream(&plan)?;
    // The GPU is as warm as it was at the end of the product.
    let rate = (before + of.rate()?) / 2.0;
    of.check()?;
    let expected = of.expected(&plan, rate, &link);
    let bound = bound(&expected);

    let in_turns = MatmulPlan { stages: 1, ..plan };
    of.operands.poison();
    let staged = of.stream_staged()?;
    of.check()?;

    let before = of.rate_in_turns()?;
    of.operands.poison();
    let turns = of.stream(&in_turns)?;
    of.check()?;
    let rate_in_turns = (before + of.rate_in_turns()?) / 2.0;
    let expected_in_turns = of.expected(&in_turns, rate_in_turns, &link);
    let [device_peak, pinned_peak] = of.peaks()?;

    of.operands.poison();
    let stages = traced(case, || of.stream(&plan).map(drop))?;
    of.check()?;
    let cancelled = cancelled(streamed.wall, |cancel| of.stream_until(&plan, Some(cancel)).map(drop))?;
    // What comes after is right, and nothing of what was cancelled is left.
    of.operands.poison();
    of.stream(&plan)?;
    of.check()?;
    of.peaks()?;

    report.add("hybrid", case, "s", streamed.wall, "s").limited(bound);
    let figures = [
        ("ratio", streamed.wall / bound, "x"),
        ("expected_s", expected.wall, "s"),
        ("compute_s", expected.compute, "s"),
        ("copies_s", expected.to_gpu.max(expected.to_host), "s"),
        ("begin_s", streamed.begin, "s"),
        ("staged_s", staged.wall, "s"),
        ("staged_ratio", staged.wall / bound, "x"),
        ("in_turns_s", turns.wall, "s"),
        ("in_turns_expected_s", expected_in_turns.wall, "s"),
        ("in_turns_off", (turns.wall / expected_in_turns.wall - 1.0) * 100.0, "%"),
        ("slowdown", turns.wall / streamed.wall, "x"),
        ("slowdown_expected", expected_in_turns.wall / expected.wall, "x"),
        ("tflops", of.flops() / streamed.wall * 1e-12, "TFLOP/s"),
        ("kernel_tflops", rate * 1e-12, "TFLOP/s"),
        ("kernel_tflops_in_turns", rate_in_turns * 1e-12, "TFLOP/s"),
        ("overlap", 100.0 * stages.overlap(), "%"),
        ("cancelled_ms", cancelled, "ms"),
        ("device_peak_mib", device_peak, "MiB"),
        ("pinned_peak_mib", pinned_peak, "MiB"),
        ("link_both_gbs", link.both * 1e-9, "GB/s"),
    ];
    add(report, case, &figures);
    Ok(())
}

/// Measures `matmul-capped/f64/` of a size: from memory that is not page-locked, in half as much of the GPU's, checked by whole rows as well.
pub(super) fn run_capped(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let size = case.rsplit('/').next().unwrap_or_default().parse()?;
    let mut of = Case::<f64>::within(DEVICE_BYTES / 2, session, size, quick)?;
    let link = link::measure(session.gpu.stream())?;
    let before = of.rate()?;
    let streamed = of.stream_staged()?;
    let rate = (before + of.rate()?) / 2.0;
    of.check()?;
    let (off, [device_peak, pinned_peak]) = (of.check_rows()?, of.peaks()?);
    let expected = of.expected(&of.staged_plan, rate, &link);
    let bound = bound(&expected);
    report.add("hybrid", case, "s", streamed.wall, "s").limited(bound);
    let figures = [
        ("ratio", streamed.wall / bound, "x"),
        ("rows_off", off, ""),
        ("device_peak_mib", device_peak, "MiB"),
        ("pinned_peak_mib", pinned_peak, "MiB"),
    ];
    add(report, case, &figures);
    Ok(())
}

/// Measures `matmul-tiles/f64/` of a size: how fast products by square tiles are, beside what their sides let the GPU and the link do. A
/// panel is as deep as a tile is wide, so a product of panels reads two of its sides' squares.
pub(super) fn run_tiles(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let size = case.rsplit('/').next().unwrap_or_default().parse()?;
    let mut of = Case::<f64>::new(session, size, quick)?;
    let link = link::measure(session.gpu.stream())?;
    for whole in SIDES {
        let side = whole / if quick { QUICK } else { 1 };
        let plan = MatmulPlan { tile: [side, side], panel: side, ..of.plan };
        of.plan = plan;
        let rate = of.rate()?;
        of.operands.poison();
        let streamed = of.stream(&plan)?;
        of.check()?;
        let expected = of.expected(&plan, rate, &link);
        let bound = bound(&expected);
        let (reached, limit) = (of.flops() / streamed.wall * 1e-12, of.flops() / bound * 1e-12);
        report.add("hybrid", case, &format!("tflops_{whole}"), reached, "TFLOP/s");
        report.add("hybrid", case, &format!("limit_tflops_{whole}"), limit, "TFLOP/s");
        report.add("hybrid", case, &format!("share_{whole}"), reached / limit, "x");
    }
    Ok(())
}
