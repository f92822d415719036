//! Matrices of bits of which some are stored and none lies on a GPU: products in tiles on either processor, and what is made of elements as they are read.

use super::bit_operand::{BitOperand, BitSource, BitTarget, Goal};
use super::bits::Banded;
use super::{Accelerated, Device};
use crate::Error;
use crate::bits::BitMatrix;
use crate::bits::gpu::Combine;
use crate::dispatch::{At, Job, Operand};
use crate::store::{MemorySink, Sink};
use crate::stream::bits::{self, Becomes, BitProduct, BitSink, multiply_on_host};
use crate::stream::{Budgets, Control};
use ndarray::Array2;
use std::ops::Range;

/// Bytes of rows that are read together, of each operand.
const BAND: u64 = 64 << 20;

/// Why a GPU does not get what is read once.
const AS_READ: &str = "elements of what is stored are used as they are read";

impl Device {
    /// A product to a sink, which is not committed.
    pub(super) fn stored_product(
        &self,
        operation: &'static str,
        [left, right]: &[BitSource<'_>; 2],
        becomes: Becomes,
        (sink, at): (&dyn Sink, At),
    ) -> Result<(), Error> {
        let of = BitProduct::of(left.bits()?, right.bits()?)?;
        let job = of.job(becomes);
        let job = Job { operation, written: Operand { at, ..job.written }, ..job };
        // What is no sum is not verified, and counts are where all of both factors is there.
        let on_cpu = |control: Control<'_>| {
            multiply_on_host(&self.host, &of, becomes, sink, Control { verify: None, ..control })
        };
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, control: Control<'_>| {
            let control = Control { verify: None, ..control };
            bits::multiply(&gpu.gpu, budgets, &of, becomes, sink, control).map(drop)
        };
        self.run(&job, Banded { device: self, on_cpu, on_gpu }).map(|ran| ran.value)
    }

    /// A product of bits, where it is wanted.
    pub(super) fn stored_bits(
        &self,
        operation: &'static str,
        sources: &[BitSource<'_>; 2],
        becomes: Becomes,
        to: &mut BitTarget<'_>,
        [rows, columns]: [usize; 2],
    ) -> Result<(), Error> {
        let at = to.at();
        self.filled(to, [rows, columns], |sink| self.stored_product(operation, sources, becomes, (sink, at)))
    }

    /// Numbers, in host memory.
    pub(super) fn stored_numbers(
        &self,
        operation: &'static str,
        sources: &[BitSource<'_>; 2],
        becomes: Becomes,
        shape: (usize, usize),
    ) -> Result<Array2<i32>, Error> {
        let mut numbers = Array2::zeros(shape);
        let sink = MemorySink::new(numbers.view_mut());
        self.stored_product(operation, sources, becomes, (&sink, At::Pageable))?;
        Box::new(sink).commit()?;
        Ok(numbers)
    }

    /// Lets somebody write bits to a target that is not on a GPU, and commits them.
    fn filled(
        &self,
        to: &mut BitTarget<'_>,
        [rows, columns]: [usize; 2],
        fill: impl FnOnce(&dyn Sink) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &mut to.0 {
            Goal::Stored(kept) => {
                kept.filled(&self.host, fill)?;
                kept.commit()
            }
            Goal::Host(matrix) => {
                let mut made = BitMatrix::zeros(rows, columns)?;
                let _host = self.host.try_acquire(BitOperand::from(&made).padded_bytes())?;
                let sink = made.sink();
                fill(&sink)?;
                Box::new(sink).commit()?;
                **matrix = made;
                Ok(())
            }
            Goal::Gpu(_) => unreachable!("what is wanted on a GPU is gathered"),
        }
    }

    /// How many elements of each row are set, of what is stored.
    pub(super) fn counted_as_read(&self, job: Job, matrix: BitOperand<'_>) -> Result<Vec<u64>, Error> {
        let on_cpu = |control: Control<'_>| {
            let mut counts = Vec::with_capacity(matrix.rows());
            self.in_bands([matrix], control, |_, [band]| {
                counts.extend(band.row_counts());
                Ok(())
            })?;
            Ok(counts)
        };
        self.as_read(job, on_cpu)
    }

    /// Two matrices element by element, of which one is stored, or what becomes of them.
    pub(super) fn combined_as_read(
        &self,
        job: Job,
        combine: Combine,
        operands: [BitOperand<'_>; 2],
        to: &mut BitTarget<'_>,
    ) -> Result<(), Error> {
        let extents @ [_, columns] = [operands[0].rows(), operands[0].columns()];
        self.filled(to, extents, |sink| {
            let on_cpu = |control: Control<'_>| {
                let bits = BitSink::new(sink, columns)?;
                self.in_bands(operands, control, |rows, [one, other]| {
                    let combined = match combine {
                        Combine::And => one.and(&other),
                        Combine::Or => one.or(&other),
                        Combine::Xor => one.xor(&other),
                        Combine::AndNot => one.and_not(&other),
                    };
                    bits.write_rows(rows.start, combined?)
                })
            };
            self.as_read(job, on_cpu)
        })
    }

    /// What the CPU alone does, recorded as what it is.
    fn as_read<R>(&self, job: Job, on_cpu: impl FnMut(Control<'_>) -> Result<R, Error>) -> Result<R, Error> {
        let on_gpu = |gpu: &Accelerated, _: &Budgets, _: Control<'_>| Err(gpu.lacks_room());
        let job = Job { not_on_gpu: Some(AS_READ), ..job };
        self.run(&job, Banded { device: self, on_cpu, on_gpu }).map(|ran| ran.value)
    }

    /// Has bands of rows of all operands come to the host, as many as its budget holds, with one more that is made of them.
    fn in_bands<const N: usize>(
        &self,
        operands: [BitOperand<'_>; N],
        control: Control<'_>,
        mut visit: impl FnMut(Range<usize>, [BitMatrix; N]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rows = operands[0].rows();
        let of_row =
            (N as u64 + 1).saturating_mul(operands[0].padded_bytes().checked_div(rows as u64).unwrap_or(0)).max(1);
        let (height, _host) = self.host.planned(self.host.available(), |available| {
            let height = (available.min(BAND) / of_row).clamp(1, (rows as u64).max(1));
            Ok((height as usize, height.saturating_mul(of_row)))
        })?;
        let steps = rows.div_ceil(height) as u64;
        for (done, top) in (0..rows).step_by(height).enumerate() {
            control.check(done as u64, steps)?;
            let band = top..rows.min(top + height);
            let bands: Vec<_> = operands.iter().map(|it| it.rows_here(band.clone())).collect::<Result<_, _>>()?;
            let bands = bands.try_into().unwrap_or_else(|_| unreachable!("one of each"));
            visit(band, bands)?;
            control.tell(done as u64 + 1, steps);
        }
        Ok(())
    }
}
