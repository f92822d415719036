use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// An element type, as libraries are told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Two f32.
    C64,
    /// Two f64.
    C128,
    /// Signed bytes.
    I8,
    /// Sums of products of them.
    I32,
}

/// What matrices can be multiplied of.
pub trait Element: Pod + sealed::Sealed {
    /// The type of `alpha` and `beta`.
    type Coefficient: Pod;
    /// The type of sums of products.
    type Sum: Pod;
    /// This type.
    const KIND: Kind;
    /// The type of sums of products.
    const SUM: Kind;
}

/// What triangular systems, factorisations and eigenvalues are of.
pub trait Scalar: Element<Coefficient = Self, Sum = Self> {
    /// The type of absolute values.
    type Magnitude: Scalar + Into<f64>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty, $coefficient:ty, $sum:ty, $kind:ident, $of_sum:ident;)*) => { $(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            type Coefficient = $coefficient;
            type Sum = $sum;
            const KIND: Kind = Kind::$kind;
            const SUM: Kind = Kind::$of_sum;
        }
    )* };
}

elements! {
    f16, f32, f16, F16, F16;
    bf16, f32, bf16, Bf16, Bf16;
    f32, f32, f32, F32, F32;
    f64, f64, f64, F64, F64;
    Complex32, Complex32, Complex32, C64, C64;
    Complex64, Complex64, Complex64, C128, C128;
    i8, i32, i32, I8, I32;
}

macro_rules! scalars {
    ($($type:ty: $magnitude:ty;)*) => { $(
        impl Scalar for $type {
            type Magnitude = $magnitude;
        }
    )* };
}

scalars! {
    f32: f32;
    f64: f64;
    Complex32: f32;
    Complex64: f64;
}
