//! Batches of products of matrices with vectors.

use super::asked::{added, asked, batched, is_stored, places, where_stored, where_there};
use super::banded::{Factors, part};
use super::delivered::write;
use super::multiplicand::Multiplicand;
use super::operand::{Form, Goal, Operand, Target};
use super::product::Multiplication;
use super::run::Route;
use super::{Accelerated, Device};
use crate::budget::Permit;
use crate::dispatch::{Decision, Job, MatvecExtents};
use crate::faults::Scale;
use crate::linear::{Arithmetic, Place, Precision, matmul_batched};
use crate::matrix::{Columns, Dense, Element, Rows, expect};
use crate::stream::{Control, MatvecPlan, Panel};
use crate::{Error, MatMut, MatRef};
use ndarray::{Array2, ArrayViewMut2, Axis, s};

const OPERATION: &str = "matvec_batched";

impl Device {
    /// `y[i] = alpha * a[i] * x[i] + beta * y[i]` for all i of a batch: `count` matrices of `rows x columns` that stand one below another in `a`, which is
    /// `count * rows x columns`. Their vectors stand below one another in `x`, of one column and `count * columns` rows, and so do results in `y`, of
    /// `count * rows` rows. An `x` of `columns` rows is one vector for all matrices. What NumPy has as stacks of matrices and of columns, and writes to NPY
    /// files, is read as this.
    ///
    /// Operands lie anywhere, and results go anywhere, as those of [`matmul`](Device::matmul): nothing of a `y` in host memory is changed before all
    /// of it is whole. What does not fit into the GPU's memory, and what is stored, goes through it in panels of some matrices, or of some rows of one
    /// ([`stream::matvec`](crate::stream::matvec)). That is rarely worth it: an element that is copied to the GPU is used once, and the CPU's memory is faster than
    /// the link; the decision says so, and [`Choice::Gpu`](crate::dispatch::Choice) has it done nevertheless. Where matrices lie on the GPU they stay: a batch with
    /// something there is one call, of what is brought to it whole; the CPU fetches it whole.
    ///
    /// Errors: [`Error::Shape`] where rows are not as many for each vector; [`Error::Unsupported`] for operands that are known by
    /// their diagonals, where there is a vector for each matrix; those of [`matmul`](Device::matmul).
    ///
    /// ```
    /// use ndarray::array;
    /// use tilewright_hybrid::{Device, linear::Precision};
    ///
    /// let a = array![[1.0, 2.0], [3.0, 4.0], /* and */ [5.0, 6.0], [7.0, 8.0]];
    /// let (x, mut y) = (array![1.0, 0.0, /* and */ 0.0, 1.0], array![0.0, 0.0, 0.0, 0.0]);
    /// Device::auto().matvec_batched(Precision::Auto, 1.0, (&a).into(), (&x).into(), 0.0, (&mut y).into())?;
    /// assert_eq!(y, array![1.0, 3.0, 6.0, 8.0]);
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn matvec_batched<T: Multiplicand>(
        &self,
        precision: Precision,
        alpha: T::Factor,
        a: Operand<'_, T>,
        x: Operand<'_, T>,
        beta: T::Factor,
        y: Target<'_, T>,
    ) -> Result<(), Error> {
        let extents = several([&a, &x], &y)?;
        let batch = Some(extents).filter(|extents| extents.count != 1);
        let factors = Factors { operation: OPERATION, precision, alpha, a, b: x, beta, batch };
        if batch.is_none() {
            return self.multiply(factors, y);
        }
        let job = several_asked(self.ordinal(), precision, extents, [&a, &x], beta != T::Factor::ZERO, &y)?;
        let product = Multiplication { factors, c: y, room: self.host_memory() };
        self.run(&job, Batch { product, extents }).map(|ran| ran.value)
    }

