//! Solutions of systems larger than what they may use of the GPU's memory, against the same in its memory.

use super::add;
use super::linear::{right_hand_side, small_residual, solved};
use super::link;
use super::operands::random;
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use ndarray::{Array2, ArrayView2};
use std::time::Instant;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::store::{Extents, MemoryScratch, MemorySink, MemorySource, Sink, Stored};
use tilewright_hybrid::stream::{self, Budgets, Control, Factor};

/// What they may use of the GPU's memory, and of page-locked memory.
const DEVICE_BYTES: u64 = 8 << 30;
const PINNED_BYTES: u64 = 2 << 30;
/// A quick run has an eighth of the side.
const QUICK: usize = 8;

/// Measures `stream/solve/f64/` of a size: from host memory to a solution of one right-hand side in host memory, both ways; and factors alone.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let size: usize = case.rsplit('/').next().unwrap_or_default().parse()?;
    let part = if quick { QUICK } else { 1 };
    let (size, device) = (size / part, DEVICE_BYTES / (part * part) as u64);
    let gpu = Gpu::new(session.gpu.stream());
    let values = random::<f64>(size, 1);
    let a = ArrayView2::from_shape((size, size), &values)?;
    let b = right_hand_side(size);
    // Both ways twice: the first time memory is new to the process, and on a virtual machine to its host.
    solved(&gpu, a, &b)?;
    let (x, [in_core_factored, in_core]) = solved(&gpu, a, &b)?;
    small_residual(a, &x, &b)?;

    let budgets =
        Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, PINNED_BYTES) };
    let scratch = MemoryScratch::new(Extents::new(size, size), f64::ELEMENT)?;
    let (source, right) = (MemorySource::new(a), MemorySource::new(b.view()));
    let (a_and_b, control) = ([Factor::plain(&source), Factor::plain(&right)], Control::default());
    let once = || -> Result<_> {
        let mut x = Array2::from_elem((size, 1), f64::NAN);
        let sink = MemorySink::new(x.view_mut());
        let begin = Instant::now();
        let traffic = stream::solve::<f64>((&gpu, &budgets), a_and_b, &scratch, &sink, control)?;
        let seconds = begin.elapsed().as_secs_f64();
        Box::new(sink).commit()?;
        small_residual(a, &x, &b)?;
        Ok((traffic, seconds))
    };
    let ((_, first), (traffic, all)) = (once()?, once()?);
    let begin = Instant::now();
    let plan = stream::lu::<f64>((&gpu, &budgets), Factor::plain(&source), &scratch, control)?.plan();
    let factored = begin.elapsed().as_secs_f64();

    let link = link::measure(session.gpu.stream())?;
    let figures = [
        ("s", all, "s"),
        ("ratio", all / in_core, "x"),
        ("first_s", first, "s"),
        ("factor_s", factored, "s"),
        ("in_core_s", in_core, "s"),
        ("in_core_factor_s", in_core_factored, "s"),
        ("to_gpu_s", traffic.to_gpu as f64 / link.both, "s"),
        ("panels", plan.panels() as f64, ""),
        ("tflops", plan.flops() / factored * 1e-12, "TFLOP/s"),
    ];
    add(report, case, &figures);
    Ok(())
}
