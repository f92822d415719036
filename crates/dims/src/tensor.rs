//! Tensors whose layout is a type.

use crate::axis::Layout;
use crate::compare::Meets;
use crate::coords::{Coords, Term};
use crate::difference::{Present, Without};
use crate::dim::Dim;
use crate::view::{View, ViewMut};
use core::fmt;
use core::marker::PhantomData;

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

/// What a tensor type is made of, for code that is generic over tensor types.
pub trait TensorType {
    /// The type of its elements.
    type Element;
    /// Its layout.
    type Layout: Layout;
}

impl<T, L: Layout> TensorType for Tensor<T, L> {
    type Element = T;
    type Layout = L;
}

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
        D::new(L::extent_of(D::ID))
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
            Some(data) => Ok(View::of(data)),
            None => Err(TooShort { expected: Self::STORAGE, got: data.len() }),
        }
    }

    /// `data` seen as this tensor, to write. It may be longer. A layout in which two coordinates share an element does not
    /// compile.
    pub fn view_mut(data: &mut [T]) -> Result<ViewMut<'_, T, L>, TooShort> {
        const { assert!(!L::OVERLAPS, "two coordinates of this layout share an element: it is for reading only") }
        let got = data.len();
        match data.get_mut(..Self::STORAGE) {
            Some(data) => Ok(ViewMut::of(data)),
            None => Err(TooShort { expected: Self::STORAGE, got }),
        }
    }
}
