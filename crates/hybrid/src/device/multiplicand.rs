//! What products on a device are made of, and what each type can do on a GPU.

use super::asked::SCALED;
use super::operand::{Diagonal, Form, Operand};
use super::widened::{self, Widening};
use crate::dispatch::MatvecExtents;
use crate::linear::{Arithmetic, DeviceMat, DeviceRef, Gpu, Lines, Multiply, Precision, Scalar};
use crate::linear::{multiply_batch_of_halves_there, multiply_halves_there, refuse_wide_halves};
use crate::matrix::{Columns, Element, Rows};
use crate::store::{Sink, Source, Stored};
use crate::stream::{self, Budgets, Control, Factor, Product};
use crate::{Complex32, Complex64, Error};
use half::{bf16, f16};
use ndarray::Array2;

/// What products larger than a GPU's memory are made of: `f32`, `f64`, c64 and c128.
pub trait Streamed:
    Scalar + Stored + Multiply<Factor = Self> + tilewright_driver::blas::Element<Coefficient = Self, Sum = Self>
{
}

impl<T> Streamed for T where
    T: Scalar + Stored + Multiply<Factor = T> + tilewright_driver::blas::Element<Coefficient = T, Sum = T>
{
}

/// What products on a [`Device`](crate::Device) are made of: `f32`, `f64`, c64 and c128, and f16 and bf16, whose sums are in f32. What does not fit is
/// streamed: halves as f32, and f32 and c64 with [`Precision::F64`] as f64 and c128.
pub trait Multiplicand: Multiply + Stored {
    /// As a number of the type that sums are in.
    #[doc(hidden)]
    fn widened(self) -> Self::Factor;

    /// The nearest number of this type.
    #[doc(hidden)]
    fn rounded(value: Self::Factor) -> Self;

    /// Whether a part of a matrix on a GPU comes to the host without the rest.
    #[doc(hidden)]
    const COMES_IN_PARTS: bool;

    /// Whether a GPU multiplies several pairs by one call.
    #[doc(hidden)]
    const IN_BATCHES: bool;

    /// Whether a GPU scales rows and columns.
    #[doc(hidden)]
    const SCALES_THERE: bool;

