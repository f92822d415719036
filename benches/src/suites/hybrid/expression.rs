//! A fused expression over data in host memory, against the link, both ways of which it uses at once.

use super::add;
use super::link;
use super::operands::{fill, locked};
use crate::Result;
use crate::clock::wall_ms;
use crate::report::Report;
use crate::session::Session;
use ndarray::ArrayViewMut2;
use rayon::prelude::*;
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource, PinnedSink, PinnedSource, Sink, Source};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
use tilewright_ops::fuse;

dims! { Y, X }

/// Rows and columns of the operand, f32: 32 GB, and as much of the result.
const ROWS: usize = 500_000;
const COLUMNS: usize = 16_000;
/// A quick run has so many times fewer rows.
const QUICK: usize = 64;
const DEVICE_BYTES: u64 = 8 << 30;
const PINNED_BYTES: u64 = 2 << 30;

/// Measures `stream/6ops`: from page-locked memory to page-locked memory, and through slots as from other memory.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let extents = Extents::new(if quick { ROWS / QUICK } else { ROWS }, COLUMNS);
    let [mut values, mut results] = locked::<f32, 2>(*session.gpu.device(), [extents.rows * COLUMNS; 2])?;
    fill(&mut values, 1);
    let mut timed = |is_staged: bool| -> Result<f64> {
        results.par_chunks_mut(COLUMNS).for_each(|row| row.fill(f32::NAN));
        let ms = wall_ms(3, || match is_staged {
            false => {
                let source = PinnedSource::new(&values, extents)?;
                evaluated(session, extents, &source, Box::new(PinnedSink::new(&mut results, extents)?))
            }
            true => {
                let source = MemorySource::from_slice(&values, extents)?;
                let results = ArrayViewMut2::from_shape((extents.rows, COLUMNS), &mut results)?;
                evaluated(session, extents, &source, Box::new(MemorySink::new(results)))
            }
        })?;
        let six = |x: f32| (x.mul_add(0.5, 1.0).abs().sqrt() - 0.25).max(0.5) / 3.0;
        let wrong = values.par_iter().zip(&results[..]).filter(|(x, got)| six(**x).to_bits() != got.to_bits()).count();
        match wrong {
            0 => Ok(ms / 1e3),
            _ => Err(format!("{wrong} of {} values are wrong", results.len()).into()),
        }
    };
    let (seconds, staged) = (timed(false)?, timed(true)?);

    let link = link::measure(session.gpu.stream())?;
    let bytes = (values.len() * size_of::<f32>()) as f64;
    let figures = [
        ("s", seconds, "s"),
        ("each_way_gbs", bytes / seconds * 1e-9, "GB/s"),
        ("share", bytes / seconds / link.both, "x"),
        ("staged_s", staged, "s"),
        ("staged_share", bytes / staged / link.both, "x"),
        ("link_both_gbs", link.both * 1e-9, "GB/s"),
        ("link_to_gpu_gbs", link.to_gpu * 1e-9, "GB/s"),
        ("link_to_host_gbs", link.to_host * 1e-9, "GB/s"),
    ];
    add(report, case, &figures);
    Ok(())
}

/// The expression, once.
fn evaluated(session: &Session, extents: Extents, source: &dyn Source, sink: Box<dyn Sink + '_>) -> Result<()> {
    let budgets = Budgets {
        device: Budget::new(Memory::Device, DEVICE_BYTES),
        pinned: Budget::new(Memory::Pinned, PINNED_BYTES),
    };
    let six = fuse(|x: In<f32, (Y, X)>| (((x * 0.5 + 1.0).abs().sqrt() - 0.25).max(0.5) / 3.0).store::<(Y, X)>());
    let x = Array::<f32, (Y, X)>::new(source, [extents.rows, extents.columns])?;
    let evaluation = Evaluation::new(&six, (&x,), &[&*sink])?;
    evaluate(&session.device, &budgets, &evaluation, Control::default())?;
    drop(evaluation);
    Ok(sink.commit()?)
}
