//! Matrices of bits of which some lie on a GPU: what is asked of a machine, and how it runs; what is made of their elements.

use super::Device;
use super::bit_operand::{BitOperand, BitSource, BitTarget};
use super::run::Route;
use crate::Error;
use crate::bits::BitMatrix;
use crate::bits::gpu::{Combine, DeviceBitMatrix, UNCOUNTED, is_counted, row_bytes};
use crate::budget::Budget;
use crate::dispatch::{self, At, Job, Unit};
use crate::linear::Place;
use crate::matrix::expect;
use crate::stream::Control;
use std::cell::RefCell;

/// Kernels of a product: a transposition, counts of both operands' rows, and itself.
const LAUNCHES: u64 = 4;

/// What becomes of a product.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// Bits, wanted somewhere.
    Bits(At),
    /// Numbers, in host memory.
    Numbers,
    /// The same, for which rows of both operands are counted.
    Distances,
}

/// An operation on matrices of bits, and what it asks of a machine.
pub(super) struct Asked<'a, const N: usize> {
    pub(super) operands: [BitOperand<'a>; N],
    pub(super) job: Job,
}

impl<'a, const N: usize> Asked<'a, N> {
    /// With so many operations an element, and so many bytes of the GPU's memory beside operands that are brought there.
    fn new(
        operation: &'static str,
        operands: [BitOperand<'a>; N],
        written: dispatch::Operand,
        ((elements, operations), taken): ((u64, f64), u64),
        ordinal: Option<usize>,
    ) -> Self {
        let mut read = [None; 3];
        read.iter_mut().zip(&operands).for_each(|(read, operand)| *read = Some(operand.asked()));
        let mut job = Job::elementwise(operation, ("bit", Unit::Bits), (elements, operations), read, written);
        let brought = operands.iter().filter(|it| it.source().is_some()).map(|it| it.padded_bytes());
        job.device_bytes = brought.fold(taken, u64::saturating_add);
        // What comes to the host is granted when it comes.
        job.host_bytes = 0;
        job.steps = LAUNCHES;
        if operands.iter().any(|it| !is_counted(it.rows()) || !is_counted(it.columns())) {
            job.not_on_gpu = Some(UNCOUNTED);
        }
        let is_elsewhere = operands.iter().any(|it| it.is_elsewhere(ordinal));
        Asked { operands, job }.elsewhere(is_elsewhere)
    }

    /// Whether something of it lies on another GPU.
    pub(super) fn elsewhere(mut self, is_elsewhere: bool) -> Self {
        if is_elsewhere {
            self.job.not_on_gpu = Some("an operand lies on another GPU");
        }
        self
    }

    /// The operands, where all are in host memory.
    pub(super) fn in_host_memory(&self) -> Option<[&'a BitMatrix; N]> {
        let here = self.operands.map(|it| it.in_host_memory());
        here.iter().all(Option::is_some).then(|| here.map(|it| it.unwrap_or_else(|| unreachable!("all of them are"))))
    }

    /// The operands as sources, where none lies on a GPU, and the result is not wanted there, and one of them is stored, or is to be.
    pub(super) fn sources(&self, is_to_be_stored: bool) -> Option<[BitSource<'a>; N]> {
        let is_stored = is_to_be_stored || self.operands.iter().any(BitOperand::is_stored);
        let sources: Vec<_> = self.operands.iter().filter_map(BitOperand::source).collect();
        sources.try_into().ok().filter(|_| is_stored && !self.result_is_there())
    }

    /// Whether the result is wanted on a GPU.
    pub(super) fn result_is_there(&self) -> bool {
        self.job.written.at == At::Gpu
    }
}

impl<'a> Asked<'a, 2> {
    /// A product of matrices of m x k and k x n.
    pub(super) fn product(
        operation: &'static str,
        operands: [BitOperand<'a>; 2],
        wanted: Wanted,
        ordinal: Option<usize>,
    ) -> Self {
        let [rows, depth, columns] = [operands[0].rows(), operands[0].columns(), operands[1].columns()];
        let lines = |count: usize, bytes: u64| bytes.saturating_mul(count as u64);
        let (at, row) = match wanted {
            Wanted::Bits(at) => (at, row_bytes(columns)),
            Wanted::Numbers | Wanted::Distances => (At::Pageable, lines(columns, 4)),
        };
        let written = dispatch::Operand { bytes: lines(rows, row), at };
        let counts = if let Wanted::Distances = wanted { lines(rows, 4).saturating_add(lines(columns, 4)) } else { 0 };
        let transposed = lines(columns, row_bytes(depth));
        let taken = [transposed, counts].into_iter().fold(written.bytes, u64::saturating_add);
        let elements = lines(rows, columns as u64);
        Self::new(operation, operands, written, ((elements, 2.0 * depth as f64), taken), ordinal)
    }
}

/// Element-wise operations of matrices of bits, wherever they lie, as those of products do. Where one is stored, or what becomes of them is to be, and nothing lies on a GPU, the CPU makes them
/// band by band as they are read, so that all may be larger than memory.
impl Device {
    /// Two matrices element by element, into a third of their size, which is left as it was where anything fails. [`Error::Shape`] for other sizes.
    pub fn bit_combined_into<'a, 'b>(
        &self,
        combine: Combine,
        one: impl Into<BitOperand<'a>>,
        other: impl Into<BitOperand<'a>>,
        to: impl Into<BitTarget<'b>>,
    ) -> Result<(), Error> {
        let (operation, operands, mut to) = ("bit_combined", [one.into(), other.into()], to.into());
        let [rows, columns] = are_alike(operation, operands.each_ref())?;
        to.expect(operation, [rows, columns])?;
        let written = dispatch::Operand { bytes: operands[0].padded_bytes(), at: to.at() };
        let work = ((rows as u64).saturating_mul(columns as u64), 1.0);
        let asked = Asked::new(operation, operands, written, (work, written.bytes), self.ordinal());
        let asked = asked
            .elsewhere(operands.iter().any(|it| it.is_elsewhere(self.ordinal())) || to.is_elsewhere(self.ordinal()));
        if asked.sources(to.is_stored()).is_some() {
            return self.combined_as_read(asked.job, combine, operands, &mut to);
        }
        let to = RefCell::new(to);
        let here = |[one, other]: [&BitMatrix; 2]| {
            to.borrow_mut().put(match combine {
                Combine::And => one.and(other)?,
                Combine::Or => one.or(other)?,
                Combine::Xor => one.xor(other)?,
                Combine::AndNot => one.and_not(other)?,
            })
        };
        let there =
            |[one, other]: [&DeviceBitMatrix; 2]| to.borrow_mut().put_there(one.combined(combine, other)?, &self.host);
        self.with_bits(asked, here, there)
    }

