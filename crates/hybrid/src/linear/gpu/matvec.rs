//! Products of several matrices with vectors, on the GPU where all of them lie: matrices, vectors and results stand one below another.

use tilewright_driver::blas::{self, Compute, Layout, Matrix, MatrixMut, Operation};

use super::matmul::{compute, copy_unless_direct, refuse_wide, refuse_wide_halves};
use super::{DeviceMat, DeviceRef, Gpu};
use crate::Error;
use crate::dispatch::MatvecExtents;
use crate::linear::{Multiply, Precision, Scalar, precision::Arithmetic};
use crate::matrix::Element;

impl Gpu {
    /// `y[i] = alpha * a[i] * x[i] + beta * y[i]` by one call; queued, not waited for. As [`matmul`](Self::matmul) otherwise.
    pub(crate) fn matvec_batched<T: Scalar + Multiply<Factor = T>>(
        &self,
        precision: Precision,
        (alpha, a, x): (T, DeviceRef<'_, T>, DeviceRef<'_, T>),
        beta: T,
        y: &mut DeviceMat<T>,
        extents: MatvecExtents,
    ) -> Result<(), Error> {
        let operation = "matvec_batched on the GPU";
        let arithmetic = precision.arithmetic::<T>(operation)?;
        if arithmetic == Arithmetic::Wide {
            return refuse_wide::<T>(operation);
        }
        let copies = [copy_unless_direct(&a)?, copy_unless_direct(&x)?];
        let factors = [(a, &copies[0]), (x, &copies[1])].map(|(view, copy)| {
            let view = copy.as_ref().map_or(view, DeviceMat::view);
            (view.operation().unwrap_or(Operation::Plain), view)
        });
        queue(compute(arithmetic), alpha, factors, beta, y, extents)
    }
}

/// The same of f16 or bf16, with sums in f32.
pub(crate) fn multiply_batch_of_halves_there<T>(
    precision: Precision,
    (alpha, a, x): (f32, DeviceRef<'_, T>, DeviceRef<'_, T>),
    beta: f32,
    y: &mut DeviceMat<T>,
    extents: MatvecExtents,
) -> Result<(), Error>
where
    T: Multiply<Factor = f32> + blas::Element<Coefficient = f32, Sum = T>,
{
    if precision.arithmetic::<T>("matvec_batched on the GPU")? == Arithmetic::Wide {
        return refuse_wide_halves::<T>();
    }
    let read = |view: DeviceRef<'_, T>| if view.is_transposed() { Operation::Transposed } else { Operation::Plain };
    queue(Compute::Own, alpha, [(read(a), a), (read(x), x)], beta, y, extents)
}

fn queue<T: Element + blas::Element<Sum = T>>(
    compute: Compute,
    alpha: T::Coefficient,
    [(op_a, a), (op_x, x)]: [(Operation, DeviceRef<'_, T>); 2],
    beta: T::Coefficient,
    y: &mut DeviceMat<T>,
    MatvecExtents { count, rows, columns }: MatvecExtents,
) -> Result<(), Error> {
    let blas = y.gpu().blas()?;
    let ((of_a, next_a), (of_x, next_x)) = (first((op_a, a.layout), rows), first((op_x, x.layout), columns));
    let factors = (Matrix::new(&a.matrix.buffer, of_a)?, Matrix::new(&x.matrix.buffer, of_x)?);
    let result = MatrixMut::new(&mut y.buffer, Layout::dense(rows, 1))?;
    let nexts = [next_a, next_x, rows];
    Ok(blas.gemm_batched(compute, alpha, (op_a, factors.0), (op_x, factors.1), beta, result, count, nexts)?)
}

/// The first of matrices of so many rows that stand one below another, and elements from each to the next.
fn first((operation, all): (Operation, Layout), rows: usize) -> (Layout, usize) {
    match operation {
        Operation::Plain => (Layout { rows, ..all }, rows),
        Operation::Transposed | Operation::Adjoint => (Layout { columns: rows, ..all }, rows * all.leading),
    }
}
