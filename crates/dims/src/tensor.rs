//! Tensors whose layout is a type, views of memory through them, and cursors that accumulate coordinates.

use crate::axis::Layout;
use crate::compare::Meets;
use crate::coords::{Coords, NothingNew, Term};
use crate::difference::{First, Minus, Present, Without};
use crate::dim::Dim;
use crate::set::{Merge, Set, Union};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// Elements of `T` laid out as `L`. Declare one with [`tensor!`](crate::tensor).
#[derive(Clone, Copy, Debug, Default)]
pub struct Tensor<T, L>(PhantomData<(T, L)>);

/// Memory that is too short for a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// Elements that the layout spans.
    pub expected: usize,
    /// Elements that there are.
    pub got: usize,
}

impl fmt::Display for TooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the layout spans {} elements, the memory has {}", self.expected, self.got)
    }
}

impl core::error::Error for TooShort {}

impl<T, L: Layout> Tensor<T, L> {
    /// Number of elements that have coordinates.
    pub const LEN: usize = {
        let () = L::SOUND;
        L::LEN as usize
    };
    /// Number of elements from the first to the last, gaps included.
    pub const STORAGE: usize = {
        let () = L::SOUND;
        L::STORAGE as usize
    };
    /// Bytes from the first element to the end of the last.
    pub const BYTES: usize = Self::STORAGE * size_of::<T>();

    /// The length along `D`, all of its folds together.
    #[inline(always)]
    pub fn extent<D: Dim>() -> D
    where
        L::Set: Without<D, Was: Present<D>>,
    {
        D::new(L::extent::<D>())
    }

    /// Where the element at these coordinates is, in elements.
    #[inline(always)]
    pub fn offset(coords: impl Meets<L::Set>) -> i32 {
        L::offset(coords.parts())
    }

    /// The same, or `None` if a coordinate lies outside.
    #[inline(always)]
    pub fn checked_offset(coords: impl Term) -> Option<i32> {
        let coords = coords.parts();
        L::outside(coords).is_none().then(|| L::offset(coords))
    }

    /// Whether every coordinate lies inside.
    #[inline(always)]
    pub fn contains(coords: impl Term) -> bool {
        L::outside(coords.parts()).is_none()
    }

    /// The coordinates of every element, each once, the last axis fastest.
    pub fn coords() -> impl ExactSizeIterator<Item = Coords<L::Set>> + Clone {
        (0..L::LEN).map(|index| Coords::of(L::coords(index)))
    }

    /// The coordinates of element number `index` in that order, wherever padding puts it in memory: a compound index, such as a
    /// thread's number, taken apart. Numbers beyond the last begin again.
    #[inline(always)]
    pub fn coords_of(index: i32) -> Coords<L::Set> {
        Coords::of(L::coords(index.rem_euclid(const { if L::LEN > 0 { L::LEN } else { 1 } })))
    }

    /// The share of worker number `worker` of so many: every `workers`-th element. Together they have each element once.
    pub fn partition(worker: i32, workers: i32) -> impl Iterator<Item = Coords<L::Set>> + Clone {
        let step = usize::try_from(workers).unwrap_or(0).max(1);
        (worker.max(0)..L::LEN).step_by(step).map(|index| Coords::of(L::coords(index)))
    }

    /// `data` seen as this tensor. It may be longer.
    pub fn view(data: &[T]) -> Result<View<'_, T, L>, TooShort> {
        match data.get(..Self::STORAGE) {
            Some(data) => Ok(View { data, layout: PhantomData }),
            None => Err(TooShort { expected: Self::STORAGE, got: data.len() }),
        }
    }

    /// `data` seen as this tensor, to write. It may be longer. A layout in which two coordinates share an element does not
    /// compile.
    pub fn view_mut(data: &mut [T]) -> Result<ViewMut<'_, T, L>, TooShort> {
        const { assert!(!L::OVERLAPS, "two coordinates of this layout share an element: it is for reading only") }
        let got = data.len();
        match data.get_mut(..Self::STORAGE) {
            Some(data) => Ok(ViewMut { data, layout: PhantomData }),
            None => Err(TooShort { expected: Self::STORAGE, got }),
        }
    }
}