    /// A copy in host memory.
    #[doc(hidden)]
    fn download(matrix: DeviceRef<'_, Self>) -> Result<Array2<Self>, Error>;

    /// `c = alpha * a * b + beta * c` of matrices on a GPU, by that of `c`.
    #[doc(hidden)]
    fn multiply_there(
        precision: Precision,
        factors: (Self::Factor, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
        beta: Self::Factor,
        c: &mut DeviceMat<Self>,
    ) -> Result<(), Error>;

    /// The same where one factor is known by its diagonal, and the other one is on that GPU.
    #[doc(hidden)]
    fn scale_there(
        alpha: Self::Factor,
        factors: [Operand<'_, Self>; 2],
        beta: Self::Factor,
        c: &mut DeviceMat<Self>,
    ) -> Result<(), Error>;

    /// Bytes of the GPU's memory that this takes for a factor on the GPU, beside one that has values or is the identity.
    #[doc(hidden)]
    fn bytes_to_be_scaled(matrix: DeviceRef<'_, Self>, has_values: bool, reads_c: bool) -> Result<u64, Error>;

    /// The same for each matrix of `a`, with its part of `x`, into its part of `y`, by one call: there are some, and `alpha` is not 0.
    #[doc(hidden)]
    fn multiply_batch_there(
        precision: Precision,
        factors: (Self::Factor, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
        beta: Self::Factor,
        y: &mut DeviceMat<Self>,
        extents: MatvecExtents,
    ) -> Result<(), Error>;

    /// `sink = alpha * a * b + beta * c` in tiles, or, of vectors, in panels.
    #[doc(hidden)]
    fn stream(
        gpu: &Gpu,
        budgets: &Budgets,
        precision: Precision,
        factors: (Self::Factor, Factor<'_>, Factor<'_>),
        added: (Self::Factor, Option<&dyn Source>),
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<(), Error>;
}

/// `y[i] = alpha * a[i] * x[i] + beta * y[i]` of what lies on a GPU, matrices, vectors and results one below another.
pub(super) fn multiply_batch_there<T: Multiplicand>(
    precision: Precision,
    (alpha, a, x): (T::Factor, DeviceRef<'_, T>, DeviceRef<'_, T>),
    beta: T::Factor,
    y: &mut DeviceMat<T>,
    extents: MatvecExtents,
) -> Result<(), Error> {
    if alpha == T::Factor::ZERO || y.shape().is_empty() {
        // Nothing of either factor is read.
        let a = a.part(Rows(0)..a.shape().rows, Columns(0)..Columns(0))?;
        let x = x.part(Rows(0)..Rows(0), Columns(0)..Columns(1))?;
        return T::multiply_there(precision, (alpha, a, x), beta, y);
    }
    T::multiply_batch_there(precision, (alpha, a, x), beta, y, extents)
}

fn refuse_to_scale<T: Element>() -> Result<(), Error> {
    Err(Error::Unsupported { operation: "matmul", element: T::NAME, place: "GPU", why: SCALED.into() })
}

macro_rules! scalars {
    ($($type:ty => $wide:ty: $widen:expr, $round:expr;)*) => { $(
        impl Multiplicand for $type {
            const COMES_IN_PARTS: bool = true;
            const IN_BATCHES: bool = true;
            const SCALES_THERE: bool = true;

            fn widened(self) -> Self {
                self
            }

            fn rounded(value: Self) -> Self {
                value
            }

            fn download(matrix: DeviceRef<'_, Self>) -> Result<Array2<Self>, Error> {
                matrix.download()
            }

            fn multiply_there(
                precision: Precision,
                (alpha, a, b): (Self, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
                beta: Self,
                c: &mut DeviceMat<Self>,
            ) -> Result<(), Error> {
                c.gpu().clone().matmul(precision, alpha, a, b, beta, c)
            }

            fn scale_there(
                alpha: Self,
                factors: [Operand<'_, Self>; 2],
                beta: Self,
                c: &mut DeviceMat<Self>,
            ) -> Result<(), Error> {
                let (lines, diagonal, matrix) = match factors.map(|it| it.0) {
                    [Form::Diagonal(diagonal), Form::Gpu(matrix)] => (Lines::Rows, diagonal, matrix),
                    [Form::Gpu(matrix), Form::Diagonal(diagonal)] => (Lines::Columns, diagonal, matrix),
                    _ => return refuse_to_scale::<Self>(),
                };
                let values = match diagonal {
                    Diagonal::Ones(_) => None,
                    Diagonal::Of(values) => Some(values),
                };
                c.gpu().clone().scale_lines((lines, values), (alpha, matrix), beta, c)
            }

            fn bytes_to_be_scaled(matrix: DeviceRef<'_, Self>, has_values: bool, reads_c: bool) -> Result<u64, Error> {
                matrix.bytes_to_be_scaled(has_values, reads_c)
            }

            fn multiply_batch_there(
                precision: Precision,
                (alpha, a, x): (Self, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
                beta: Self,
                y: &mut DeviceMat<Self>,
                extents: MatvecExtents,
            ) -> Result<(), Error> {
                y.gpu().clone().matvec_batched(precision, (alpha, a, x), beta, y, extents)
            }

            fn stream(
                gpu: &Gpu,
                budgets: &Budgets,
                precision: Precision,
                (alpha, a, b): (Self, Factor<'_>, Factor<'_>),
                (beta, c): (Self, Option<&dyn Source>),
                sink: &dyn Sink,
                control: Control<'_>,
            ) -> Result<(), Error> {
                if precision.arithmetic::<Self>("a streamed product")? == Arithmetic::Wide {
                    let widening = Widening::<Self, $wide> { widen: $widen, round: $round };
                    let (alpha, beta) = ((widening.widen)(alpha), (widening.widen)(beta));
                    let through = (gpu, budgets, Precision::Auto);
                    return widened::stream(through, &widening, (alpha, a, b), (beta, c), sink, control);
                }
                let product = Product { a, b, c, alpha, beta };
                stream::multiply(gpu, budgets, precision, &product, sink, control).map(drop)
            }
        }
    )* };
}

scalars! {
    f32 => f64: f64::from, |wide| wide as f32;
    f64 => f64: |own| own, |own| own;
    Complex32 => Complex64: Scalar::wide, Scalar::nearest;
    Complex64 => Complex64: |own| own, |own| own;
}

macro_rules! halves {
    ($($type:ty),*) => { $(
        impl Multiplicand for $type {
            const COMES_IN_PARTS: bool = false;
            const IN_BATCHES: bool = false;
            const SCALES_THERE: bool = false;

            fn widened(self) -> f32 {
                self.to_f32()
            }

            fn rounded(value: f32) -> Self {
                Self::from_f32(value)
            }

            fn download(matrix: DeviceRef<'_, Self>) -> Result<Array2<Self>, Error> {
                matrix.download_whole()
            }

            fn multiply_there(
                precision: Precision,
                (alpha, a, b): (f32, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
                beta: f32,
                c: &mut DeviceMat<Self>,
            ) -> Result<(), Error> {
                multiply_halves_there(precision, (alpha, a, b), (beta, |beta, own| Self::rounded(beta * own.widened())), c)
            }

            fn scale_there(_: f32, _: [Operand<'_, Self>; 2], _: f32, _: &mut DeviceMat<Self>) -> Result<(), Error> {
                refuse_to_scale::<Self>()
            }

            fn bytes_to_be_scaled(_: DeviceRef<'_, Self>, _: bool, _: bool) -> Result<u64, Error> {
                Ok(0)
            }

            fn multiply_batch_there(
                precision: Precision,
                factors: (f32, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
                beta: f32,
                y: &mut DeviceMat<Self>,
                extents: MatvecExtents,
            ) -> Result<(), Error> {
                multiply_batch_of_halves_there(precision, factors, beta, y, extents)
            }

            /// As f32: TF32 holds each half, so that tensor cores multiply them exactly.
            fn stream(
                gpu: &Gpu,
                budgets: &Budgets,
                precision: Precision,
                factors: (f32, Factor<'_>, Factor<'_>),
                added: (f32, Option<&dyn Source>),
                sink: &dyn Sink,
                control: Control<'_>,
            ) -> Result<(), Error> {
                if precision.arithmetic::<Self>("a streamed product")? == Arithmetic::Wide {
                    return refuse_wide_halves::<Self>();
                }
                let widening = Widening { widen: Self::to_f32, round: Self::from_f32 };
                widened::stream((gpu, budgets, Precision::Tf32), &widening, factors, added, sink, control)
            }
        }
    )* };
}

halves!(f16, bf16);
