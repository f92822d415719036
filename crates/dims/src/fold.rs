//! A dimension in larger units: `K` in blocks of eight.

use crate::coords::{Simplify, Sum, Term};
use crate::dim::{Dim, SameDim};
use crate::set::{Merge, Union};
use core::cmp::Ordering;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Add, AddAssign, Mul, Neg, Rem, Sub, SubAssign};

/// The quotient, rounded down. By a power of two it is a shift: the compiler does not see that in `div_euclid`.
#[doc(hidden)]
#[inline(always)]
pub const fn floor_div(a: i32, n: i32) -> i32 {
    if n > 0 && n & (n - 1) == 0 { a >> n.trailing_zeros() } else { a.div_euclid(n) }
}

/// The remainder in `0..n`. By a power of two it is a mask.
#[inline(always)]
pub(crate) const fn floor_mod(a: i32, n: i32) -> i32 {
    if n > 0 && n & (n - 1) == 0 { a & (n - 1) } else { a.rem_euclid(n) }
}

/// `D` in units of `N`: the coordinate 3 of `K` in units of 8 is `K(24)`. Declare names for it with [`folds!`](crate::folds).
///
/// It adds to, subtracts from and compares with anything along `D`, exactly: sums are coordinates along `D` itself.
/// `.fold::<N>()` comes back, rounding down.
#[repr(transparent)]
pub struct Fold<D, const N: i32>(i32, PhantomData<D>);

/// What a dimension or a fold of one is made of.
pub trait Unit {
    /// The dimension.
    type Base: Dim;
    /// How much of it is one.
    const UNIT: i32;
}

impl<D: Dim, const N: i32> Unit for Fold<D, N> {
    type Base = D;
    const UNIT: i32 = N;
}

impl<D: Dim, const N: i32> Fold<D, N> {
    const UNIT_IS_POSITIVE: () = assert!(N > 0, "a fold has a positive unit");

    /// The coordinate `value`, in units of `N`.
    #[inline(always)]
    pub const fn new(value: i32) -> Self {
        const { Self::UNIT_IS_POSITIVE }
        Fold(value, PhantomData)
    }

    /// The bare integer, in units of `N`.
    #[inline(always)]
    pub const fn get(self) -> i32 {
        self.0
    }

    /// The coordinate along `D`.
    #[inline(always)]
    pub fn unfold(self) -> D {
        D::new(self.0 * N)
    }

    /// The same in units of `M`, rounded down. That one unit divides the other is checked when this is compiled.
    #[inline(always)]
    pub const fn fold<const M: i32>(self) -> Fold<D, M> {
        const { assert!(M > 0 && (M % N == 0 || N % M == 0), "one of the two units must divide the other") }
        Fold::new(floor_div(self.0 * N, M))
    }

    /// The coordinates from this one up to `end`, which is not among them; none if `end` is not larger.
    #[inline(always)]
    pub fn until(self, end: Self) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
        (self.0..end.0).map(Self::new)
    }

    /// The same number of units along another dimension.
    #[inline(always)]
    pub fn cast<E: Dim>(self) -> Fold<E, N> {
        Fold::new(self.0)
    }
}

impl<D, const N: i32> Clone for Fold<D, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, const N: i32> Copy for Fold<D, N> {}

impl<D, const N: i32> Default for Fold<D, N> {
    fn default() -> Self {
        Fold(0, PhantomData)
    }
}

impl<D: Dim, const N: i32> fmt::Debug for Fold<D, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{N}({})", D::NAME, self.0)
    }
}

impl<D: Dim, const N: i32> Term for Fold<D, N> {
    type Parts = (D, ());
    #[inline(always)]
    fn parts(self) -> (D, ()) {
        (self.unfold(), ())
    }
}

impl<D: Dim, const N: i32> SameDim<D> for Fold<D, N> {
    #[inline(always)]
    fn along(self) -> D {
        self.unfold()
    }
}

impl<D: Dim, R: SameDim<D>, const N: i32> PartialEq<R> for Fold<D, N> {
    #[inline(always)]
    fn eq(&self, rhs: &R) -> bool {
        self.unfold().get() == rhs.along().get()
    }
}

impl<D: Dim, const N: i32> Eq for Fold<D, N> {}

impl<D: Dim, R: SameDim<D>, const N: i32> PartialOrd<R> for Fold<D, N> {
    #[inline(always)]
    fn partial_cmp(&self, rhs: &R) -> Option<Ordering> {
        self.unfold().get().partial_cmp(&rhs.along().get())
    }
}

impl<D: Dim, const N: i32> Ord for Fold<D, N> {
    #[inline(always)]
    fn cmp(&self, rhs: &Self) -> Ordering {
        self.0.cmp(&rhs.0)
    }
}

impl<D: Dim, const N: i32> core::hash::Hash for Fold<D, N> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

macro_rules! sum {
    ($Op:ident $op:ident $Assign:ident $assign:ident) => {
        impl<D: Dim, R: Term, const N: i32> $Op<R> for Fold<D, N>
        where
            (D, ()): Merge<R::Parts>,
            Union<(D, ()), R::Parts>: Simplify,
        {
            type Output = Sum<(D, ()), R::Parts>;
            #[inline(always)]
            fn $op(self, rhs: R) -> Self::Output {
                self.parts().combine(rhs.parts(), |a, b| $Op::$op(a, b)).simplify()
            }
        }

        impl<D: Dim, const N: i32> $Assign for Fold<D, N> {
            #[inline(always)]
            fn $assign(&mut self, rhs: Self) {
                self.0 = $Op::$op(self.0, rhs.0);
            }
        }
    };
}

sum!(Add add AddAssign add_assign);
sum!(Sub sub SubAssign sub_assign);

impl<D, const N: i32> Mul<i32> for Fold<D, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: i32) -> Self {
        Fold(self.0 * factor, PhantomData)
    }
}

impl<D, const N: i32> Neg for Fold<D, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Fold(-self.0, PhantomData)
    }
}

impl<D, const N: i32> Rem<i32> for Fold<D, N> {
    type Output = Self;
    /// The remainder in `0..modulus`, in the same units.
    #[inline(always)]
    fn rem(self, modulus: i32) -> Self {
        Fold(self.0.rem_euclid(modulus), PhantomData)
    }
}

/// Gives folds of dimensions names: each becomes a type and a function that makes a coordinate of it.
///
/// ```
/// tilewright_dims::dims! { K }
/// tilewright_dims::folds! {
///     /// Blocks of eight.
///     K8 = K / 8,
///     /// Four of those.
///     K32 = K8 / 4,
/// }
/// let at: K8 = K8(2);
/// assert_eq!(at + K(7), K(23));
/// assert_eq!(K(23).fold::<8>(), K8(2));
/// assert_eq!(K32(1), K8(4));
/// ```
#[macro_export]
macro_rules! folds {
    ($($(#[$meta:meta])* $vis:vis $name:ident = $of:ident / $unit:expr),* $(,)?) => { $(
        $(#[$meta])*
        $vis type $name = $crate::Fold<<$of as $crate::Unit>::Base, { <$of as $crate::Unit>::UNIT * ($unit) }>;
        $(#[$meta])*
        #[allow(non_snake_case, dead_code, reason = "the constructor of a type of this name")]
        #[inline(always)]
        $vis const fn $name(value: i32) -> $name {
            $crate::Fold::new(value)
        }
    )* };
}
