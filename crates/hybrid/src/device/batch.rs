//! Batches of products of matrices with vectors.

use super::asked::{added, batched, is_stored, places, where_stored};
use super::banded::{Factors, part};
use super::multiplicand::Multiplicand;
use super::operand::{Form, Goal, Operand, Target};
use super::product::{Multiplication, write};
use super::run::Route;
use super::{Accelerated, Device};
use crate::budget::Permit;
use crate::dispatch::{Job, MatvecExtents};
use crate::faults::Scale;
use crate::linear::{Place, Precision, matmul_batched};
use crate::matrix::{Columns, Element, Rows, expect};
use crate::store::Extents;
use crate::stream::{Control, MatvecPlan, Panel};
use crate::{Error, MatMut, MatRef};
use ndarray::{Array2, ArrayViewMut2, Axis, s};

impl Device {
    /// `y[i] = alpha * a[i] * x[i] + beta * y[i]` for all i of a batch: `count` matrices of `rows x columns` that stand one below another in `a`, which is
    /// `count * rows x columns`. Their vectors stand below one another in `x`, of one column and `count * columns` rows, and so do results in `y`, of
    /// `count * rows` rows. An `x` of `columns` rows is one vector for all matrices. What NumPy has as stacks of matrices and of columns, and writes to NPY
    /// files, is read as this.
    ///
    /// Operands lie in host memory, in page-locked memory or in files, results go there, and as of [`matmul`](Device::matmul) nothing of `y` is changed before all
    /// of it is whole. What does not fit into the GPU's memory, and what is stored, goes through it in panels of some matrices, or of some rows of one
    /// ([`stream::matvec`](crate::stream::matvec)). That is rarely worth it: an element that is copied to the GPU is used once, and the CPU's memory is faster than
    /// the link; the decision says so, and [`Choice::Gpu`](crate::dispatch::Choice) has it done nevertheless.
    ///
    /// Errors: [`Error::Shape`] where rows are not as many for each vector; [`Error::Unsupported`] for operands on a GPU and for those that are known by
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
        let operation = "matvec_batched";
        expect(operation, "columns of x", 1, x.shape().columns.0)?;
        expect(operation, "columns of y", 1, y.shape().columns.0)?;
        expect(operation, "rows of y", a.shape().rows.0, y.shape().rows.0)?;
        let extents = MatvecExtents::of(operation, [a.shape().rows.0, a.shape().columns.0], x.shape().rows.0)?;
        let factors = Factors { operation, precision, alpha, a, b: x, beta };
        if extents.count == 1 {
            return self.multiply(factors, y);
        }
        let product = Multiplication { factors, c: y, host: self.host.clone() };
        let batch = Batch { product, extents };
        self.run(&batch.job()?, batch).map(|ran| ran.value)
    }
}

/// Several products: a vector for each matrix.
struct Batch<'a, T: Multiplicand> {
    product: Multiplication<'a, T>,
    extents: MatvecExtents,
}

impl<T: Multiplicand> Batch<'_, T> {
    fn job(&self) -> Result<Job, Error> {
        let (Factors { operation, precision, a, b, beta, .. }, y) = (&self.product.factors, &self.product.c);
        let is_elsewhere = |it: &Operand<'_, T>| matches!(it.0, Form::Gpu(_) | Form::Diagonal(_));
        if is_elsewhere(a) || is_elsewhere(b) || matches!(y.0, Goal::Gpu(_)) {
            let why = "batches lie in host memory or are stored; multiply what is on the GPU matrix by matrix";
            return Err(Error::Unsupported { operation, element: T::NAME, place: "CPU and GPU", why: why.into() });
        }
        let reads_y = *beta != T::Factor::ZERO;
        let added = added(operation, reads_y, y)?;
        let mut job = batched::<T>(operation, *precision, self.extents, places(operation, [a, b], y)?, reads_y)?;
        where_stored(&mut job, [a, b], y, added);
        Ok(job)
    }

    /// The panels in which it is computed whole: one, where all operands are in memory or go to a GPU, else some that the budget of host memory holds.
    fn panels(&self, place: &Place) -> Result<(MatvecPlan, Option<Permit>), Error> {
        let (extents, bytes, host) = (self.extents, size_of::<T>(), &self.product.host);
        let MatvecExtents { count, rows, .. } = extents;
        let whole = MatvecPlan { extents, element_bytes: bytes, matrices: count, rows, stages: 1 };
        let Factors { a, b, .. } = &self.product.factors;
        if !is_stored(a) && !is_stored(b) && !matches!(self.product.c.0, Goal::Stored(_)) {
            return Ok((whole, None));
        }
        let plan = match place {
            Place::Cpu => MatvecPlan::new(extents, bytes, host.available(), 1)?,
            Place::Gpu(_) => whole,
        };
        let permit = host.try_acquire(u64::try_from(plan.device_bytes()).unwrap_or(u64::MAX))?;
        Ok((plan, Some(permit)))
    }

    /// A panel's products, added to what its part of the result is.
    fn multiply(&self, place: &Place, panel: &Panel, mut y: ArrayViewMut2<'_, T>) -> Result<(), Error> {
        let (Factors { precision, alpha, a, b, beta, .. }, columns) = (&self.product.factors, self.extents.columns);
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
    fn whole(&mut self, place: &Place) -> Result<(), Error> {
        let Factors { operation, a, b, beta, .. } = self.product.factors;
        let all = Extents::new(self.product.c.shape().rows.0, 1).whole();
        // What is stored in blocks of several rows takes whole blocks, which panels are not.
        let gathers = matches!(&self.product.c.0, Goal::Stored(kept) if kept.grain().rows > 1);
        let is_kept = gathers || !matches!(self.product.c.0, Goal::Stored(_));
        let kept = if is_kept { self.product.c.shape().bytes::<T>()?.0 as u64 } else { 0 };
        let _kept = self.product.host.try_acquire(kept)?;
        let (plan, _permit) = self.panels(place)?;
        let reads_y = beta != T::Factor::ZERO;
        let mut result = match &self.product.c.0 {
            Goal::Host(y) | Goal::New(y) => {
                for (operand, name) in [(a, "a"), (b, "x")] {
                    if let Form::Host(matrix) = operand.0 {
                        y.refuse_overlap(operation, name, matrix)?;
                    }
                }
                Some(if reads_y {
                    y.read().to_dense()?.into_array()
                } else {
                    Array2::from_elem((y.rows(), 1), T::ZERO)
                })
            }
            Goal::Stored(kept) if gathers => Some(kept.added::<T>(&all, beta)?),
            _ => None,
        };
        for panel in plan.each() {
            match (&mut result, &self.product.c.0) {
                (Some(y), _) => self.multiply(place, &panel, y.slice_mut(s![panel.below.clone(), ..]))?,
                (None, Goal::Stored(kept)) => {
                    let mut part = kept.added::<T>(&panel.column(), beta)?;
                    self.multiply(place, &panel, part.view_mut())?;
                    kept.write::<T>(&panel.column(), &part)?;
                }
                _ => {}
            }
        }
        match (&mut self.product.c.0, result) {
            (Goal::Host(y) | Goal::New(y), Some(result)) => write(y, &result),
            (Goal::Stored(kept), result) => {
                result.map_or(Ok(()), |result| kept.write::<T>(&all, &result))?;
                kept.commit()
            }
            _ => Ok(()),
        }
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<(), Error> {
        self.product.in_tiles(gpu, scale, control)
    }
}
