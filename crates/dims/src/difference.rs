//! Differences of type-level sets, and the markers that turn an absent dimension into a message.

use crate::dim::Dim;
use crate::id::{Compare, Equal, Greater, Less};
use crate::set::{Same, Set};

/// The dimension was in the set.
#[derive(Clone, Copy, Debug)]
pub struct Found;

/// The dimension was not in the set.
#[derive(Clone, Copy, Debug)]
pub struct Absent;

/// Marker: [`Found`] only. The bound `S: Without<D, Was: Present<D>>` reads "`S` has the dimension `D`".
#[diagnostic::on_unimplemented(
    message = "there is no dimension `{D}` here",
    label = "`{D}` is needed, and nothing here has it",
    note = "use a dimension that is there, or bring in an operand over `{D}`"
)]
pub trait Present<D> {}

impl<D> Present<D> for Found {}

/// The set without `D`, and whether `D` was in it. Total.
pub trait Without<D>: Set {
    /// The set without `D`.
    type Rest: Set;
    /// [`Found`] or [`Absent`].
    type Was;
}

impl<D> Without<D> for () {
    type Rest = ();
    type Was = Absent;
}

impl<D: Dim, H: Dim, T: Set> Without<D> for (H, T)
where
    H::Id: Compare<D::Id>,
    Self: WithoutBy<<H::Id as Compare<D::Id>>::Out, D>,
{
    type Rest = <Self as WithoutBy<<H::Id as Compare<D::Id>>::Out, D>>::Rest;
    type Was = <Self as WithoutBy<<H::Id as Compare<D::Id>>::Out, D>>::Was;
}

/// [`Without`] for a set whose first dimension compares with `D` as `O`.
pub trait WithoutBy<O, D> {
    type Rest: Set;
    type Was;
}

impl<D: Same<H>, H: Dim, T: Set> WithoutBy<Equal, D> for (H, T) {
    type Rest = T;
    type Was = Found;
}

impl<D, H: Dim, T: Without<D>> WithoutBy<Less, D> for (H, T) {
    type Rest = (H, T::Rest);
    type Was = T::Was;
}

impl<D, H: Dim, T: Set> WithoutBy<Greater, D> for (H, T) {
    type Rest = Self;
    type Was = Absent;
}

/// Set difference: the dimensions of `Self` that `B` lacks. Total.
pub trait Minus<B>: Set {
    /// The difference.
    type Out: Set;
}

impl<A: Set> Minus<()> for A {
    type Out = A;
}

impl<A: Without<H>, H, T> Minus<(H, T)> for A
where
    A::Rest: Minus<T>,
{
    type Out = <A::Rest as Minus<T>>::Out;
}

/// Stands for a dimension where there is none.
#[derive(Clone, Copy, Debug)]
pub struct NoDim;

/// The first dimension of a set, [`NoDim`] if it is empty. Total.
pub trait First {
    /// A dimension, or [`NoDim`].
    type Out;
    /// [`Found`] or [`Absent`].
    type Was;
}

impl First for () {
    type Out = NoDim;
    type Was = Absent;
}

impl<H, T> First for (H, T) {
    type Out = H;
    type Was = Found;
}

/// A dimension of `A` that `B` lacks, [`NoDim`] if there is none.
pub type LeftOver<A, B> = <<A as Minus<B>>::Out as First>::Out;
