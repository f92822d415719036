//! What coordinates of different sets have to do with each other: the dimensions that they share.

use crate::coords::{Coords, Term};
use crate::difference::{First, Found, Minus, Present, Without};
use crate::dim::Dim;
use crate::set::Set;

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

    /// Whether no coordinate is below zero.
    #[inline(always)]
    pub fn all_non_negative(self) -> bool {
        self.parts().all_shared(self.parts(), |a, _| a >= 0)
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
