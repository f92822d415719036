//! Plain subscripts, `a[i][k]`, where they are exact.
//!
//! A subscript gives a reference to memory and so cannot keep coordinates: what would carry into it is lost. So each dimension
//! is subscripted once, and layouts with derived dimensions, whose offset is no sum over dimensions, have no plain subscripts.

use crate::axis::{Axis, Layout};
use crate::compare::Meets;
use crate::coords::Term;
use crate::difference::{First, Minus, NoDim};
use crate::raw::{Slab, slab, slab_mut};
use crate::set::Set;
use crate::vectors::Vectors;
use crate::view::{View, ViewMut};
use core::ops::{Index, IndexMut};

/// Marker: layouts whose offset is a sum over dimensions.
#[diagnostic::on_unimplemented(
    message = "a layout with derived dimensions has no plain subscripts",
    label = "`[..]` would forget what the derived dimension needs",
    note = "write `a.at(i + k)` or `a.at(i).at(k)`: a cursor keeps all coordinates"
)]
pub trait Additive: Layout {}

impl Additive for () {}
impl<D, const F: i32, const N: i32, const S: i32, const W: bool, T> Additive for (Axis<D, F, N, S, W>, T) where
    Self: Layout
{
}
impl<L: Additive, const V: usize> Additive for Vectors<L, V> where Self: Layout {}

/// Marker: [`NoDim`] only. What is subscripted was not subscripted before.
#[diagnostic::on_unimplemented(
    message = "the dimension `{Self}` is subscripted twice",
    label = "what carries from the first `{Self}` into the second would be lost",
    note = "write `a.at(..).at(..)`, which adds coordinates up, or add them yourself: `a[x + y]`"
)]
pub trait NotYet {}

impl NotYet for NoDim {}

/// What stands behind subscripts when the dimensions `Self` are left: an element when there are none.
pub trait Rest<T, L>: Set {
    /// An element, or a [`Slab`].
    type Out: ?Sized;
    /// `data` begins at the place.
    fn rest(data: &[T]) -> &Self::Out;
    /// `data` begins at the place.
    fn rest_mut(data: &mut [T]) -> &mut Self::Out;
}

impl<T, L> Rest<T, L> for () {
    type Out = T;
    #[inline(always)]
    fn rest(data: &[T]) -> &T {
        &data[0]
    }
    #[inline(always)]
    fn rest_mut(data: &mut [T]) -> &mut T {
        &mut data[0]
    }
}

impl<T, L, H, R> Rest<T, L> for (H, R)
where
    (H, R): Set,
{
    type Out = Slab<T, L, (H, R)>;
    #[inline(always)]
    fn rest(data: &[T]) -> &Self::Out {
        slab(data)
    }
    #[inline(always)]
    fn rest_mut(data: &mut [T]) -> &mut Self::Out {
        slab_mut(data)
    }
}

/// The offset of a subscript, checked in debug builds.
#[inline(always)]
fn place<L: Layout>(coords: impl Set) -> usize {
    if cfg!(debug_assertions)
        && let Some((name, value, extent)) = L::outside(coords)
    {
        panic!("{name}({value}) lies outside 0..{extent}");
    }
    L::offset(coords) as usize
}

macro_rules! subscripts {
    ([$($generics:tt)*] $Place:ty, $left:ty, $data:ident => $read:expr) => {
        impl<$($generics)* T, L: Additive, X: Term + Meets<L::Set>> Index<X> for $Place
        where
            $left: Minus<X::Parts, Out: Rest<T, L>>,
            L::Set: Minus<$left>,
            X::Parts: Minus<<L::Set as Minus<$left>>::Out>,
            X::Parts: Minus<<X::Parts as Minus<<L::Set as Minus<$left>>::Out>>::Out, Out: First<Out: NotYet>>,
        {
            type Output = <<$left as Minus<X::Parts>>::Out as Rest<T, L>>::Out;
            #[inline(always)]
            fn index(&self, at: X) -> &Self::Output {
                let $data = self;
                <<$left as Minus<X::Parts>>::Out as Rest<T, L>>::rest(&$read[place::<L>(at.parts())..])
            }
        }
    };
    (mut [$($generics:tt)*] $Place:ty, $left:ty, $data:ident => $read:expr, $write:expr) => {
        subscripts!([$($generics)*] $Place, $left, $data => $read);

        impl<$($generics)* T, L: Additive, X: Term + Meets<L::Set>> IndexMut<X> for $Place
        where
            $left: Minus<X::Parts, Out: Rest<T, L>>,
            L::Set: Minus<$left>,
            X::Parts: Minus<<L::Set as Minus<$left>>::Out>,
            X::Parts: Minus<<X::Parts as Minus<<L::Set as Minus<$left>>::Out>>::Out, Out: First<Out: NotYet>>,
        {
            #[inline(always)]
            fn index_mut(&mut self, at: X) -> &mut Self::Output {
                let $data = self;
                <<$left as Minus<X::Parts>>::Out as Rest<T, L>>::rest_mut(&mut $write[place::<L>(at.parts())..])
            }
        }
    };
}

subscripts!(['a,] View<'a, T, L>, L::Set, view => view.data);
subscripts!(mut ['a,] ViewMut<'a, T, L>, L::Set, view => view.data, view.data);
subscripts!(mut [R: Set,] Slab<T, L, R>, R, slab => slab.elements(), slab.elements_mut());
