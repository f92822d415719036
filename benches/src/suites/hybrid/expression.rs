//! A fused expression over data in host memory, against the link, both ways of which it uses at once.

use super::add;
use super::link;
use super::operands::random_values;
use crate::Result;
use crate::clock::wall_ms;
use crate::report::Report;
use crate::session::Session;
use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::store::{MemorySink, MemorySource, Sink};
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

/// Measures `stream/6ops`.
pub(super) fn run(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let rows = if quick { ROWS / QUICK } else { ROWS };
    let values = random_values::<f32>(rows * COLUMNS, 1);
    let mut results = vec![0.0f32; values.len()];
    results.par_chunks_mut(COLUMNS).for_each(|row| row.fill(f32::NAN));

    let budgets = Budgets {
        device: Budget::new(Memory::Device, DEVICE_BYTES),
        pinned: Budget::new(Memory::Pinned, PINNED_BYTES),
    };
    let six = fuse(|x: In<f32, (Y, X)>| (((x * 0.5 + 1.0).abs().sqrt() - 0.25).max(0.5) / 3.0).store::<(Y, X)>());
    let seconds = wall_ms(3, || {
        let source = MemorySource::new(ArrayView2::from_shape((rows, COLUMNS), &values)?);
        let sink = MemorySink::new(ArrayViewMut2::from_shape((rows, COLUMNS), &mut results)?);
        let x = Array::<f32, (Y, X)>::new(&source, [rows, COLUMNS])?;
        let evaluation = Evaluation::new(&six, (&x,), &[&sink])?;
        evaluate(&session.device, &budgets, &evaluation, Control::default())?;
        drop(evaluation);
        Ok(Box::new(sink).commit()?)
    })? / 1e3;
    let six = |x: f32| (x.mul_add(0.5, 1.0).abs().sqrt() - 0.25).max(0.5) / 3.0;
    let wrong = values.par_iter().zip(&results).filter(|(x, got)| six(**x).to_bits() != got.to_bits()).count();
    if wrong != 0 {
        return Err(format!("{wrong} of {} values are wrong", results.len()).into());
    }

    let link = link::measure(session.gpu.stream())?;
    let bytes = (values.len() * size_of::<f32>()) as f64;
    let figures = [
        ("s", seconds, "s"),
        ("each_way_gbs", bytes / seconds * 1e-9, "GB/s"),
        ("share", bytes / seconds / link.both, "x"),
        ("link_both_gbs", link.both * 1e-9, "GB/s"),
        ("link_to_gpu_gbs", link.to_gpu * 1e-9, "GB/s"),
        ("link_to_host_gbs", link.to_host * 1e-9, "GB/s"),
    ];
    add(report, case, &figures);
    Ok(())
}
