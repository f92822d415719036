use bytemuck::{cast_slice, cast_slice_mut};
use half::{bf16, f16};
use num_complex::Complex;

use crate::Error;

/// The type of the elements of a stored array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE half precision.
    F16,
    /// The upper half of an [`Element::F32`]. NPY has no name for it: there it is written as [`Element::U16`].
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Two [`Element::F32`]: real and imaginary part.
    C64,
    /// Two [`Element::F64`]: real and imaginary part.
    C128,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// A byte that is 0 or 1.
    Bool,
}

impl Element {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Bool,
    ];

    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::C64 | Self::I64 | Self::U64 => 8,
            Self::C128 => 16,
        }
    }

    /// Bytes of what has an order of bytes in it: half of a complex number, else all.
    pub(super) fn word_bytes(self) -> usize {
        match self {
            Self::C64 | Self::C128 => self.bytes() / 2,
            _ => self.bytes(),
        }
    }

    /// Its name in Rust, `c64` and `c128` for complex numbers.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::C64 => "c64",
            Self::C128 => "c128",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Bool => "bool",
        }
    }
}

/// Types of Rust that are elements of stored arrays.
pub trait Stored: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The element.
    const ELEMENT: Element;
    /// The bytes of values.
    fn bytes(values: &[Self]) -> &[u8];
    /// Has values filled as bytes.
    fn fill(values: &mut [Self], read: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! stored {
    ($($type:ty => $element:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl Stored for $type {
            const ELEMENT: Element = Element::$element;
            fn bytes(values: &[Self]) -> &[u8] {
                cast_slice(values)
            }
            fn fill(values: &mut [Self], read: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
                read(cast_slice_mut(values))
            }
        }
    )*};
}

stored!(
    f16 => F16, bf16 => Bf16, f32 => F32, f64 => F64, Complex<f32> => C64, Complex<f64> => C128,
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64
);

impl sealed::Sealed for bool {}

impl Stored for bool {
    const ELEMENT: Element = Element::Bool;

    fn bytes(values: &[Self]) -> &[u8] {
        cast_slice(values)
    }

    fn fill(values: &mut [Self], read: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut bytes = vec![0; values.len()];
        read(&mut bytes)?;
        values.iter_mut().zip(bytes).for_each(|(value, byte)| *value = byte != 0);
        Ok(())
    }
}