/// Memory seen through a layout.
pub struct View<'a, T, L> {
    data: &'a [T],
    layout: PhantomData<L>,
}

/// Memory seen through a layout, to write.
pub struct ViewMut<'a, T, L> {
    data: &'a mut [T],
    layout: PhantomData<L>,
}

impl<T, L> Clone for View<'_, T, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, L> Copy for View<'_, T, L> {}

impl<'a, T, L: Layout> View<'a, T, L> {
    /// A cursor at these coordinates.
    #[inline(always)]
    pub fn at<R: Meets<L::Set>>(self, coords: R) -> Cursor<&'a [T], L, R::Parts> {
        Cursor { data: self.data, coords: coords.parts(), layout: PhantomData }
    }
}

impl<T, L: Layout> ViewMut<'_, T, L> {
    /// A cursor at these coordinates.
    #[inline(always)]
    pub fn at<R: Meets<L::Set>>(&mut self, coords: R) -> Cursor<&mut [T], L, R::Parts> {
        Cursor { data: &mut *self.data, coords: coords.parts(), layout: PhantomData }
    }

    /// The same memory, to read.
    pub fn as_view(&self) -> View<'_, T, L> {
        View { data: self.data, layout: PhantomData }
    }
}

/// A place in a tensor. It keeps coordinates, and computes an offset only when it is dereferenced, so that
/// `a.at(x).at(y)` is `a.at(x + y)` on every layout: what carries from one fold into the next is never lost.
///
/// Dereferencing panics outside the memory, as a slice does, and in debug builds outside the extents too.
#[derive(Clone, Copy)]
pub struct Cursor<M, L, S> {
    data: M,
    coords: S,
    layout: PhantomData<L>,
}

impl<M, L: Layout, S: Set> Cursor<M, L, S> {
    /// The place that lies this much further.
    #[inline(always)]
    pub fn at<R: Meets<L::Set>>(self, coords: R) -> Cursor<M, L, Union<S, R::Parts>>
    where
        S: Merge<R::Parts>,
    {
        let coords = self.coords.combine(coords.parts(), |a, b| a + b);
        Cursor { data: self.data, coords, layout: PhantomData }
    }

    /// Moves by this much, in place, along dimensions that the cursor has.
    #[inline(always)]
    pub fn step<R: Term>(&mut self, coords: R)
    where
        R::Parts: Minus<S, Out: First<Out: NothingNew>>,
    {
        self.coords = self.coords.zip(coords.parts(), |a, b| a + b);
    }

    /// Where it is.
    #[inline(always)]
    pub fn coords(&self) -> Coords<S> {
        Coords::of(self.coords)
    }

    /// The offset of its element. It may lie outside.
    #[inline(always)]
    pub fn offset(&self) -> i32 {
        L::offset(self.coords)
    }

    /// Whether every coordinate lies inside.
    #[inline(always)]
    pub fn in_range(&self) -> bool {
        L::outside(self.coords).is_none()
    }

    /// The offset, checked in debug builds.
    #[inline(always)]
    fn place(&self) -> usize {
        if cfg!(debug_assertions)
            && let Some((name, value, extent)) = L::outside(self.coords)
        {
            panic!("{name}({value}) lies outside 0..{extent}");
        }
        L::offset(self.coords) as usize
    }
}

impl<'a, T, L: Layout, S: Set> Cursor<&'a [T], L, S> {
    /// The element, or `None` if a coordinate lies outside.
    #[inline(always)]
    pub fn get(&self) -> Option<&'a T> {
        if self.in_range() { self.data.get(L::offset(self.coords) as usize) } else { None }
    }
}

