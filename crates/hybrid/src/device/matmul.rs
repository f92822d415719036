//! Products of matrices on whichever processor is expected to be faster.

use super::operands::MatrixSource;
use super::{Accelerated, Device};
use crate::budget::{Budget, Memory};
use crate::dispatch::{At, Choice, Decision, Extents, Job, Side, Unit, decide};
use crate::faults::{Attempt, Policy, Scale};
use crate::linear::{Multiply, Place, Precision, Scalar, matmul};
use crate::matrix::{Element, Shape};
use crate::store::{MemorySink, Sink, Stored};
use crate::stream::{self, Budgets, Control, Factor, Form, Product};
use crate::{Error, MatMut, MatRef};
use ndarray::Array2;
use std::cell::RefCell;

/// What products on a [`Device`] are made of: `f32`, `f64`, c64 and c128. Halves are multiplied by [`crate::linear::matmul`].
pub trait Streamed:
    Scalar + Stored + Multiply<Factor = Self> + tilewright_driver::blas::Element<Coefficient = Self, Sum = Self>
{
}

impl<T> Streamed for T where
    T: Scalar + Stored + Multiply<Factor = T> + tilewright_driver::blas::Element<Coefficient = T, Sum = T>
{
}

const OPERATION: &str = "matmul";

impl Device {
    /// Where a product of an `a` and a `b` of these shapes would run, why, and what that is expected to take: bytes, tiles, times. Computes
    /// nothing, and leaves no record. `reads_c` says whether something is added.
    pub fn plan_matmul<T: Streamed>(
        &self,
        precision: Precision,
        [a, b]: [Shape; 2],
        reads_c: bool,
    ) -> Result<Decision, Error> {
        let job = job::<T>(precision, [a, b], reads_c)?;
        Decision::of(&job, self.choice, &self.rates(), self.budget(job.bytes()))
    }

    /// `c = alpha * a * b + beta * c`, as [`crate::linear::matmul`] has it, on the processor that is expected to be faster. What does not fit
    /// into the GPU's memory is streamed through it. Nothing of `c` is changed before the result is whole; what fails on the GPU is tried
    /// with smaller tiles, then on the CPU, as the policy says.
    pub fn matmul<T: Streamed>(
        &self,
        precision: Precision,
        alpha: T,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        beta: T,
        c: MatMut<'_, T>,
    ) -> Result<(), Error> {
        let job = job::<T>(precision, [a.shape(), b.shape()], beta != T::ZERO)?;
        let decision = decide(&job, self.choice, &self.rates(), self.budget(job.bytes()))?;
        let on_cpu = |c: MatMut<'_, T>| matmul(&Place::Cpu, precision, alpha, a, b, beta, c);
        let (Side::Gpu, Some(gpu)) = (decision.side, &self.gpu) else { return on_cpu(c) };
        let c = RefCell::new(c);
        let streamed = decision.gpu.as_ref().is_some_and(|it| it.tiles.is_some());
        let on_gpu = |scale: Scale| {
            let mut c = c.borrow_mut();
            if streamed || scale.halvings() > 0 {
                return gpu.stream_matmul(precision, (alpha, a, b), (beta, c.reborrow()), scale);
            }
            matmul(&Place::Gpu(gpu.gpu.clone()), precision, alpha, a, b, beta, c.reborrow())
        };
        // Who asked for the GPU is told that it failed.
        let policy = match self.choice {
            Choice::Gpu => Policy::FailFast,
            _ => gpu.breaker.settings().policy,
        };
        let attempt = Attempt::new(OPERATION, &gpu.breaker).policy(policy);
        attempt.run(on_gpu, |_| on_cpu(c.borrow_mut().reborrow())).map(drop)
    }
}

fn job<T: Streamed>(precision: Precision, [a, b]: [Shape; 2], reads_c: bool) -> Result<Job, Error> {
    crate::matrix::expect(OPERATION, "rows of b", a.columns.0, b.rows.0)?;
    let extents = Extents { rows: a.rows.0, columns: b.columns.0, depth: a.columns.0 };
    let element = (T::NAME, size_of::<T>(), unit::<T>(precision));
    Job::matmul(element, extents, [At::Pageable; 3], reads_c)
}

fn unit<T: Element>(precision: Precision) -> Unit {
    match (T::NAME, precision) {
        ("f64" | "c128", _) | (_, Precision::F64) => Unit::F64,
        (_, Precision::Tf32) => Unit::Tf32,
        (_, Precision::Bf16) => Unit::Half,
        _ => Unit::F32,
    }
}

impl Accelerated {
    /// By tiles, of a memory that is halved as often as it was short.
    fn stream_matmul<T: Streamed>(
        &self,
        precision: Precision,
        (alpha, a, b): (T, MatRef<'_, T>, MatRef<'_, T>),
        (beta, mut c): (T, MatMut<'_, T>),
        scale: Scale,
    ) -> Result<(), Error> {
        let mut result = Array2::from_elem((c.rows(), c.columns()), T::ZERO);
        let added = c.read();
        let (a, b, added) = (MatrixSource(a), MatrixSource(b), MatrixSource(added));
        let factor = |source| Factor { source, form: Form::Plain };
        let product = Product { a: factor(&a), b: factor(&b), c: Some(&added), alpha, beta };
        let sink = MemorySink::new(result.view_mut());
        stream::matmul(&self.gpu, &self.smaller(scale), precision, &product, &sink, Control::default())?;
        Box::new(sink).commit()?;
        // Elements are visited column by column.
        let whole = MatRef::from(&result).to_dense()?;
        c.elements().fill(|index| whole.values()[index]);
        Ok(())
    }

    fn smaller(&self, scale: Scale) -> Budgets {
        if scale.halvings() == 0 {
            return self.budgets.clone();
        }
        let available = usize::try_from(self.budgets.device.available()).unwrap_or(usize::MAX);
        Budgets { device: Budget::new(Memory::Device, scale.of(available) as u64), pinned: self.budgets.pinned.clone() }
    }
}
