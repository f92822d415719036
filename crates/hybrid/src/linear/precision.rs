use crate::{Error, matrix::Element};
use std::ops::RangeInclusive;

/// What products may be computed in. Nothing less precise than the element type is used unless it is asked for here.
///
/// How fast a device is in f64 decides where an operation runs, never what it is computed in: [`Rates`](crate::dispatch::Rates) have a rate
/// for each, a GPU whose f64 is slow gets fewer products of f64, and
/// [`Rates::preferred_precision`](crate::dispatch::Rates::preferred_precision) says what to store data in where there is a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// The element type's own: f64 in f64, f32 in f32 (never TF32), f16 and bf16 with sums in f32.
    #[default]
    Auto,
    /// Sums in f32, for f32, c64, f16 and bf16.
    F32,
    /// Sums of products in f64, rounded once, for every float.
    F64,
    /// Factors of f32 and c64 may be rounded to TF32 (10 bits of mantissa) on the way; sums are in f32. A CPU computes in f32.
    Tf32,
    /// Factors of f32 and c64 may be rounded to bf16 (7 bits of mantissa) on the way; sums are in f32. A CPU computes in f32.
    Bf16,
    /// Products of f64 and c128 by integers of a fixed point, on a GPU alone, meant for those whose f64 is slow; off by no more than
    /// [`Precision::error_bound`]. Factors keep so many bits below the largest element of their row of `a` or of their column of `b`, and so what is
    /// small beside that has fewer. cuBLAS does it, from 13.1 (CUDA 13.0 update 2) on; an older one is
    /// [`OldLibrary`](tilewright_driver::Error::OldLibrary). On GPUs where cuBLAS does not emulate it computes in f64, and the bound holds as well. On the GPU
    /// operands and result are taken for three times their bytes, since cuBLAS has memory of its own for the integers.
    F64Emulated {
        /// Bits that are kept besides the sign, 7 to 79: 55 are about as many as f64 has. They come by eights, 7, 15, 23 and so on; more are kept than asked
        /// for, never fewer.
        mantissa_bits: u32,
    },
}

/// The bits that factors may keep: one slice to ten.
const BITS: RangeInclusive<u32> = 7..=79;

/// What cuBLAS takes beside operands and result: slices, a byte for eight bits and up to a quarter more, which at the most bits are 12.5 bytes for the 8 of an
/// element, and of complex products four real results, which are twice the result (`getFixedPointWorkspaceSizeInBytes` of CUDALibrarySamples).
const EMULATED_IN_MEMORY: u64 = 3;

/// What [`Precision`] means for an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Own,
    /// In f64, and rounded once.
    Wide,
    Tf32,
    Bf16,
    /// f64 by integers of a fixed point.
    Emulated {
        mantissa_bits: u32,
    },
}

