//! Element types: what a scalar value is, on both machines.

use crate::matrix::{Affine, Perspective};
use half::{bf16, f16};
use std::fmt;

/// The type of one scalar value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// `bool`, one byte, 0 or 1.
    Bool,
    /// `u8`.
    U8,
    /// `i8`.
    I8,
    /// `u16`.
    U16,
    /// `i16`.
    I16,
    /// `u32`.
    U32,
    /// `i32`.
    I32,
    /// `u64`.
    U64,
    /// `i64`.
    I64,
    /// `half::f16`: IEEE binary16.
    F16,
    /// `half::bf16`: the upper half of an `f32`.
    BF16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl DType {
    /// Every element type.
    pub const ALL: [DType; 13] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::U64,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];

    /// Bytes of one value.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::U8 | DType::I8 => 1,
            DType::U16 | DType::I16 | DType::F16 | DType::BF16 => 2,
            DType::U32 | DType::I32 | DType::F32 => 4,
            DType::U64 | DType::I64 | DType::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// Whether this is `f16` or `bf16`: stored in 16 bits, computed with in `f32`.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// Whether this is an integer that can be negative.
    pub const fn is_signed(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// The Rust name.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "u8",
            DType::I8 => "i8",
            DType::U16 => "u16",
            DType::I16 => "i16",
            DType::U32 => "u32",
            DType::I32 => "i32",
            DType::U64 => "u64",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// The CUDA C++ type of what is read from memory: of `bool` bytes, of which every one but 0 is true.
    pub const fn cuda_read(self) -> &'static str {
        match self {
            DType::Bool => "unsigned char",
            _ => self.cuda(),
        }
    }

    /// The CUDA C++ name.
    pub const fn cuda(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "unsigned char",
            DType::I8 => "signed char",
            DType::U16 => "unsigned short",
            DType::I16 => "short",
            DType::U32 => "unsigned",
            DType::I32 => "int",
            DType::U64 => "unsigned long long",
            DType::I64 => "long long",
            DType::F16 => "tw::f16",
            DType::BF16 => "tw::bf16",
            DType::F32 => "float",
            DType::F64 => "double",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A constant: the bits of one value, zero-extended to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Its type.
    pub dtype: DType,
    /// Its bits.
    pub bits: u64,
}

impl Scalar {
    /// The constant `value`.
    pub fn of<T: Value>(value: T) -> Self {
        Scalar { dtype: T::DTYPE, bits: value.to_bits64() }
    }

    /// The constant as a `T`; `T` must be its own type.
    pub fn get<T: Value>(self) -> T {
        debug_assert_eq!(self.dtype, T::DTYPE);
        T::from_bits64(self.bits)
    }

    /// The value as an `i64`, for integer types.
    pub fn as_i64(self) -> Option<i64> {
        Some(match self.dtype {
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => self.bits as i64,
            DType::I8 => self.bits as i8 as i64,
            DType::I16 => self.bits as i16 as i64,
            DType::I32 => self.bits as i32 as i64,
            DType::I64 => self.bits as i64,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => return None,
        })
    }
}

/// A scalar type that expressions compute with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    label = "expected `bool`, an integer or a float",
    note = "rectangles are read by `.crop`; they are not computed with, nor stored"
)]
pub trait Value: Copy + Default + PartialEq + PartialOrd + Send + Sync + fmt::Debug + 'static {
    /// Its run-time name.
    const DTYPE: DType;
    /// Its bits, zero-extended.
    fn to_bits64(self) -> u64;
    /// The value with these bits (higher ones ignored).
    fn from_bits64(bits: u64) -> Self;
}

macro_rules! values {
    ($($t:ty, $d:ident, $to:expr, $from:expr;)*) => { $(
        impl Value for $t {
            const DTYPE: DType = DType::$d;
            #[inline(always)]
            fn to_bits64(self) -> u64 { ($to)(self) }
            #[inline(always)]
            fn from_bits64(bits: u64) -> Self { ($from)(bits) }
        }
    )* };
}
values! {
    bool, Bool, |v: bool| v as u64, |b: u64| b & 1 == 1;
    u8, U8, |v: u8| v as u64, |b: u64| b as u8;
    i8, I8, |v: i8| v as u8 as u64, |b: u64| b as i8;
    u16, U16, |v: u16| v as u64, |b: u64| b as u16;
    i16, I16, |v: i16| v as u16 as u64, |b: u64| b as i16;
    u32, U32, |v: u32| v as u64, |b: u64| b as u32;
    i32, I32, |v: i32| v as u32 as u64, |b: u64| b as i32;
    u64, U64, |v: u64| v, |b: u64| b;
    i64, I64, |v: i64| v as u64, |b: u64| b as i64;
    f16, F16, |v: f16| v.to_bits() as u64, |b: u64| f16::from_bits(b as u16);
    bf16, BF16, |v: bf16| v.to_bits() as u64, |b: u64| bf16::from_bits(b as u16);
    f32, F32, |v: f32| v.to_bits() as u64, |b: u64| f32::from_bits(b as u32);
    f64, F64, |v: f64| v.to_bits(), f64::from_bits;
}