impl<T, L: Layout, S: Set> Deref for Cursor<&[T], L, S> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.data[self.place()]
    }
}

impl<T, L: Layout, S: Set> Deref for Cursor<&mut [T], L, S> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.data[self.place()]
    }
}

impl<T, L: Layout, S: Set> DerefMut for Cursor<&mut [T], L, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let place = self.place();
        &mut self.data[place]
    }
}

/// Declares a tensor type: elements and axes, outermost first.
///
/// | axis | steps along it |
/// |---|---|
/// | `I: 4` | four coordinates |
/// | `K/8: 4` | four blocks of eight |
/// | `K%8` | the eight within a block |
/// | `K/8%4` | the four blocks of eight within one of thirty-two |
///
/// The last axis is contiguous, and each other one steps over those behind it. `I: 4 => 40` sets the stride to 40 elements
/// instead, for this axis and so for those outside it.
///
/// ```
/// tilewright_dims::dims! { I, K }
/// tilewright_dims::tensor!(A: f32, [K/8: 4, I: 4, K%8]);
/// assert_eq!((A::LEN, A::extent::<K>()), (128, K(32)));
/// assert_eq!(A::offset(I(2) + K(13)), 53);
///
/// let data: Vec<f32> = (0..128).map(|i| i as f32).collect();
/// let a = A::view(&data)?;
/// assert_eq!(*a.at(I(2) + K(13)), 53.0);
/// assert_eq!(*a.at(K(7)).at(I(2)).at(K(6)), 53.0);
/// # Ok::<(), tilewright_dims::TooShort>(())
/// ```
#[macro_export]
macro_rules! tensor {
    ($(#[$meta:meta])* $vis:vis $name:ident : $element:ty, [$($axes:tt)*]) => {
        $(#[$meta])*
        $vis type $name = $crate::Tensor<$element, $crate::layout!($($axes)*)>;
        const _: usize = <$name>::LEN;
    };
}

/// The layout that [`tensor!`](crate::tensor) gives these axes, as a type.
#[macro_export]
macro_rules! layout {
    // Each axis becomes {dimension, fold, size, stride or nothing, whether it wraps}; the last one comes to stand first.
    (@parse [$($done:tt)*] $(,)?) => { $crate::layout!(@build [()] [1] $($done)*) };
    (@parse [$($done:tt)*] $(,)? $dim:ident / $fold:literal % $size:literal $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, $fold, $size, [$($stride)?], true} $($done)*] $($($rest)*)?)
    };
    (@parse [$($done:tt)*] $(,)? $dim:ident % $size:literal $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, 1, $size, [$($stride)?], true} $($done)*] $($($rest)*)?)
    };
    (@parse [$($done:tt)*] $(,)? $dim:ident / $fold:literal : $size:expr $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, $fold, $size, [$($stride)?], false} $($done)*] $($($rest)*)?)
    };
    (@parse [$($done:tt)*] $(,)? $dim:ident : $size:expr $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, 1, $size, [$($stride)?], false} $($done)*] $($($rest)*)?)
    };
    // From the innermost axis out: the type so far, and the stride of the next axis.
    (@build [$inner:ty] [$next:expr]) => { $inner };
    (@build [$inner:ty] [$next:expr] {$dim:ident, $fold:expr, $size:expr, [], $wraps:literal} $($rest:tt)*) => {
        $crate::layout!(@build
            [($crate::Axis<$dim, { $fold }, { $size }, { $next }, $wraps>, $inner)] [($next) * ($size)] $($rest)*)
    };
    (@build [$inner:ty] [$next:expr] {$dim:ident, $fold:expr, $size:expr, [$stride:literal], $wraps:literal} $($rest:tt)*) => {
        $crate::layout!(@build
            [($crate::Axis<$dim, { $fold }, { $size }, { $stride }, $wraps>, $inner)] [$stride * ($size)] $($rest)*)
    };
    ($($axes:tt)*) => { $crate::layout!(@parse [] $($axes)*) };
}
