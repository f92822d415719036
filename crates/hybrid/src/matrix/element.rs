use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// What a matrix is made of: floats of 16, 32 and 64 bits, complex numbers of two f32 or two f64, signed integers.
pub trait Element: Pod + Send + Sync + std::fmt::Debug + PartialEq + sealed::Sealed {
    /// As messages call it.
    const NAME: &'static str;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The complex conjugate; of a real number the number.
    fn conjugate(self) -> Self;

    /// The product, as the type's own multiplication makes it (integers wrap).
    fn times(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty, $name:literal, $zero:expr, $one:expr, $conjugate:expr, $times:expr;)*) => { $(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const NAME: &'static str = $name;
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            #[inline(always)]
            fn conjugate(self) -> Self {
                let conjugate: fn(Self) -> Self = $conjugate;
                conjugate(self)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                let times: fn(Self, Self) -> Self = $times;
                times(self, other)
            }
        }
    )* };
}

elements! {
    f32, "f32", 0.0, 1.0, |x| x, |x, y| x * y;
    f64, "f64", 0.0, 1.0, |x| x, |x, y| x * y;
    Complex32, "c64", Complex32::new(0.0, 0.0), Complex32::new(1.0, 0.0), |x| x.conj(), |x, y| x * y;
    Complex64, "c128", Complex64::new(0.0, 0.0), Complex64::new(1.0, 0.0), |x| x.conj(), |x, y| x * y;
    f16, "f16", f16::ZERO, f16::ONE, |x| x, |x, y| x * y;
    bf16, "bf16", bf16::ZERO, bf16::ONE, |x| x, |x, y| x * y;
    i8, "i8", 0, 1, |x| x, |x, y| x.wrapping_mul(y);
    i32, "i32", 0, 1, |x| x, |x, y| x.wrapping_mul(y);
    i64, "i64", 0, 1, |x| x, |x, y| x.wrapping_mul(y);
}