/// A rectangle of pixels: its corner with the smallest coordinates, and its size. Boxes are tensors of these.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Rect {
    /// First column.
    pub x: i32,
    /// First row.
    pub y: i32,
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
}

impl Rect {
    /// The rectangle of `width` x `height` pixels whose first pixel is (`x`, `y`).
    pub const fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        Rect { x, y, width, height }
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} at ({}, {})", self.width, self.height, self.x, self.y)
    }
}

/// What a tensor holds: a scalar, or a small struct of equal scalars such as [`Rect`].
#[diagnostic::on_unimplemented(
    message = "tensors cannot hold `{Self}`",
    label = "expected an element type",
    note = "elements are `bool`, integers of 8 to 64 bits, `f16`, `bf16`, `f32`, `f64`, `Rect`, `Affine` and `Perspective`"
)]
pub trait Element: Copy + Send + Sync + fmt::Debug + 'static {
    /// The type of each component.
    const DTYPE: DType;
    /// Components: 1 for scalars, 4 for [`Rect`], 6 for [`Affine`], 9 for [`Perspective`].
    const COMPONENTS: u8;
    /// A slice of elements as a typed host slice.
    fn slice(values: &[Self]) -> HostSlice<'_>;
    /// As [`Element::slice`], for writing. `None` for structs, which are never stored.
    fn slice_mut(values: &mut [Self]) -> Option<HostSliceMut<'_>>;
}

macro_rules! elements {
    ($($t:ident $v:ident),*) => {
        /// Host memory of a known element type, read.
        #[derive(Clone, Copy, Debug)]
        pub enum HostSlice<'a> {
            $(#[doc = concat!("`", stringify!($t), "` values.")] $v(&'a [$t]),)*
            /// Rectangles.
            Rect(&'a [Rect]),
            /// Affine maps.
            Affine(&'a [Affine]),
            /// Perspective maps.
            Perspective(&'a [Perspective]),
        }
        /// Host memory of a known element type, written.
        #[derive(Debug)]
        pub enum HostSliceMut<'a> {
            $(#[doc = concat!("`", stringify!($t), "` values.")] $v(&'a mut [$t]),)*
        }
        impl HostSlice<'_> {
            /// Elements.
            pub fn len(&self) -> usize {
                match self {
                    $(HostSlice::$v(s) => s.len(),)*
                    HostSlice::Rect(s) => s.len(),
                    HostSlice::Affine(s) => s.len(),
                    HostSlice::Perspective(s) => s.len(),
                }
            }
        }
        impl HostSliceMut<'_> {
            /// Elements.
            pub fn len(&self) -> usize {
                match self { $(HostSliceMut::$v(s) => s.len(),)* }
            }
            /// Their type.
            pub fn dtype(&self) -> DType {
                match self { $(HostSliceMut::$v(_) => DType::$v,)* }
            }
            /// The elements from `start` on; none if there are not so many.
            pub(crate) fn tail(&mut self, start: usize) -> HostSliceMut<'_> {
                let start = start.min(self.len());
                match self { $(HostSliceMut::$v(s) => HostSliceMut::$v(&mut s[start..]),)* }
            }
        }
        $(impl Element for $t {
            const DTYPE: DType = DType::$v;
            const COMPONENTS: u8 = 1;
            fn slice(values: &[Self]) -> HostSlice<'_> { HostSlice::$v(values) }
            fn slice_mut(values: &mut [Self]) -> Option<HostSliceMut<'_>> { Some(HostSliceMut::$v(values)) }
        })*
    };
}
elements!(bool Bool, u8 U8, i8 I8, u16 U16, i16 I16, u32 U32, i32 I32, u64 U64, i64 I64, f16 F16, bf16 BF16, f32 F32, f64 F64);

impl Element for Rect {
    const DTYPE: DType = DType::I32;
    const COMPONENTS: u8 = 4;
    fn slice(values: &[Self]) -> HostSlice<'_> {
        HostSlice::Rect(values)
    }
    fn slice_mut(_: &mut [Self]) -> Option<HostSliceMut<'_>> {
        None
    }
}

impl HostSlice<'_> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl HostSliceMut<'_> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