    /// The same, in host memory.
    pub fn bit_combined<'a>(
        &self,
        combine: Combine,
        one: impl Into<BitOperand<'a>>,
        other: impl Into<BitOperand<'a>>,
    ) -> Result<BitMatrix, Error> {
        let (one, other) = (one.into(), other.into());
        let [rows, columns] = are_alike("bit_combined", [&one, &other])?;
        let mut made = BitMatrix::zeros(rows, columns)?;
        self.bit_combined_into(combine, one, other, &mut made).map(|()| made)
    }

    /// How many elements of each row are set. What is stored is counted as it is read, band by band within the budget of host memory, on the CPU.
    pub fn bit_row_counts<'a>(&self, matrix: impl Into<BitOperand<'a>>) -> Result<Vec<u64>, Error> {
        let matrix = matrix.into();
        let bytes = (matrix.rows() as u64).saturating_mul(4);
        let work = ((matrix.rows() as u64).saturating_mul(matrix.columns() as u64), 1.0);
        let written = dispatch::Operand { bytes, at: At::Pageable };
        let asked = Asked::new("bit_row_counts", [matrix], written, (work, bytes), self.ordinal());
        if matrix.is_stored() {
            return self.counted_as_read(asked.job, matrix);
        }
        self.with_bits(asked, |[matrix]| Ok(matrix.row_counts()), |[matrix]| matrix.row_counts())
    }

    /// How many elements are set.
    pub fn bit_count_ones<'a>(&self, matrix: impl Into<BitOperand<'a>>) -> Result<u64, Error> {
        self.bit_row_counts(matrix).map(|counts| counts.into_iter().sum())
    }

    /// Runs it where it is decided, with copies of what is not there.
    pub(super) fn with_bits<R, const N: usize>(
        &self,
        Asked { operands, job }: Asked<'_, N>,
        here: impl FnMut([&BitMatrix; N]) -> Result<R, Error>,
        there: impl FnMut([&DeviceBitMatrix; N]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        // What the CPU makes for a GPU is in host memory first.
        let made = if job.written.at == At::Gpu { job.written.bytes } else { 0 };
        self.run(&job, Gathered { operands, host: &self.host, made, here, there }).map(|ran| ran.value)
    }
}

/// Their rows and columns.
fn are_alike(operation: &'static str, [one, other]: [&BitOperand<'_>; 2]) -> Result<[usize; 2], Error> {
    expect(operation, "rows of the second matrix", one.rows(), other.rows())?;
    expect(operation, "columns of the second matrix", one.columns(), other.columns())?;
    Ok([one.rows(), one.columns()])
}

/// Matrices of bits on the processor that has them all.
struct Gathered<'a, const N: usize, H, T> {
    operands: [BitOperand<'a>; N],
    host: &'a Budget,
    /// Bytes of host memory that a result takes on its way from the CPU.
    made: u64,
    here: H,
    there: T,
}

impl<R, const N: usize, H, T> Route<R> for Gathered<'_, N, H, T>
where
    H: FnMut([&BitMatrix; N]) -> Result<R, Error>,
    T: FnMut([&DeviceBitMatrix; N]) -> Result<R, Error>,
{
    fn whole(&mut self, place: &Place, _: Control<'_>) -> Result<R, Error> {
        match place {
            Place::Cpu => {
                let come = self.operands.iter().filter(|it| it.in_host_memory().is_none()).map(|it| it.padded_bytes());
                let _host = self.host.try_acquire(come.fold(self.made, u64::saturating_add))?;
                let here = self.operands.map(|it| it.here());
                let here = here.into_iter().collect::<Result<Vec<_>, _>>()?;
                (self.here)(std::array::from_fn(|number| &*here[number]))
            }
            Place::Gpu(gpu) => {
                let read = self.operands.iter().filter(|it| it.is_stored()).map(|it| it.padded_bytes());
                let _host = self.host.try_acquire(read.fold(0, u64::saturating_add))?;
                let there = self.operands.map(|it| it.there(gpu.stream()));
                let there = there.into_iter().collect::<Result<Vec<_>, _>>()?;
                (self.there)(std::array::from_fn(|number| there[number].matrix()))
            }
        }
    }
}
