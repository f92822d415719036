//! Type-level sets of dimensions: nested pairs `(H, (T, ()))`, sorted by id, `()` the empty set.
//!
//! A value of such a type is a coordinate along each of its dimensions. The functions on sets are total, so that a
//! mistake surfaces in exactly one marker bound, which carries the message.

use crate::dim::Dim;
use crate::id::{Compare, Equal, Greater, Less};

/// Coordinates that can be asked for: zero along a dimension that is not there.
pub trait Point: Copy {
    /// The coordinate along `D`.
    fn value<D: Dim>(self) -> i32;
    /// The coordinate along the dimension with this id.
    fn value_of(self, id: u64) -> i32;
}

/// Two points added up, without a type of their own for the sum.
#[derive(Clone, Copy)]
pub(crate) struct Both<A, B>(pub(crate) A, pub(crate) B);

impl<A: Point, B: Point> Point for Both<A, B> {
    #[inline(always)]
    fn value<D: Dim>(self) -> i32 {
        self.0.value::<D>() + self.1.value::<D>()
    }
    #[inline(always)]
    fn value_of(self, id: u64) -> i32 {
        self.0.value_of(id) + self.1.value_of(id)
    }
}

/// A sorted set of dimensions: `()`, or a pair of a dimension and the set of those that follow.
pub trait Set: Point + 'static {
    /// How many dimensions it has.
    const LEN: usize;
    /// Calls `f` with the id and the name of each dimension, in the set's order.
    fn for_each(f: &mut dyn FnMut(u64, &'static str));
    /// Whether `D` is among its dimensions.
    fn contains<D: Dim>() -> bool;
    /// The same set with `f` applied to each coordinate.
    fn map(self, f: impl Fn(i32) -> i32 + Copy) -> Self;
    /// The same set with `f` applied to each coordinate and to that of `rhs` along the same dimension, zero if absent.
    fn zip(self, rhs: impl Point, f: impl Fn(i32, i32) -> i32 + Copy) -> Self;
    /// The same set with `f` applied to each coordinate that `rhs` has too, and to that of `rhs`.
    fn zip_shared<R: Set>(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> Self;
    /// Whether `f` holds for each coordinate and that of `rhs` along the same dimension; those that `rhs` lacks do not count.
    fn all_shared<R: Set>(self, rhs: R, f: impl Fn(i32, i32) -> bool + Copy) -> bool;
    /// The coordinates of `from` along these dimensions; zero where it lacks one.
    fn project(from: impl Point) -> Self;
    /// The first of these dimensions along which `point` is not within `0..extent(id)`: its name, the value, the extent.
    fn first_outside(point: impl Point, extent: impl Fn(u64) -> i32 + Copy) -> Option<(&'static str, i32, i32)>;
    /// Calls `f` with the name and the value of each coordinate, in the set's order.
    fn for_each_value(self, f: &mut dyn FnMut(&'static str, i32));
}

impl Point for () {
    #[inline(always)]
    fn value<D: Dim>(self) -> i32 {
        0
    }
    #[inline(always)]
    fn value_of(self, _: u64) -> i32 {
        0
    }
}

impl Set for () {
    const LEN: usize = 0;
    #[inline(always)]
    fn for_each(_: &mut dyn FnMut(u64, &'static str)) {}
    #[inline(always)]
    fn contains<D: Dim>() -> bool {
        false
    }
    #[inline(always)]
    fn map(self, _: impl Fn(i32) -> i32 + Copy) {}
    #[inline(always)]
    fn zip(self, _: impl Point, _: impl Fn(i32, i32) -> i32 + Copy) {}
    #[inline(always)]
    fn zip_shared<R: Set>(self, _: R, _: impl Fn(i32, i32) -> i32 + Copy) {}
    #[inline(always)]
    fn all_shared<R: Set>(self, _: R, _: impl Fn(i32, i32) -> bool + Copy) -> bool {
        true
    }
    #[inline(always)]
    fn project(_: impl Point) {}
    #[inline(always)]
    fn first_outside(_: impl Point, _: impl Fn(u64) -> i32 + Copy) -> Option<(&'static str, i32, i32)> {
        None
    }
    #[inline(always)]
    fn for_each_value(self, _: &mut dyn FnMut(&'static str, i32)) {}
}

impl<H: Dim, T: Point> Point for (H, T) {
    #[inline(always)]
    fn value<D: Dim>(self) -> i32 {
        if const { H::ID == D::ID } { self.0.get() } else { self.1.value::<D>() }
    }
    #[inline(always)]
    fn value_of(self, id: u64) -> i32 {
        if H::ID == id { self.0.get() } else { self.1.value_of(id) }
    }
}

impl<H: Dim, T: Set> Set for (H, T) {
    const LEN: usize = 1 + T::LEN;
    fn for_each(f: &mut dyn FnMut(u64, &'static str)) {
        f(H::ID, H::NAME);
        T::for_each(f);
    }
    #[inline(always)]
    fn contains<D: Dim>() -> bool {
        (const { H::ID == D::ID }) || T::contains::<D>()
    }
    #[inline(always)]
    fn map(self, f: impl Fn(i32) -> i32 + Copy) -> Self {
        (H::new(f(self.0.get())), self.1.map(f))
    }
    #[inline(always)]
    fn zip(self, rhs: impl Point, f: impl Fn(i32, i32) -> i32 + Copy) -> Self {
        (H::new(f(self.0.get(), rhs.value::<H>())), self.1.zip(rhs, f))
    }
    #[inline(always)]
    fn zip_shared<R: Set>(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> Self {
        let own = self.0.get();
        let own = if R::contains::<H>() { f(own, rhs.value::<H>()) } else { own };
        (H::new(own), self.1.zip_shared(rhs, f))
    }
    #[inline(always)]
    fn all_shared<R: Set>(self, rhs: R, f: impl Fn(i32, i32) -> bool + Copy) -> bool {
        (!R::contains::<H>() || f(self.0.get(), rhs.value::<H>())) && self.1.all_shared(rhs, f)
    }
    #[inline(always)]
    fn project(from: impl Point) -> Self {
        (H::new(from.value::<H>()), T::project(from))
    }
    #[inline(always)]
    fn first_outside(point: impl Point, extent: impl Fn(u64) -> i32 + Copy) -> Option<(&'static str, i32, i32)> {
        let (value, extent_here) = (point.value::<H>(), extent(H::ID));
        if (0..extent_here).contains(&value) {
            T::first_outside(point, extent)
        } else {
            Some((H::NAME, value, extent_here))
        }
    }
    fn for_each_value(self, f: &mut dyn FnMut(&'static str, i32)) {
        f(H::NAME, self.0.get());
        self.1.for_each_value(f);
    }
}

/// The union of two sets; the same type whichever side a dimension comes from.
pub type Union<A, B> = <A as Merge<B>>::Out;

/// Unites two sorted sets. Dimensions are the same only if their types are: ids that collide do not merge.
pub trait Merge<R>: Set {
    /// The union.
    type Out: Set;
    /// Applies `f` to the coordinates of both sides along each dimension, an absent one being zero.
    fn combine(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> Self::Out;
}

impl<R: Set> Merge<R> for () {
    type Out = R;
    #[inline(always)]
    fn combine(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> R {
        rhs.map(|b| f(0, b))
    }
}

impl<H: Dim, T: Set> Merge<()> for (H, T) {
    type Out = Self;
    #[inline(always)]
    fn combine(self, (): (), f: impl Fn(i32, i32) -> i32 + Copy) -> Self {
        self.map(|a| f(a, 0))
    }
}

impl<H: Dim, T: Set, G: Dim, S: Set> Merge<(G, S)> for (H, T)
where
    H::Id: Compare<G::Id>,
    Self: MergeBy<<H::Id as Compare<G::Id>>::Out, (G, S)>,
{
    type Out = <Self as MergeBy<<H::Id as Compare<G::Id>>::Out, (G, S)>>::Out;
    #[inline(always)]
    fn combine(self, rhs: (G, S), f: impl Fn(i32, i32) -> i32 + Copy) -> Self::Out {
        self.combine_by(rhs, f)
    }
}

/// [`Merge`] of two sets whose first dimensions compare as `O`.
pub trait MergeBy<O, R>: Set {
    type Out: Set;
    fn combine_by(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> Self::Out;
}

impl<H: Dim, T: Merge<R>, R> MergeBy<Less, R> for (H, T) {
    type Out = (H, T::Out);
    #[inline(always)]
    fn combine_by(self, rhs: R, f: impl Fn(i32, i32) -> i32 + Copy) -> Self::Out {
        (H::new(f(self.0.get(), 0)), self.1.combine(rhs, f))
    }
}

impl<H: Dim, T: Set, G: Dim, S> MergeBy<Greater, (G, S)> for (H, T)
where
    Self: Merge<S>,
{
    type Out = (G, <Self as Merge<S>>::Out);
    #[inline(always)]
    fn combine_by(self, rhs: (G, S), f: impl Fn(i32, i32) -> i32 + Copy) -> Self::Out {
        (G::new(f(0, rhs.0.get())), self.combine(rhs.1, f))
    }
}

impl<H: Dim, T: Merge<S>, G: Dim + Same<H>, S> MergeBy<Equal, (G, S)> for (H, T) {
    type Out = (H, T::Out);
    #[inline(always)]
    fn combine_by(self, rhs: (G, S), f: impl Fn(i32, i32) -> i32 + Copy) -> Self::Out {
        (H::new(f(self.0.get(), rhs.0.get())), self.1.combine(rhs.1, f))
    }
}

/// Marker: each type is the same as itself. Catches two dimensions whose ids collide.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{D}` are different dimensions with the same id",
    label = "`{Self}` and `{D}` cannot be told apart",
    note = "an id is the hash of `module_path::NAME`: rename one of the two, or move it to another module"
)]
pub trait Same<D> {}

impl<D> Same<D> for D {}
