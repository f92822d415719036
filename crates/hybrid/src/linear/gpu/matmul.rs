//! Products.

use tilewright_driver::blas::{self, Compute, Layout, Matrix, MatrixMut, Operation};

use super::{DeviceMat, DeviceRef, Gpu, copies::uploaded, matrix::expect_shape};
use crate::linear::matmul::{Multiply, Product, fold};
use crate::linear::{Precision, Scalar, precision::Arithmetic};
use crate::matrix::{Columns, Dense, Element, Rows, Shape, expect};
use crate::{Error, MatMut, MatRef};

pub(super) fn compute(arithmetic: Arithmetic) -> Compute {
    match arithmetic {
        Arithmetic::Own | Arithmetic::Wide => Compute::Own,
        Arithmetic::Tf32 => Compute::Tf32,
        Arithmetic::Bf16 => Compute::Bf16,
        Arithmetic::Emulated { mantissa_bits } => Compute::Emulated { mantissa_bits },
    }
}

/// The result's memory, with what is there if that enters the result.
fn target<T: Element>(gpu: &Gpu, c: &MatMut<'_, T>, is_read: bool) -> Result<DeviceMat<T>, Error> {
    if is_read { DeviceMat::upload(gpu, c.read()) } else { DeviceMat::uninitialised(gpu, c.shape()) }
}

/// Products of scalars in host memory, in the type's own arithmetic or in less.
pub(crate) fn multiply_scalars<T: Scalar + Multiply<Factor = T>>(
    gpu: &Gpu,
    product: Product<'_, T>,
) -> Result<(), Error> {
    let Product { arithmetic, alpha, a, b, beta, c } = product.by_columns();
    let folded = fold(alpha, a, b)?;
    let (op_a, a) = uploaded(gpu, folded.a(a), T::COMPLEX)?;
    let (op_b, b) = uploaded(gpu, folded.b(b), T::COMPLEX)?;
    let mut result = target(gpu, &c, beta != T::ZERO)?;
    let operands = ((op_a, a.matrix()?), (op_b, b.matrix()?));
    queue(gpu, compute(arithmetic), folded.alpha, operands, beta, result.matrix_mut()?)?;
    result.download_to(c)
}

/// A matrix of one column is multiplied by the routine for vectors, which reads the matrix at the memory's full speed.
fn queue<T: Scalar>(
    gpu: &Gpu,
    compute: Compute,
    alpha: T,
    (a, b): ((Operation, Matrix<'_, T>), (Operation, Matrix<'_, T>)),
    beta: T,
    c: MatrixMut<'_, T>,
) -> Result<(), Error> {
    let blas = gpu.blas()?;
    let is_vector = c.layout().columns == 1 && b.0 == Operation::Plain && compute == Compute::Own;
    if is_vector {
        return Ok(blas.gemv(alpha, a, b.1, beta, c)?);
    }
    let extents = extents(a, c.layout());
    gpu.timed().around::<T>(gpu.stream(), (compute, extents), || Ok(blas.gemm(compute, alpha, a, b, beta, c)?))
}

/// Rows and columns of a result, and how many products each of its elements has.
fn extents<T: Element>((operation, a): (Operation, Matrix<'_, T>), c: Layout) -> [usize; 3] {
    let Layout { rows, columns, .. } = a.layout();
    [c.rows, c.columns, if operation == Operation::Plain { columns } else { rows }]
}

/// Products of halves, with sums in f32.
fn queue_halves<T: Element + blas::Element<Coefficient = f32, Sum = T>>(
    gpu: &Gpu,
    alpha: f32,
    (a, b): ((Operation, Matrix<'_, T>), (Operation, Matrix<'_, T>)),
    beta: f32,
    c: MatrixMut<'_, T>,
) -> Result<(), Error> {
    let (blas, extents) = (gpu.blas()?, extents(a, c.layout()));
    let multiply = || Ok(blas.gemm(Compute::Own, alpha, a, b, beta, c)?);
    gpu.timed().around::<T>(gpu.stream(), (Compute::Own, extents), multiply)
}

/// Operands become numbers of the larger type on the host; the result is rounded once.
pub(crate) fn multiply_widened<T: Multiply<Factor = T>, W: Scalar + Multiply<Factor = W>>(
    gpu: &Gpu,
    product: Product<'_, T>,
    widen: fn(T) -> W,
    narrow: fn(W) -> T,
) -> Result<(), Error> {
    let Product { alpha, a, b, beta, mut c, .. } = product;
    let wide = |operand: MatRef<'_, T>| -> Result<Dense<W>, Error> {
        // The scale too is applied in the larger type.
        Ok(operand.unscaled().to_dense()?.map(|_, _, value| widen(value)))
    };
    let (left, right, mut sum) = (wide(a)?, wide(b)?, Dense::<W>::zeros(c.shape())?);
    let before = if beta == T::ZERO { None } else { Some(wide(c.read())?) };
    if let Some(before) = before {
        sum = before;
    }
    let inner = Product {
        arithmetic: Arithmetic::Own,
        alpha: widen(alpha).times(widen(a.scale())).times(widen(b.scale())),
        a: left.view(),
        b: right.view(),
        beta: widen(beta),
        c: sum.view_mut(),
    };
    multiply_scalars(gpu, inner)?;
    c.elements().fill(|index| narrow(sum.values()[index]));
    Ok(())
}