    /// Where such a batch would run, why, and what that is expected to take. Reads none of its operands, and leaves no record.
    pub fn plan_matvec_batched<T: Multiplicand>(
        &self,
        precision: Precision,
        [a, x]: [Operand<'_, T>; 2],
        beta: T::Factor,
        y: &Target<'_, T>,
    ) -> Result<Decision, Error> {
        let (extents, reads_y) = (several([&a, &x], y)?, beta != T::Factor::ZERO);
        self.plan(&match extents.count {
            1 => asked((OPERATION, self.ordinal()), precision, [&a, &x], reads_y, y)?,
            _ => several_asked(self.ordinal(), precision, extents, [&a, &x], reads_y, y)?,
        })
    }
}

/// The extents of a batch.
fn several<T: Multiplicand>([a, x]: [&Operand<'_, T>; 2], y: &Target<'_, T>) -> Result<MatvecExtents, Error> {
    expect(OPERATION, "columns of x", 1, x.shape().columns.0)?;
    expect(OPERATION, "columns of y", 1, y.shape().columns.0)?;
    expect(OPERATION, "rows of y", a.shape().rows.0, y.shape().rows.0)?;
    MatvecExtents::of(OPERATION, [a.shape().rows.0, a.shape().columns.0], x.shape().rows.0)
}

/// What a batch asks of a machine with this GPU.
fn several_asked<T: Multiplicand>(
    ordinal: Option<usize>,
    precision: Precision,
    extents: MatvecExtents,
    [a, x]: [&Operand<'_, T>; 2],
    reads_y: bool,
    y: &Target<'_, T>,
) -> Result<Job, Error> {
    if [a, x].iter().any(|it| matches!(it.0, Form::Diagonal(_))) {
        let why = "a diagonal has no matrices one below another; multiply by its values";
        return Err(Error::Unsupported {
            operation: OPERATION,
            element: T::NAME,
            place: "CPU and GPU",
            why: why.into(),
        });
    }
    let added = added(OPERATION, reads_y, y)?;
    let mut job = batched::<T>(OPERATION, precision, extents, places(OPERATION, [a, x], y)?, reads_y)?;
    where_stored(&mut job, [a, x], y, added);
    where_there(&mut job, ordinal, [a, x], y)?;
    Ok(job)
}

/// Several products: a vector for each matrix.
struct Batch<'a, T: Multiplicand> {
    product: Multiplication<'a, T>,
    extents: MatvecExtents,
}

impl<T: Multiplicand> Batch<'_, T> {
    /// Whether a GPU multiplies all of it by one call; else what is widened goes there matrix by matrix.
    fn is_one_call(&self) -> Result<bool, Error> {
        Ok(self.product.factors.precision.arithmetic::<T>(OPERATION)? != Arithmetic::Wide)
    }

    fn refuse_overlap(&self) -> Result<(), Error> {
        let (Factors { a, b, .. }, Goal::Host(y) | Goal::New(y)) = (&self.product.factors, &self.product.c.0) else {
            return Ok(());
        };
        for (operand, name) in [(a, "a"), (b, "x")] {
            if let Form::Host(matrix) = operand.0 {
                y.refuse_overlap(OPERATION, name, matrix)?;
            }
        }
        Ok(())
    }

    /// The panels in which it is computed whole: one, where all operands are in memory or go to a GPU, else some that the budget of host memory holds.
    fn panels(&self, place: &Place) -> Result<(MatvecPlan, Option<Permit>), Error> {
        let (extents, bytes, host) = (self.extents, size_of::<T>(), &self.product.room.host);
        let MatvecExtents { count, rows, .. } = extents;
        let whole = MatvecPlan { extents, element_bytes: bytes, matrices: count, rows, stages: 1 };
        let Factors { a, b, .. } = &self.product.factors;
        if !is_stored(a) && !is_stored(b) && !matches!(self.product.c.0, Goal::Stored(_)) {
            return Ok((whole, None));
        }
        let taken = |plan: &MatvecPlan| u64::try_from(plan.device_bytes()).unwrap_or(u64::MAX);
        if let Place::Gpu(_) = place {
            let permit = host.try_acquire(taken(&whole))?;
            return Ok((whole, Some(permit)));
        }
        let (plan, permit) = host.planned(host.available(), |available| {
            let plan = MatvecPlan::new(extents, bytes, available, 1)?;
            Ok((plan, taken(&plan)))
        })?;
        Ok((plan, Some(permit)))
    }

    /// A panel's products, added to what its part of the result is.
    fn multiply(
        &self,
        place: &Place,
        panel: &Panel,
        [a, b]: [&Operand<'_, T>; 2],
        mut y: ArrayViewMut2<'_, T>,
    ) -> Result<(), Error> {
        let Factors { precision, alpha, beta, .. } = &self.product.factors;
        let columns = self.extents.columns;
        let a = part(a, panel.below.clone(), 0..columns)?;
        let x = part(b, panel.vectors.clone(), 0..1)?;
        let (Form::Host(a), Form::Host(x)) = (a.operand().0, x.operand().0) else {
            unreachable!("diagonals were refused, and what is stored was read")
        };
        let (count, rows) = (panel.matrices.len(), panel.rows.len());
        let mut parts: Vec<_> = y.axis_chunks_iter_mut(Axis(0), rows.max(1)).collect();
        let mut y: Vec<MatMut<'_, T>> = parts.iter_mut().map(MatMut::from).collect();
        matmul_batched(place, *precision, *alpha, &below(a, count, rows)?, &below(x, count, columns)?, *beta, &mut y)
    }
}

/// So many matrices of as many rows each, that stand one below another.
fn below<T: Element>(all: MatRef<'_, T>, count: usize, rows: usize) -> Result<Vec<MatRef<'_, T>>, Error> {
    let one = |i: usize| all.part(Rows(i * rows)..Rows((i + 1) * rows), Columns(0)..Columns(all.columns()));
    (0..count).map(one).collect()
}

impl<T: Multiplicand> Route<()> for Batch<'_, T> {
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<(), Error> {
        self.refuse_overlap()?;
        if let (Place::Gpu(_), true) = (place, self.is_one_call()?) {
            return self.product.whole(place, control);
        }
        let fetched = self.product.fetched(true)?;
        let Factors { a, b, beta, .. } = self.product.factors.with(&fetched);
        if let Goal::Stored(kept) = &self.product.c.0 {
            kept.gather_within(&self.product.room.host)?;
        }
        let is_kept = !matches!(self.product.c.0, Goal::Stored(_));
        let kept = if is_kept { self.product.c.shape().bytes::<T>()?.0 as u64 } else { 0 };
        let _kept = self.product.room.host.try_acquire(kept)?;
        let (plan, _permit) = self.panels(place)?;
        let reads_y = beta != T::Factor::ZERO;
        let mut result = match &self.product.c.0 {
            Goal::Host(y) | Goal::New(y) => Some(if reads_y {
                y.read().to_dense()?.into_array()
            } else {
                Array2::from_elem((y.rows(), 1), T::ZERO)
            }),
            Goal::Gpu(there) if reads_y => Some(T::download(there.view())?),
            Goal::Gpu(there) => Some(Dense::zeros(there.shape())?.into_array()),
            _ => None,
        };
        let steps = plan.panels() as u64;
        for (done, panel) in (0..).zip(plan.each()) {
            control.check(done, steps)?;
            match (&mut result, &self.product.c.0) {
                (Some(y), _) => self.multiply(place, &panel, [&a, &b], y.slice_mut(s![panel.below.clone(), ..]))?,
                (None, Goal::Stored(kept)) => {
                    let mut part = kept.added::<T>(&panel.column(), beta)?;
                    self.multiply(place, &panel, [&a, &b], part.view_mut())?;
                    kept.write::<T>(&panel.column(), &part)?;
                }
                _ => {}
            }
            control.tell(done + 1, steps);
        }
        match (&mut self.product.c.0, result) {
            (Goal::Host(y) | Goal::New(y), Some(result)) => write(y, &result),
            (Goal::Gpu(there), Some(result)) => there.take((&result).into()),
            (Goal::Stored(kept), _) => kept.commit(),
            _ => Ok(()),
        }
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<(), Error> {
        self.product.in_tiles(gpu, scale, control)
    }
}
