//! One product: what it asks of a machine, and how it runs where its operands lie.

use super::multiplicand::Multiplicand;
use super::operand::{Form, Goal, Operand, Target};
use super::run::Route;
use super::source::MatrixSource;
use super::{Accelerated, diagonal};
use crate::budget::{Budget, Memory, Permit};
use crate::dispatch::{self, At, Job, ProductExtents, Unit};
use crate::faults::Scale;
use crate::linear::{Arithmetic, DeviceMat, DeviceRef, Gpu, IntegerElement, Place, Precision, holds_every_sum, matmul};
use crate::matrix::{Dense, Element, Shape, expect};
use crate::store::{MemorySink, Sink, Source};
use crate::stream::{Budgets, Control};
use crate::{Error, MatMut, MatRef};
use ndarray::Array2;
use rayon::prelude::*;

/// What becomes of factors that are known by their diagonals.
const SCALED: &str = "the CPU scales rows and columns";

/// `c = alpha * a * b + beta * c`.
pub(super) struct Multiplication<'a, T: Multiplicand> {
    pub(super) operation: &'static str,
    pub(super) precision: Precision,
    pub(super) alpha: T::Factor,
    pub(super) a: Operand<'a, T>,
    pub(super) b: Operand<'a, T>,
    pub(super) beta: T::Factor,
    pub(super) c: Target<'a, T>,
}

/// A product of matrices in host memory.
pub(super) fn planned<T: Multiplicand>(precision: Precision, [a, b]: [Shape; 2], reads_c: bool) -> Result<Job, Error> {
    dense::<T>("matmul", precision, [a, b], [At::Pageable; 3], reads_c)
}

fn dense<T: Multiplicand>(
    operation: &'static str,
    precision: Precision,
    [a, b]: [Shape; 2],
    places: [At; 3],
    reads_c: bool,
) -> Result<Job, Error> {
    expect(operation, "rows of b", a.columns.0, b.rows.0)?;
    let arithmetic = precision.arithmetic::<T>(operation)?;
    let extents = ProductExtents { rows: a.rows.0, columns: b.columns.0, depth: a.columns.0 };
    let job = Job::matmul((T::NAME, size_of::<T>(), unit::<T>(arithmetic)), extents, places, reads_c)?;
    let is_streamed = T::STREAMS && arithmetic != Arithmetic::Wide && !places.contains(&At::Gpu);
    let mut job = Job { operation, divisible: job.divisible.filter(|_| is_streamed), ..job };
    if arithmetic == Arithmetic::Wide {
        // Both, and what is added, are there in the larger type.
        job.device_bytes = job.device_bytes.saturating_mul(2);
        job.not_on_gpu = match (T::STREAMS, places.contains(&At::Gpu)) {
            (false, _) => Some("cuBLAS adds products of halves in f32"),
            (true, true) => Some("nothing converts on the device"),
            (true, false) => None,
        };
    }
    Ok(job)
}

/// A product of integers in host memory.
pub(super) fn integers<T: IntegerElement>(a: Shape, b: Shape) -> Result<Job, Error> {
    let operation = "matmul_integer";
    expect(operation, "rows of b", a.columns.0, b.rows.0)?;
    let extents = ProductExtents { rows: a.rows.0, columns: b.columns.0, depth: a.columns.0 };
    let job = Job::matmul((T::NAME, size_of::<T>(), Unit::Integer), extents, [At::Pageable; 3], false)?;
    let written = dispatch::Operand { bytes: Shape::new(a.rows, b.columns).bytes::<T::Sum>()?.0 as u64, ..job.written };
    let device_bytes = job.device_bytes - job.written.bytes + written.bytes;
    let not_on_gpu = match T::NAME {
        "i8" if holds_every_sum::<T>(a.columns.0) => None,
        "i8" => Some("sums may overflow an i32, which cuBLAS does not tell"),
        _ => Some("cuBLAS multiplies no integers of 32 bits"),
    };
    Ok(Job { operation, written, device_bytes, not_on_gpu, divisible: None, ..job })
}

fn unit<T: Element>(arithmetic: Arithmetic) -> Unit {
    match (T::NAME, arithmetic) {
        ("f64" | "c128", _) | (_, Arithmetic::Wide) => Unit::F64,
        (_, Arithmetic::Tf32) => Unit::Tf32,
        ("f16" | "bf16", _) | (_, Arithmetic::Bf16) => Unit::Half,
        _ => Unit::F32,
    }
}