/// Products of f16 and bf16 in host memory, with sums in f32.
pub(crate) fn multiply_halves<T>(gpu: &Gpu, product: Product<'_, T>) -> Result<(), Error>
where
    T: Multiply<Factor = f32> + blas::Element<Coefficient = f32, Sum = T>,
{
    let Product { alpha, a, b, beta, c, .. } = product.by_columns();
    let ((op_a, a), (op_b, b)) = (uploaded(gpu, a, false)?, uploaded(gpu, b, false)?);
    let mut result = target(gpu, &c, beta != 0.0)?;
    let factors = ((op_a, a.matrix()?), (op_b, b.matrix()?));
    queue_halves(gpu, alpha, factors, beta, result.matrix_mut()?)?;
    result.download_to(c)
}

/// `c = alpha * a * b + beta * c` of f16 or bf16 on a GPU, with sums in f32; `scaled` is an element times `beta`.
pub(crate) fn multiply_halves_there<T>(
    precision: Precision,
    (alpha, a, b): (f32, DeviceRef<'_, T>, DeviceRef<'_, T>),
    (beta, scaled): (f32, fn(f32, T) -> T),
    c: &mut DeviceMat<T>,
) -> Result<(), Error>
where
    T: Multiply<Factor = f32> + blas::Element<Coefficient = f32, Sum = T>,
{
    let operation = "matmul on the GPU";
    if precision.arithmetic::<T>(operation)? == Arithmetic::Wide {
        return refuse_wide_halves::<T>();
    }
    expect(operation, "rows of b", a.shape().columns.0, b.shape().rows.0)?;
    expect_shape(operation, Shape::new(a.shape().rows, b.shape().columns), c)?;
    let gpu = c.gpu().clone();
    if c.shape().is_empty() {
        return Ok(());
    }
    if a.shape().columns.0 == 0 || alpha == 0.0 {
        let values = match beta == 0.0 {
            true => Dense::zeros(c.shape())?,
            false => c.download_dense()?.map(|_, _, value| scaled(beta, value)),
        };
        return c.take(values.view());
    }
    let read = |view: DeviceRef<'_, T>| if view.is_transposed() { Operation::Transposed } else { Operation::Plain };
    let factors = ((read(a), a.stored()?), (read(b), b.stored()?));
    queue_halves(&gpu, alpha, factors, beta, c.matrix_mut()?)
}

pub(super) fn refuse_wide<T: Element>(operation: &'static str) -> Result<(), Error> {
    let why = "nothing converts on the device; upload the matrices as f64".into();
    Err(Error::Unsupported { operation, element: T::NAME, place: "GPU", why })
}

pub(crate) fn refuse_wide_halves<T: Element>() -> Result<(), Error> {
    let why = "cuBLAS adds products of halves in f32; use the CPU, or convert the operands to f64".into();
    Err(Error::Unsupported { operation: "matmul", element: T::NAME, place: "GPU", why })
}

/// Products of one size in host memory, by one call.
pub(crate) fn multiply_scalar_batch<T: Scalar + Multiply<Factor = T>>(
    gpu: &Gpu,
    products: Vec<Product<'_, T>>,
) -> Result<(), Error> {
    let Some(first) = products.first() else { return Ok(()) };
    let (count, alpha, beta, arithmetic) = (products.len(), first.alpha, first.beta, first.arithmetic);
    let shapes = [first.a.shape(), first.b.shape(), first.c.shape()];
    let lengths = [shapes[0].length::<T>()?.0, shapes[1].length::<T>()?.0, shapes[2].length::<T>()?.0];
    let all = |length: usize, pick: fn(&Product<'_, T>) -> Result<Dense<T>, Error>| -> Result<Vec<T>, Error> {
        let mut values = Vec::with_capacity(length * count);
        for product in &products {
            values.extend_from_slice(pick(product)?.values());
        }
        Ok(values)
    };
    let there = |values: &[T]| DeviceMat::upload(gpu, MatRef::column(values));
    let a = there(&all(lengths[0], |product| product.a.to_dense())?)?;
    let b = there(&all(lengths[1], |product| product.b.to_dense())?)?;
    let mut c = match beta == T::ZERO {
        true => DeviceMat::uninitialised(gpu, Shape::new(Rows(lengths[2] * count), Columns(1)))?,
        false => there(&all(lengths[2], |product| product.c.read().to_dense())?)?,
    };
    let layout = |shape: Shape| Layout::dense(shape.rows.0, shape.columns.0);
    gpu.blas()?.gemm_batched(
        compute(arithmetic),
        alpha,
        (Operation::Plain, Matrix::new(&a.buffer, layout(shapes[0]))?),
        (Operation::Plain, Matrix::new(&b.buffer, layout(shapes[1]))?),
        beta,
        MatrixMut::new(&mut c.buffer, layout(shapes[2]))?,
        count,
        lengths,
    )?;
    let results = c.download_dense()?;
    for (mut product, result) in products.into_iter().zip(results.values().chunks(lengths[2])) {
        product.c.elements().fill(|index| result[index]);
    }
    Ok(())
}

impl Gpu {
    /// `c = alpha * a * b + beta * c` of matrices on this GPU; queued, not waited for. What [`matmul`](crate::linear::matmul) says of alpha,
    /// beta and special numbers holds; [`Precision::F64`] of f32 is [`Error::Unsupported`], since nothing here converts on the device.
    pub fn matmul<T: Scalar + Multiply<Factor = T>>(
        &self,
        precision: Precision,
        alpha: T,
        a: DeviceRef<'_, T>,
        b: DeviceRef<'_, T>,
        beta: T,
        c: &mut DeviceMat<T>,
    ) -> Result<(), Error> {
        let operation = "matmul on the GPU";
        let arithmetic = precision.arithmetic::<T>(operation)?;
        if arithmetic == Arithmetic::Wide {
            return refuse_wide::<T>(operation);
        }
        expect(operation, "rows of b", a.shape().columns.0, b.shape().rows.0)?;
        expect_shape(operation, Shape::new(a.shape().rows, b.shape().columns), c)?;
        if c.shape().is_empty() {
            return Ok(());
        }
        if a.shape().columns.0 == 0 || alpha == T::ZERO {
            return Self::scale(beta, c);
        }
        let copies = [copy_unless_direct(&a)?, copy_unless_direct(&b)?];
        let [a, b] = [(a, &copies[0]), (b, &copies[1])].map(|(view, copy)| match copy {
            Some(copy) => Ok((Operation::Plain, copy.matrix()?)),
            None => Ok::<_, Error>((view.operation().unwrap_or(Operation::Plain), view.stored()?)),
        });
        queue(self, compute(arithmetic), alpha, (a?, b?), beta, c.matrix_mut()?)
    }

    pub(super) fn scale<T: Scalar>(beta: T, c: &mut DeviceMat<T>) -> Result<(), Error> {
        match beta == T::ZERO {
            true => c.fill_with_zeros(),
            false => Ok(c.gpu().blas()?.scale(beta, c.matrix_mut()?)?),
        }
    }
}

/// A copy of what cuBLAS cannot read as it is: scaled, or conjugated and not transposed.
pub(super) fn copy_unless_direct<T: Scalar>(view: &DeviceRef<'_, T>) -> Result<Option<DeviceMat<T>>, Error> {
    let direct = view.operation().is_some() && view.scale() == T::ONE;
    if direct { Ok(None) } else { view.copied().map(Some) }
}
