//! Coordinates: sums over several dimensions, kept sorted, so that `y + x` and `x + y` have one type.

use crate::difference::{First, Minus, NoDim};
use crate::dim::Dim;
use crate::set::{Merge, Set, Union};
use core::fmt;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Anything that a sum of coordinates is made of: a dimension, or [`Coords`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a coordinate",
    label = "expected a dimension such as `X(3)`, or a sum of them",
    note = "a bare integer names no dimension: write `X(..)` to say which one is meant"
)]
pub trait Term: Copy {
    /// The dimensions it has.
    type Parts: Set;
    /// Its coordinates.
    fn parts(self) -> Self::Parts;
}

/// What a sum over the sets `A` and `B` is: a dimension if there is only one, else [`Coords`].
pub type Sum<A, B> = <Union<A, B> as Simplify>::Out;

/// A set of one dimension is that dimension; any other set is [`Coords`].
pub trait Simplify: Set {
    /// The dimension or the coordinates.
    type Out: Term;
    /// The same coordinates in the simpler type.
    fn simplify(self) -> Self::Out;
}

impl Simplify for () {
    type Out = Coords<()>;
    #[inline(always)]
    fn simplify(self) -> Coords<()> {
        Coords(())
    }
}

impl<H: Dim> Simplify for (H, ()) {
    type Out = H;
    #[inline(always)]
    fn simplify(self) -> H {
        self.0
    }
}

impl<H: Dim, G: Dim, T: Set> Simplify for (H, (G, T)) {
    type Out = Coords<Self>;
    #[inline(always)]
    fn simplify(self) -> Coords<Self> {
        Coords(self)
    }
}

/// A coordinate along each dimension of the set `L`. Made by adding: `Y(3) + X(4)`. Prints as it is written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Coords<L>(L);

impl<L: Set> Coords<L> {
    #[inline(always)]
    pub(crate) fn of(set: L) -> Self {
        Self(set)
    }

    /// The coordinate along `D`; zero where these coordinates lack `D`.
    #[inline(always)]
    pub fn get<D: Dim>(self) -> D {
        D::new(self.0.value::<D>())
    }
}

impl<L: Set> Term for Coords<L> {
    type Parts = L;
    #[inline(always)]
    fn parts(self) -> L {
        self.0
    }
}

impl<L: Set> fmt::Debug for Coords<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if L::LEN == 0 {
            return f.write_str("Coords()");
        }
        let mut separator = "";
        let mut result = Ok(());
        self.0.for_each_value(&mut |name, value| {
            result = result.and_then(|()| write!(f, "{separator}{name}({value})"));
            separator = " + ";
        });
        result
    }
}

/// Marker: [`NoDim`] only. What `+=` adds has no dimension that the left side lacks.
#[diagnostic::on_unimplemented(
    message = "the coordinates on the left have no dimension `{Self}`",
    label = "`{Self}` would change the type of the left side",
    note = "`+=` and `-=` keep the type: write `let sum = left + right;` for coordinates with `{Self}` in them"
)]
pub trait NothingNew {}

impl NothingNew for NoDim {}

macro_rules! sum {
    ($Op:ident $op:ident $Assign:ident $assign:ident) => {
        impl<L: Merge<R::Parts, Out: Simplify>, R: Term> $Op<R> for Coords<L> {
            type Output = Sum<L, R::Parts>;
            #[inline(always)]
            fn $op(self, rhs: R) -> Self::Output {
                self.0.combine(rhs.parts(), |a, b| $Op::$op(a, b)).simplify()
            }
        }

        impl<L: Set, R: Term> $Assign<R> for Coords<L>
        where
            R::Parts: Minus<L, Out: First<Out: NothingNew>>,
        {
            #[inline(always)]
            fn $assign(&mut self, rhs: R) {
                self.0 = self.0.zip(rhs.parts(), |a, b| $Op::$op(a, b));
            }
        }
    };
}

sum!(Add add AddAssign add_assign);
sum!(Sub sub SubAssign sub_assign);

impl<L: Set> Mul<i32> for Coords<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: i32) -> Self {
        Self(self.0.map(|a| a * factor))
    }
}

impl<L: Set> Neg for Coords<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|a| -a))
    }
}
