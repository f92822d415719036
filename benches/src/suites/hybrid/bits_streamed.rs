//! A product of bits from host memory to host memory, against the kernel alone on operands that are there.

use super::add;
use super::link;
use crate::Result;
use crate::cases::Random;
use crate::clock::wall_ms;
use crate::report::Report;
use crate::session::Session;
use ndarray::ArrayViewMut2;
use tilewright_hybrid::bits::gpu::{DeviceBitMatrix, DeviceProduct};
use tilewright_hybrid::bits::{BitMatrix, Product};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::store::{MemorySink, Sink};
use tilewright_hybrid::stream::bits::{Becomes, BitPlan, BitProduct, Bits, multiply};
use tilewright_hybrid::stream::{Budgets, Control};

/// What it may use of the GPU's memory, and of page-locked memory.
const DEVICE_BYTES: u64 = 4 << 30;
const PINNED_BYTES: u64 = 1 << 30;
/// A quick run has an eighth of the side.
const QUICK: usize = 8;
/// The part of the rows of both operands of which the kernel alone is timed.
const KERNEL_PART: usize = 8;
/// Rows of the result that are compared with the CPU's.
const CHECKED_ROWS: usize = 16;

/// Measures a square product of `size` rows: packed rows in, bits out, and the transposition of the right operand with it.
pub(super) fn run(session: &Session, case: &str, size: usize, quick: bool, report: &mut Report) -> Result<()> {
    let size = if quick { size / QUICK } else { size };
    let (a, b) = (BitMatrix::random(size, size, 0.5, 1)?, BitMatrix::random(size, size, 0.5, 2)?);
    // As many ones as zeros: of so many pairs a quarter is both set.
    let threshold = (size / 4) as u32;
    let (kernel, turned) = kernel(session, [&a, &b], threshold)?;

    let gpu = Gpu::new(session.gpu.stream());
    let budgets = Budgets {
        device: Budget::new(Memory::Device, DEVICE_BYTES),
        pinned: Budget::new(Memory::Pinned, PINNED_BYTES),
    };
    let (left, right) = (a.source(), b.source());
    let product = BitProduct::of(Bits::new(&left, size)?, Bits::new(&right, size)?)?;
    let becomes = Becomes::MoreThan(threshold);
    let per_row = a.words_per_row();
    let mut words = vec![u64::MAX; size * per_row];
    let all = wall_ms(3, || {
        let sink = MemorySink::new(ArrayViewMut2::from_shape((size, per_row), &mut words)?);
        multiply(&gpu, &budgets, &product, becomes, &sink, Control::default())?;
        Ok(Box::new(sink).commit()?)
    })? / 1e3;
    check(&BitMatrix::from_words(size, size, words)?, [&a, &turned], threshold)?;

    let plan = BitPlan::new(&product, becomes, DEVICE_BYTES)?;
    let operations = 2.0 * (size as f64).powi(3);
    let expected = plan.time(&link::measure(session.gpu.stream())?, operations / kernel);
    let figures = [
        ("s", all, "s"),
        ("kernel_s", kernel, "s"),
        ("expected_s", expected.wall, "s"),
        ("share", kernel / all, "x"),
        ("pops", operations / all * 1e-15, "POPS"),
    ];
    add(report, case, &figures);
    Ok(())
}

/// Seconds of the kernel alone for all of the product, and the transposed right operand.
fn kernel(session: &Session, [a, b]: [&BitMatrix; 2], threshold: u32) -> Result<(f64, BitMatrix)> {
    let stream = session.gpu.stream();
    let right = DeviceBitMatrix::upload(stream, b)?.transposed()?;
    // Of so many rows that the result's memory stays with the stream: what a whole one's takes to be there is no part of the kernel.
    let some = |seed| BitMatrix::random(a.rows() / KERNEL_PART, a.columns(), 0.5, seed);
    let [some_left, some_right] =
        [DeviceBitMatrix::upload(stream, &some(3)?)?, DeviceBitMatrix::upload(stream, &some(4)?)?];
    let product = DeviceProduct::of_rows(&some_left, &some_right)?;
    let us = session.clock.long_us(&mut |_| Ok(product.more_than(threshold).map(drop)?))?;
    Ok((us * 1e-6 * (KERNEL_PART * KERNEL_PART) as f64, right.download()?))
}

fn check(result: &BitMatrix, [a, turned]: [&BitMatrix; 2], threshold: u32) -> Result<()> {
    let mut random = Random::new(5);
    for _ in 0..CHECKED_ROWS {
        let row = random.below(a.rows());
        let expected = Product::of_rows(&a.row_range(row, 1)?, turned)?.more_than(threshold.into())?;
        if result.row_range(row, 1)? != expected {
            return Err(format!("row {row} of the result is another one").into());
        }
    }
    Ok(())
}
