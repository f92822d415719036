//! Batches of products, of one size.

use super::Device;
use super::asked::{asked, streamed_bytes};
use super::banded::Factors;
use super::each::Each;
use super::multiplicand::Multiplicand;
use super::operand::{Form, Goal, Operand, Target};
use super::product::Multiplication;
use super::stacked::{Products, are_one_call};
use crate::dispatch::{Decision, Divisible, Job, MatvecExtents, Tiling};
use crate::linear::Precision;
use crate::matrix::{Element, expect};
use crate::{Error, MatMut, MatRef};

const OPERATION: &str = "matmul_batched";

impl Device {
    /// `c[i] = alpha * a[i] * b[i] + beta * c[i]` for all i, as [`crate::linear::matmul_batched`] has it. Where `b` are vectors, what does not fit into the GPU's
    /// memory goes through it in panels, as of [`matvec_batched`](Device::matvec_batched); other batches stay on the CPU then.
    ///
    /// Operands lie anywhere, as those of [`matmul`](Device::matmul) do, and results go anywhere: `a` and `b` are what becomes [`Operand`]s, `c` what becomes
    /// [`Target`]s. Where all of them are in host memory they are one call on a GPU, but for halves and for what is widened; else they are products one after the other, decided together, each
    /// of which is whole, and in its place, before the next one begins: what fails leaves those that were. What is stored is not streamed then, but read whole where
    /// the GPU has room for it.
    ///
    /// ```
    /// use ndarray::array;
    /// use tilewright_hybrid::{Device, linear::Precision};
    ///
    /// let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0], [6.0]]);
    /// let mut c = [array![[0.0], [0.0]], array![[0.0], [0.0]]];
    /// Device::auto().matmul_batched(Precision::Auto, 1.0, [&a, &a], [&b, &b], 0.0, &mut c)?;
    /// assert_eq!(c[0], array![[17.0], [39.0]]);
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn matmul_batched<'a, T: Multiplicand>(
        &self,
        precision: Precision,
        alpha: T::Factor,
        a: impl IntoIterator<Item: Into<Operand<'a, T>>>,
        b: impl IntoIterator<Item: Into<Operand<'a, T>>>,
        beta: T::Factor,
        c: impl IntoIterator<Item: Into<Target<'a, T>>>,
    ) -> Result<(), Error> {
        let (a, b): (Vec<Operand<'a, T>>, Vec<Operand<'a, T>>) =
            (a.into_iter().map(Into::into).collect(), b.into_iter().map(Into::into).collect());
        let mut c: Vec<Target<'a, T>> = c.into_iter().map(Into::into).collect();
        let reads_c = beta != T::Factor::ZERO;
        let Some(job) = job(self.ordinal(), precision, [&a, &b], reads_c, &c)? else { return Ok(()) };
        if let (Some(a), Some(b), Some(mut c)) = (in_memory(&a), in_memory(&b), targets_in_memory(&mut c)) {
            let products =
                Products { precision, alpha, a: &a, b: &b, beta, c: &mut c, room: self.host_memory(), done: 0 };
            return self.run(&job, products).map(|ran| ran.value);
        }
        let products = a.into_iter().zip(b).zip(c).map(|((a, b), c)| {
            let factors = Factors { operation: OPERATION, precision, alpha, a, b, beta, batch: None };
            Multiplication { factors, c, room: self.host_memory() }
        });
        self.run(&job, Each::of(products.collect())).map(|ran| ran.value)
    }

    /// Where such a batch would run, why, and what that is expected to take. Reads none of its operands, and leaves no record. [`Error::Shape`] for a batch of
    /// nothing, which runs nowhere.
    pub fn plan_batched<T: Multiplicand>(
        &self,
        precision: Precision,
        operands: [&[Operand<'_, T>]; 2],
        beta: T::Factor,
        c: &[Target<'_, T>],
    ) -> Result<Decision, Error> {
        let job = job(self.ordinal(), precision, operands, beta != T::Factor::ZERO, c)?;
        self.plan(&job.ok_or(Error::Shape { operation: OPERATION, what: "matrices", expected: 1, got: 0 })?)
    }
}

/// What a batch asks of a machine with this GPU; nothing where it has no product. Refuses products that are not of one size.
fn job<T: Multiplicand>(
    ordinal: Option<usize>,
    precision: Precision,
    [a, b]: [&[Operand<'_, T>]; 2],
    reads_c: bool,
    c: &[Target<'_, T>],
) -> Result<Option<Job>, Error> {
    let arithmetic = precision.arithmetic::<T>(OPERATION)?;
    expect(OPERATION, "matrices of b", a.len(), b.len())?;
    expect(OPERATION, "matrices of c", a.len(), c.len())?;
    let [Some(of_a), Some(of_b)] = [a, b].map(|all| all.first().map(Operand::shape)) else { return Ok(None) };
    let is_here = a.iter().chain(b).all(|it| matches!(it.0, Form::Host(_)))
        && c.iter().all(|it| matches!(it.0, Goal::Host(_) | Goal::New(_)));
    let mut all: Option<Job> = None;
    for ((one, other), c) in a.iter().zip(b).zip(c) {
        expect(OPERATION, "rows of a", of_a.rows.0, one.shape().rows.0)?;
        expect(OPERATION, "columns of a", of_a.columns.0, one.shape().columns.0)?;
        expect(OPERATION, "columns of b", of_b.columns.0, other.shape().columns.0)?;
        let job = asked((OPERATION, ordinal), precision, [one, other], reads_c, c)?;
        all = Some(match all {
            // By one call, or with vectors in panels.
            None if is_here => {
                let extents = MatvecExtents { count: a.len(), rows: of_a.rows.0, columns: of_a.columns.0 };
                let is_streamed = job.divisible.is_some() && of_b.columns.0 == 1;
                let bytes = streamed_bytes::<T>(arithmetic);
                let divisible = is_streamed.then_some((Divisible::Matvec(extents), bytes));
                let product = is_streamed.then(|| (extents.stacked(), bytes));
                let (of_one, all) = (job.device_bytes, job.repeated(a.len()));
                let device_bytes = if are_one_call::<T>(arithmetic) { all.device_bytes } else { of_one };
                Job { product, divisible, device_bytes, ..all }
            }
            // One after the other, and nothing is streamed: of one product too.
            None => Job { divisible: None, tiling: Tiling::AsNeeded, ..job },
            Some(all) if is_here => all,
            Some(all) => all.then(job),
        });
    }
    Ok(all)
}

/// All operands, if they are matrices in host memory.
fn in_memory<'a, T: Element>(operands: &[Operand<'a, T>]) -> Option<Vec<MatRef<'a, T>>> {
    let here = operands.iter().map(|operand| match operand.0 {
        Form::Host(matrix) => Some(matrix),
        Form::Gpu(_) | Form::Stored(_) | Form::Diagonal(_) => None,
    });
    here.collect()
}

/// All results, if they are wanted in host memory.
fn targets_in_memory<'t, T: Element>(targets: &'t mut [Target<'_, T>]) -> Option<Vec<MatMut<'t, T>>> {
    let here = targets.iter_mut().map(|target| match &mut target.0 {
        Goal::Host(matrix) | Goal::New(matrix) => Some(matrix.reborrow()),
        Goal::Gpu(_) | Goal::Stored(_) => None,
    });
    here.collect()
}