impl Precision {
    /// What emulated products with sums of `depth` terms are off by at most; nothing for other precisions. Of `alpha * a * b + beta * c` the element i, j is
    /// off by no more than `error_bound * |alpha| * max|a[i, ..]| * max|b[.., j]|` and the rounding of what is added, as long as no number on the way
    /// leaves the range of f64.
    ///
    /// Where from, with b bits: a row of `a` is divided by a power of two, at most 2.02 times its largest element, and a column of `b` likewise. Of each
    /// number `s = ceil((b + 1) / 8)` slices of 8 bits are kept, so that it loses at most `2^-b`; two losses for each product. Products of slices are
    /// exact, but those that weigh less than the last bit may be left out: `s - 1` of the largest weight, each at most `2 * 2^-b`, and others of 256
    /// times less. Together that is less than `2.1 s 2^-b` of a product, and with both powers of two less than `9 s 2^-b`. Sums are made in f64 from parts of the depth,
    /// which may be as short as one product, and of up to ten weights: `(depth + 14) 2^-53` of all absolute values, with `alpha` and `beta`. Products in f64,
    /// which cuBLAS makes of special numbers and where it does not emulate, are within that too. A complex product is taken for four times a real one of twice the depth, which allows
    /// for one that is made of three real products.
    ///
    /// It is a bound ahead, of the worst there can be: the number of bits is set (`CUDA_EMULATION_MANTISSA_CONTROL_FIXED`), not found from the numbers.
    ///
    /// Sources: Ootomo, Ozaki and Yokota, DGEMM on Integer Matrix Multiplication Unit (arXiv:2306.11975); Schwarz, Anders, Brower and others, Guaranteed DGEMM Accuracy
    /// While Using Reduced Precision Tensor Cores Through Extensions of the Ozaki Scheme (arXiv:2511.13778).
    ///
    /// ```
    /// use tilewright_hybrid::linear::Precision;
    ///
    /// let bound = |mantissa_bits| Precision::F64Emulated { mantissa_bits }.error_bound::<f64>(1000).unwrap();
    /// assert!((3e-3..4e-3).contains(&bound(23)) && (1e-10..2e-10).contains(&bound(55)));
    /// assert_eq!(Precision::Auto.error_bound::<f64>(1000), None);
    /// ```
    pub fn error_bound<T: Element>(self, depth: usize) -> Option<f64> {
        let Ok(Arithmetic::Emulated { mantissa_bits }) = self.arithmetic::<T>("an error bound") else { return None };
        let (times, depth) = if T::NAME == "c128" { (4.0, 2.0 * depth as f64) } else { (1.0, depth as f64) };
        let slices = f64::from((mantissa_bits + 1).div_ceil(8));
        let entering = 9.0 * slices * (-f64::from(mantissa_bits)).exp2();
        let adding = (depth + 14.0) * f64::EPSILON / 2.0;
        Some(times * depth * (entering + adding))
    }

    /// How often the bytes of operands and result are taken in the GPU's memory.
    pub(crate) fn times_in_memory(self) -> u64 {
        if matches!(self, Self::F64Emulated { .. }) { EMULATED_IN_MEMORY } else { 1 }
    }

    /// What it means for products of `T`, or [`Error::Unsupported`]: the same on the CPU and on the GPU.
    pub(crate) fn arithmetic<T: Element>(self, operation: &'static str) -> Result<Arithmetic, Error> {
        let (bits, own) = match T::NAME {
            "f64" | "c128" => (64, Arithmetic::Own),
            "f32" | "c64" => (32, Arithmetic::Wide),
            _ => (16, Arithmetic::Wide),
        };
        match (self, bits) {
            (Self::Auto, _) | (Self::F32, 16 | 32) | (Self::Tf32 | Self::Bf16, 16) => Ok(Arithmetic::Own),
            (Self::F64, _) => Ok(own),
            (Self::Tf32, 32) => Ok(Arithmetic::Tf32),
            (Self::Bf16, 32) => Ok(Arithmetic::Bf16),
            (Self::F64Emulated { mantissa_bits }, 64) if BITS.contains(&mantissa_bits) => {
                Ok(Arithmetic::Emulated { mantissa_bits })
            }
            (Self::F64Emulated { mantissa_bits }, _) => Err(Error::Unsupported {
                operation,
                element: T::NAME,
                place: "CPU and GPU",
                why: match bits {
                    64 => format!("emulated f64 keeps {} to {} bits, not {mantissa_bits}", BITS.start(), BITS.end()),
                    _ => "f64 and c128 are emulated; convert the operands, or ask for Precision::F64".into(),
                },
            }),
            _ => Err(Error::Unsupported {
                operation,
                element: T::NAME,
                place: "CPU and GPU",
                why: format!(
                    "{self:?} is less than the element type; convert the operands, or ask for Precision::Auto"
                ),
            }),
        }
    }
}

/// What is emulated is so on a GPU alone.
pub(crate) fn refused_on_cpu(operation: &'static str, element: &'static str) -> Error {
    let why = "f64 is emulated by cuBLAS alone; use the GPU, or ask for Precision::Auto, which is more precise".into();
    Error::Unsupported { operation, element, place: "CPU", why }
}