impl<T: Multiplicand> Multiplication<'_, T> {
    /// What it asks of a machine. Sizes that do not fit are [`Error::Shape`].
    pub(super) fn job(&self) -> Result<Job, Error> {
        let (a, b, c) = (self.a.shape(), self.b.shape(), self.c.shape());
        expect(self.operation, "rows of b", a.columns.0, b.rows.0)?;
        expect(self.operation, "rows of c", a.rows.0, c.rows.0)?;
        expect(self.operation, "columns of c", b.columns.0, c.columns.0)?;
        let places = [at(&self.a), at(&self.b), if matches!(self.c.0, Goal::Gpu(_)) { At::Gpu } else { At::Pageable }];
        let mut job = dense::<T>(self.operation, self.precision, [a, b], places, self.beta != T::Factor::ZERO)?;
        let sides = [&self.a, &self.b].map(|it| match it.0 {
            Form::Diagonal(diagonal) => Some(diagonal),
            _ => None,
        });
        if let Some(diagonal) = sides.iter().flatten().next() {
            // Two multiplications for each element, and an addition.
            let elements = c.rows.0 as f64 * c.columns.0 as f64;
            let bytes = (diagonal.side() * size_of::<T>()) as u64;
            for (operand, _) in job.read.iter_mut().zip(sides).filter(|(_, side)| side.is_some()) {
                *operand = operand.map(|it| dispatch::Operand { bytes, ..it });
            }
            job.flops = 3.0 * elements;
            job.divisible = None;
            job.not_on_gpu = Some(SCALED);
        }
        Ok(job)
    }

    /// Whether something lies on another GPU than this one.
    pub(super) fn is_elsewhere(&self, ordinal: Option<usize>) -> bool {
        let of = |gpu: &Gpu| Some(gpu.stream().device().ordinal()) != ordinal;
        let operand = |operand: &Operand<'_, T>| matches!(operand.0, Form::Gpu(matrix) if of(matrix.gpu()));
        operand(&self.a) || operand(&self.b) || matches!(&self.c.0, Goal::Gpu(matrix) if of(matrix.gpu()))
    }
}

fn at<T: Element>(operand: &Operand<'_, T>) -> At {
    if matches!(operand.0, Form::Gpu(_)) { At::Gpu } else { At::Pageable }
}

impl<T: Multiplicand> Route<()> for Multiplication<'_, T> {
    fn whole(&mut self, place: &Place) -> Result<(), Error> {
        match place {
            Place::Cpu => self.on_cpu(),
            Place::Gpu(gpu) => self.on_gpu(gpu),
        }
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<(), Error> {
        let (Form::Host(a), Form::Host(b), Goal::Host(c) | Goal::New(c)) = (self.a.0, self.b.0, &mut self.c.0) else {
            return Err(gpu.lacks_room());
        };
        c.refuse_overlap(self.operation, "a", a)?;
        c.refuse_overlap(self.operation, "b", b)?;
        let mut result = Array2::from_elem((c.rows(), c.columns()), T::ZERO);
        let sink = MemorySink::new(result.view_mut());
        let added = (self.beta, &MatrixSource(c.read()) as &dyn Source);
        let factors = (self.alpha, &MatrixSource(a) as &dyn Source, &MatrixSource(b) as &dyn Source);
        let (budgets, _permit) = gpu.smaller(scale)?;
        T::stream(&gpu.gpu, &budgets, self.precision, factors, added, &sink, control)?;
        Box::new(sink).commit()?;
        write(c, &result)
    }
}

