//! Places in a tensor that accumulate coordinates.

use crate::axis::Layout;
use crate::compare::Meets;
use crate::coords::{Coords, NothingNew, Term};
use crate::difference::{First, Minus};
use crate::set::{Both, Merge, Set, Union};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// A place in a tensor. It keeps coordinates, and computes an offset only when it is dereferenced, so that
/// `a.at(x).at(y)` is `a.at(x + y)` on every layout: what carries from one fold into the next is never lost.
///
/// Dereferencing panics outside the memory, as a slice does, and in debug builds outside the extents too.
#[derive(Clone, Copy)]
pub struct Cursor<M, L, S, O = ()> {
    data: M,
    /// The offset at `origin`.
    base: i32,
    origin: O,
    /// Since `origin`.
    coords: S,
    layout: PhantomData<L>,
}

impl<M, L: Layout, S: Set> Cursor<M, L, S> {
    #[inline(always)]
    pub(crate) fn new(data: M, coords: S) -> Self {
        Cursor { data, base: L::offset(()), origin: (), coords, layout: PhantomData }
    }
}

impl<M, L: Layout, S: Set, O: Set> Cursor<M, L, S, O> {
    /// The place that lies this much further.
    #[inline(always)]
    pub fn at<R: Meets<L::Set>>(self, coords: R) -> Cursor<M, L, Union<S, R::Parts>, O>
    where
        S: Merge<R::Parts>,
    {
        let coords = self.coords.combine(coords.parts(), |a, b| a + b);
        Cursor { data: self.data, base: self.base, origin: self.origin, coords, layout: PhantomData }
    }

    /// Moves by this much, in place, along dimensions that the cursor has.
    #[inline(always)]
    pub fn step<R: Term>(&mut self, coords: R)
    where
        R::Parts: Minus<S, Out: First<Out: NothingNew>>,
    {
        self.coords = self.coords.zip(coords.parts(), |a, b| a + b);
    }

    /// The same place, its offset computed now: steps from here cost what they add, however many led here. A carry is not
    /// lost, for the coordinates so far are kept where an axis is folded.
    #[inline(always)]
    pub fn rebase(self) -> Cursor<M, L, (), Union<S, O>>
    where
        S: Merge<O>,
    {
        let base = self.offset();
        let origin = self.coords.combine(self.origin, |a, b| a + b);
        Cursor { data: self.data, base, origin, coords: (), layout: PhantomData }
    }

    /// Where it is.
    #[inline(always)]
    pub fn coords(&self) -> Coords<Union<S, O>>
    where
        S: Merge<O>,
    {
        Coords::of(self.coords.combine(self.origin, |a, b| a + b))
    }

    /// The offset of its element. It may lie outside.
    #[inline(always)]
    pub fn offset(&self) -> i32 {
        self.base + L::delta(self.origin, self.coords)
    }

    /// Whether every coordinate lies inside.
    #[inline(always)]
    pub fn in_range(&self) -> bool {
        L::outside(Both(self.origin, self.coords)).is_none()
    }

    /// The offset, checked in debug builds.
    #[inline(always)]
    fn place(&self) -> usize {
        if cfg!(debug_assertions)
            && let Some((name, value, extent)) = L::outside(Both(self.origin, self.coords))
        {
            panic!("{name}({value}) lies outside 0..{extent}");
        }
        self.offset() as usize
    }
}

impl<'a, T, L: Layout, S: Set, O: Set> Cursor<&'a [T], L, S, O> {
    /// The element, or `None` if a coordinate lies outside.
    #[inline(always)]
    pub fn get(&self) -> Option<&'a T> {
        if self.in_range() { self.data.get(self.offset() as usize) } else { None }
    }

    /// The element, or `outside` if a coordinate lies outside.
    ///
    /// ```
    /// tilewright_dims::dims! { X }
    /// tilewright_dims::tensor!(Row: f32, [X: 3]);
    /// let here = Row::view(&[1.0, 2.0, 3.0])?.at(X(1));
    /// assert_eq!([here.at(X(1)).value_or(0.0), here.at(X(2)).value_or(0.0)], [3.0, 0.0]);
    /// # Ok::<(), tilewright_dims::TooShort>(())
    /// ```
    #[inline(always)]
    pub fn value_or(&self, outside: T) -> T
    where
        T: Copy,
    {
        self.get().copied().unwrap_or(outside)
    }
}

impl<T, L: Layout, S: Set, O: Set> Deref for Cursor<&[T], L, S, O> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.data[self.place()]
    }
}

impl<T, L: Layout, S: Set, O: Set> Deref for Cursor<&mut [T], L, S, O> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.data[self.place()]
    }
}

impl<T, L: Layout, S: Set, O: Set> DerefMut for Cursor<&mut [T], L, S, O> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let place = self.place();
        &mut self.data[place]
    }
}
