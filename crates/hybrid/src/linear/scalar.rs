use num_complex::{Complex32, Complex64};

use super::cpu::Backend;
use crate::matrix::Element;
use crate::store::Stored;

/// What factorisations and solvers compute with: `f32`, `f64`, [`Complex32`] (c64) and [`Complex64`] (c128).
pub trait Scalar: Element + Stored + Backend + tilewright_driver::blas::Scalar {
    /// The type of absolute values, singular values and eigenvalues of Hermitian matrices.
    type Real: Scalar<Real = Self::Real> + PartialOrd;
    /// The type of eigenvalues of general matrices.
    type Complex: Scalar<Real = Self::Real>;
    /// The distance from 1 to the next larger number of [`Real`](Self::Real).
    const EPSILON: f64;
    /// Whether there are imaginary parts.
    const COMPLEX: bool;

    /// The number as a c128, which is exact.
    fn wide(self) -> Complex64;

    /// The nearest number of this type; of a real type that nearest to the real part.
    fn nearest(wide: Complex64) -> Self;

    /// The nearest number of this type to a real one.
    fn from_f64(value: f64) -> Self {
        Self::nearest(Complex64::new(value, 0.0))
    }

    /// The absolute value, computed in f64 without overflow on the way.
    fn modulus(self) -> f64 {
        let wide = self.wide();
        if Self::COMPLEX { wide.re.hypot(wide.im) } else { wide.re.abs() }
    }

    /// Whether real and imaginary part are numbers other than infinity.
    fn is_finite(self) -> bool {
        let wide = self.wide();
        wide.re.is_finite() && wide.im.is_finite()
    }
}

macro_rules! scalars {
    ($($type:ty, $real:ty, $complex:ty, $is_complex:literal, $wide:expr, $nearest:expr;)*) => { $(
        impl Scalar for $type {
            type Real = $real;
            type Complex = $complex;
            const EPSILON: f64 = <$real>::EPSILON as f64;
            const COMPLEX: bool = $is_complex;

            #[inline(always)]
            fn wide(self) -> Complex64 {
                let wide: fn(Self) -> Complex64 = $wide;
                wide(self)
            }

            #[inline(always)]
            fn nearest(wide: Complex64) -> Self {
                let nearest: fn(Complex64) -> Self = $nearest;
                nearest(wide)
            }
        }
    )* };
}

scalars! {
    f32, f32, Complex32, false, |x| Complex64::new(x.into(), 0.0), |x| x.re as f32;
    f64, f64, Complex64, false, |x| Complex64::new(x, 0.0), |x| x.re;
    Complex32, f32, Complex32, true, |x| Complex64::new(x.re.into(), x.im.into()), |x| Complex32::new(x.re as f32, x.im as f32);
    Complex64, f64, Complex64, true, |x| x, |x| x;
}
