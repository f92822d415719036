//! What coordinates of different sets have to do with each other: the dimensions that they share.

use crate::coords::{Coords, Term};
use crate::difference::{First, Found, Minus, Present, Without};
use crate::dim::{Dim, SameDim};
use crate::fold::Unit;
use crate::set::{Merge, Set, Union};
use core::cell::Cell;

/// Marker: [`Found`] only. The sets `A` and `B` share a dimension.
#[diagnostic::on_unimplemented(
    message = "`{A}` has none of the dimensions `{B}`",
    label = "this lies along none of the dimensions that are there",
    note = "use a dimension that both sides have; further ones are ignored"
)]
pub trait Shared<A, B> {}

impl<A, B> Shared<A, B> for Found {}

/// Coordinates that share a dimension with the set `S`. Dimensions that `S` lacks are ignored where they meet.
pub trait Meets<S>: Term {}

impl<R: Term, S> Meets<S> for R
where
    R::Parts: Minus<S>,
    R::Parts: Minus<<R::Parts as Minus<S>>::Out, Out: First<Was: Shared<R::Parts, S>>>,
{
}

macro_rules! relations {
    ($($(#[$meta:meta])* $name:ident $relation:tt;)*) => { $(
        $(#[$meta])*
        #[inline(always)]
        pub fn $name(self, rhs: impl Meets<L>) -> bool {
            self.parts().all_shared(rhs.parts(), |a, b| a $relation b)
        }
    )* };
}

/// Comparisons over the dimensions that both sides have; there must be one. They are no order: of two points, each may be
/// larger along another dimension, and then neither `all_lt` nor `all_ge` holds.
impl<L: Set> Coords<L> {
    relations! {
        /// Whether every shared coordinate is the same.
        all_eq ==;
        /// Whether every shared coordinate is smaller.
        all_lt <;
        /// Whether every shared coordinate is smaller or the same.
        all_le <=;
        /// Whether every shared coordinate is larger.
        all_gt >;
        /// Whether every shared coordinate is larger or the same.
        all_ge >=;
    }

    /// The smaller coordinate along each shared dimension; the others as they are.
    #[inline(always)]
    pub fn min(self, rhs: impl Meets<L>) -> Self {
        self.with_shared(rhs, i32::min)
    }

    /// The larger coordinate along each shared dimension; the others as they are.
    #[inline(always)]
    pub fn max(self, rhs: impl Meets<L>) -> Self {
        self.with_shared(rhs, i32::max)
    }

    #[inline(always)]
    fn with_shared<R: Meets<L>>(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> Self {
        Coords::of(self.parts().zip_shared(rhs.parts(), f))
    }

    /// Whether no coordinate is below zero.
    #[inline(always)]
    pub fn all_non_negative(self) -> bool {
        self.parts().all_shared(self.parts(), |a, _| a >= 0)
    }

    /// The same coordinates with that along `D` counted along `E` instead; it adds to one that is there.
    #[inline(always)]
    pub fn cast<D: Dim, E: Dim>(self) -> Coords<Union<L::Rest, (E, ())>>
    where
        L: Without<D, Was: Present<D>>,
        L::Rest: Merge<(E, ())>,
    {
        let moved = (E::new(self.parts().value::<D>()), ());
        Coords::of(L::Rest::project(self.parts()).combine(moved, |a, b| a + b))
    }

    /// All points from this one up to `end`, which is not among them: each combination of coordinates once, in an order that is
    /// not specified. None if `end` is not larger along every dimension.
    pub fn until(self, end: Self) -> impl ExactSizeIterator<Item = Self> + Clone {
        let (from, end) = (self.parts(), end.parts());
        let mut count = 1i32;
        from.zip(end, |a, b| (b - a).max(0)).for_each_value(&mut |_, length| count = count.saturating_mul(length));
        (0..count).map(move |number| {
            let rest = Cell::new(number);
            Coords::of(from.zip(end, |a, b| a + rest.replace(rest.get() / (b - a)) % (b - a)))
        })
    }

    /// The same coordinates without the one along `D`.
    #[inline(always)]
    pub fn without<D: Dim>(self) -> Coords<L::Rest>
    where
        L: Without<D, Was: Present<D>>,
    {
        Coords::of(L::Rest::project(self.parts()))
    }
}

/// The smaller of two coordinates along one dimension, in whatever units.
///
/// ```
/// tilewright_dims::dims! { K, J }
/// tilewright_dims::folds! { K8 = K / 8 }
/// assert_eq!(tilewright_dims::min(K8(3), K(20)), K(20));
/// assert_eq!(tilewright_dims::max(K8(3), K(20)), K(24));
/// assert_eq!((K(3) + J(4)).min(K(2)), K(2) + J(4));
/// ```
#[inline(always)]
pub fn min<A: Unit + SameDim<A::Base>, B: SameDim<A::Base>>(a: A, b: B) -> A::Base {
    A::Base::new(a.along().get().min(b.along().get()))
}

/// The larger of two coordinates along one dimension, in whatever units.
#[inline(always)]
pub fn max<A: Unit + SameDim<A::Base>, B: SameDim<A::Base>>(a: A, b: B) -> A::Base {
    A::Base::new(a.along().get().max(b.along().get()))
}
