use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::{Product, folded, promoted};
use crate::linear::{Scalar, gpu, gpu::Gpu, precision::Arithmetic, precision::refused_on_cpu};
use crate::{Error, matrix::Element};

/// What matrices can be multiplied of: the scalars, and f16 and bf16.
#[allow(private_interfaces, reason = "sealed: called here alone")]
pub trait Multiply: Element {
    /// The type of `alpha` and `beta`: the element type, or f32 for the halves.
    type Factor: Scalar;

    /// `factor * value`, rounded once.
    fn scaled_by(factor: Self::Factor, value: Self) -> Self;

    #[doc(hidden)]
    fn multiply_on_cpu(product: Product<'_, Self>) -> Result<(), Error>;

    #[doc(hidden)]
    fn multiply_on_gpu(gpu: &Gpu, product: Product<'_, Self>) -> Result<(), Error>;

    #[doc(hidden)]
    fn multiply_batch_on_gpu(gpu: &Gpu, products: Vec<Product<'_, Self>>) -> Result<(), Error>;
}

macro_rules! scalars {
    ($($type:ty, $wide:ty, $widen:expr, $narrow:expr;)*) => { $(
        #[allow(private_interfaces, reason = "as in the trait")]
        impl Multiply for $type {
            type Factor = $type;

            fn scaled_by(factor: Self, value: Self) -> Self {
                factor.times(value)
            }

            fn multiply_on_cpu(product: Product<'_, Self>) -> Result<(), Error> {
                match product.arithmetic {
                    Arithmetic::Wide => promoted::multiply::<Self, $wide>(product, $widen, $narrow, $widen),
                    Arithmetic::Emulated { .. } => Err(refused_on_cpu("matmul", Self::NAME)),
                    _ => folded::multiply(product),
                }
            }

            fn multiply_on_gpu(gpu: &Gpu, product: Product<'_, Self>) -> Result<(), Error> {
                match product.arithmetic {
                    Arithmetic::Wide => gpu::multiply_widened::<Self, $wide>(gpu, product, $widen, $narrow),
                    _ => gpu::multiply_scalars(gpu, product),
                }
            }

            fn multiply_batch_on_gpu(gpu: &Gpu, products: Vec<Product<'_, Self>>) -> Result<(), Error> {
                match products.first().map(|product| product.arithmetic) {
                    Some(Arithmetic::Wide) => {
                        products.into_iter().try_for_each(|product| Self::multiply_on_gpu(gpu, product))
                    }
                    _ => gpu::multiply_scalar_batch(gpu, products),
                }
            }
        }
    )* };
}

scalars! {
    f32, f64, f64::from, |x| x as f32;
    f64, f64, |x| x, |x| x;
    Complex32, Complex64, |x| x.wide(), Complex32::nearest;
    Complex64, Complex64, |x| x, |x| x;
}

macro_rules! halves {
    ($($type:ty),*) => { $(
        #[allow(private_interfaces, reason = "as in the trait")]
        impl Multiply for $type {
            type Factor = f32;

            fn scaled_by(factor: f32, value: Self) -> Self {
                Self::from_f32(factor * value.to_f32())
            }

            fn multiply_on_cpu(product: Product<'_, Self>) -> Result<(), Error> {
                match product.arithmetic {
                    Arithmetic::Wide => {
                        promoted::multiply::<Self, f64>(product, Self::to_f64, Self::from_f64, f64::from)
                    }
                    _ => promoted::multiply::<Self, f32>(product, Self::to_f32, Self::from_f32, |factor| factor),
                }
            }

            fn multiply_on_gpu(gpu: &Gpu, product: Product<'_, Self>) -> Result<(), Error> {
                match product.arithmetic {
                    Arithmetic::Wide => gpu::refuse_wide_halves::<Self>(),
                    _ => gpu::multiply_halves(gpu, product),
                }
            }

            fn multiply_batch_on_gpu(gpu: &Gpu, products: Vec<Product<'_, Self>>) -> Result<(), Error> {
                products.into_iter().try_for_each(|product| Self::multiply_on_gpu(gpu, product))
            }
        }
    )* };
}

halves!(f16, bf16);
