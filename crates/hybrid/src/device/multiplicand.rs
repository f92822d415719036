//! What products on a device are made of, and what each type can do on a GPU.

use crate::linear::{DeviceMat, DeviceRef, Gpu, Multiply, Precision, Scalar};
use crate::matrix::Element;
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

/// What products on a [`Device`](crate::Device) are made of: `f32`, `f64`, c64 and c128, which are streamed where they do not fit, and f16
/// and bf16, which are not.
pub trait Multiplicand: Multiply + Stored {
    /// Whether products of any size can go through a GPU.
    #[doc(hidden)]
    const STREAMS: bool;

    /// As a number of the type that sums are in.
    #[doc(hidden)]
    fn widened(self) -> Self::Factor;

    /// The nearest number of this type.
    #[doc(hidden)]
    fn rounded(value: Self::Factor) -> Self;

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

macro_rules! scalars {
    ($($type:ty),*) => { $(
        impl Multiplicand for $type {
            const STREAMS: bool = true;

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

            fn stream(
                gpu: &Gpu,
                budgets: &Budgets,
                precision: Precision,
                (alpha, a, b): (Self, Factor<'_>, Factor<'_>),
                (beta, c): (Self, Option<&dyn Source>),
                sink: &dyn Sink,
                control: Control<'_>,
            ) -> Result<(), Error> {
                let product = Product { a, b, c, alpha, beta };
                stream::multiply(gpu, budgets, precision, &product, sink, control).map(drop)
            }
        }
    )* };
}

scalars!(f32, f64, Complex32, Complex64);

macro_rules! halves {
    ($($type:ty),*) => { $(
        impl Multiplicand for $type {
            const STREAMS: bool = false;

            fn widened(self) -> f32 {
                self.to_f32()
            }

            fn rounded(value: f32) -> Self {
                Self::from_f32(value)
            }

            fn download(_: DeviceRef<'_, Self>) -> Result<Array2<Self>, Error> {
                Err(refused::<Self>())
            }

            fn multiply_there(
                _: Precision,
                _: (f32, DeviceRef<'_, Self>, DeviceRef<'_, Self>),
                _: f32,
                _: &mut DeviceMat<Self>,
            ) -> Result<(), Error> {
                Err(refused::<Self>())
            }

            fn stream(
                _: &Gpu,
                _: &Budgets,
                _: Precision,
                _: (f32, Factor<'_>, Factor<'_>),
                _: (f32, Option<&dyn Source>),
                _: &dyn Sink,
                _: Control<'_>,
            ) -> Result<(), Error> {
                Err(refused::<Self>())
            }
        }
    )* };
}

halves!(f16, bf16);

fn refused<T: Element>() -> Error {
    let why =
        "halves are multiplied from host memory, where all of them fit into the GPU's; convert them to f32".into();
    Error::Unsupported { operation: "matmul", element: T::NAME, place: "GPU", why }
}
