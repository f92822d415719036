use crate::{Error, matrix::Element};

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
}

/// What [`Precision`] means for an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Own,
    /// In f64, and rounded once.
    Wide,
    Tf32,
    Bf16,
}

impl Precision {
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