impl<T: Multiplicand> Multiplication<'_, T> {
    fn on_cpu(&mut self) -> Result<(), Error> {
        let Multiplication { operation, precision, alpha, a, b, beta, .. } = *self;
        let copies = [downloaded(&a)?, downloaded(&b)?];
        let [a, b] = [(a, &copies[0]), (b, &copies[1])].map(|(own, copy)| copy.as_ref().map_or(own, Operand::from));
        let multiply = |c: MatMut<'_, T>| match (a.0, b.0) {
            (Form::Host(a), Form::Host(b)) => matmul(&Place::Cpu, precision, alpha, a, b, beta, c),
            _ => diagonal::multiply(operation, alpha, [a, b], beta, c),
        };
        match &mut self.c.0 {
            Goal::Host(c) | Goal::New(c) => multiply(c.reborrow()),
            Goal::Gpu(there) => {
                let reads_c = beta != T::Factor::ZERO;
                let mut c =
                    if reads_c { T::download(there.view())? } else { Dense::zeros(there.shape())?.into_array() };
                multiply((&mut c).into())?;
                **there = DeviceMat::upload(there.gpu(), (&c).into())?;
                Ok(())
            }
        }
    }

    fn on_gpu(&mut self, gpu: &Gpu) -> Result<(), Error> {
        let Multiplication { precision, alpha, a, b, beta, .. } = *self;
        if let (Form::Host(a), Form::Host(b)) = (a.0, b.0) {
            let place = Place::Gpu(gpu.clone());
            match &mut self.c.0 {
                Goal::New(c) => return matmul(&place, precision, alpha, a, b, beta, c.reborrow()),
                Goal::Host(c) => {
                    c.refuse_overlap(self.operation, "a", a)?;
                    c.refuse_overlap(self.operation, "b", b)?;
                    return committed(c, beta != T::Factor::ZERO, |c| matmul(&place, precision, alpha, a, b, beta, c));
                }
                Goal::Gpu(_) => {}
            }
        }
        let copies = [uploaded(gpu, &a)?, uploaded(gpu, &b)?];
        let factors = (alpha, there(&a, &copies[0])?, there(&b, &copies[1])?);
        match &mut self.c.0 {
            Goal::Gpu(c) => T::multiply_there(precision, factors, beta, c),
            Goal::Host(c) | Goal::New(c) => {
                let mut result = match beta == T::Factor::ZERO {
                    true => DeviceMat::uninitialised(gpu, c.shape())?,
                    false => DeviceMat::upload(gpu, c.read())?,
                };
                T::multiply_there(precision, factors, beta, &mut result)?;
                write(c, &result.download()?)
            }
        }
    }
}

fn downloaded<T: Multiplicand>(operand: &Operand<'_, T>) -> Result<Option<Array2<T>>, Error> {
    match operand.0 {
        Form::Gpu(matrix) => T::download(matrix).map(Some),
        _ => Ok(None),
    }
}

fn uploaded<T: Multiplicand>(gpu: &Gpu, operand: &Operand<'_, T>) -> Result<Option<DeviceMat<T>>, Error> {
    match operand.0 {
        Form::Host(matrix) => DeviceMat::upload(gpu, matrix).map(Some),
        _ => Ok(None),
    }
}

/// An operand on the GPU: where it was, or its copy.
fn there<'a, T: Multiplicand>(
    operand: &Operand<'a, T>,
    copy: &'a Option<DeviceMat<T>>,
) -> Result<DeviceRef<'a, T>, Error> {
    match (operand.0, copy) {
        (Form::Gpu(matrix), _) => Ok(matrix),
        (_, Some(copy)) => Ok(copy.view()),
        _ => Err(Error::Unsupported { operation: "matmul", element: T::NAME, place: "GPU", why: SCALED.into() }),
    }
}

/// Bytes that a thread copies in a row.
const COPIED: usize = 1 << 20;

/// Has a result computed in memory of its own, which begins as `c` is where that is read, and puts it into `c` when it is whole: a device may
/// fail in the midst of a copy.
fn committed<T: Element>(
    c: &mut MatMut<'_, T>,
    reads_c: bool,
    compute: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    // As `c` lies, so that nothing is rearranged.
    let lies_by_rows = c.elements().as_columns().is_none() && c.reborrow().t().elements().as_columns().is_some();
    let mut c = if lies_by_rows { c.reborrow().t() } else { c.reborrow() };
    let mut own = if reads_c { c.read().to_dense()? } else { Dense::zeros(c.shape())? };
    compute(if lies_by_rows { own.view_mut().t() } else { own.view_mut() })?;
    let each = COPIED / size_of::<T>();
    match c.elements().as_columns() {
        Some(values) => {
            let parts = values.par_chunks_mut(each).zip(own.values().par_chunks(each));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
        }
        None => c.elements().fill(|index| own.values()[index]),
    }
    Ok(())
}

/// Puts an array where a result is wanted.
fn write<T: Element>(c: &mut MatMut<'_, T>, result: &Array2<T>) -> Result<(), Error> {
    // Elements are visited column by column.
    let whole = MatRef::from(result).to_dense()?;
    c.elements().fill(|index| whole.values()[index]);
    Ok(())
}

impl Accelerated {
    /// Budgets whose memory of the GPU is halved as often as it was short, and leave to use that.
    pub(super) fn smaller(&self, scale: Scale) -> Result<(Budgets, Option<Permit>), Error> {
        if scale.halvings() == 0 {
            return Ok((self.budgets.clone(), None));
        }
        let available = usize::try_from(self.budgets.device.available()).unwrap_or(usize::MAX);
        let permit = self.budgets.device.try_acquire(scale.of(available) as u64)?;
        let device = Budget::new(Memory::Device, permit.bytes());
        Ok((Budgets { device, pinned: self.budgets.pinned.clone() }, Some(permit)))
    }
}
