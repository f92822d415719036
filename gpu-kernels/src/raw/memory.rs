//! Tensors in a device's memory whose sizes are known at run time, over typed coordinates.
//!
//! An address is advanced in 64 bits once per block (`from`, `corner`); places are counted from there, in 32 bits. Every access is
//! checked against the sizes, as kernels need it where no tile divides them. A check that a block's layout makes idle is not there in
//! machine code.

use crate::raw::word::{Element, Vector};
use core::marker::PhantomData;
use tilewright_dims::{Dim, Fold, SameDim};

/// Borrowed elements along dimensions that are names alone.
pub(super) type Along<'a, T, D> = PhantomData<(&'a T, fn() -> D)>;

/// Elements that do not fit `i32` are not there for coordinates that do.
#[inline(always)]
fn reach(len: i64) -> i32 {
    if len > i64::from(i32::MAX) { i32::MAX } else { len as i32 }
}

/// Whether a coordinate lies in `0..extent`, by one comparison: what is below 0 is large without its sign.
#[inline(always)]
pub(super) fn below(at: i32, extent: i32) -> bool {
    (at as u32) < extent as u32
}

#[inline(always)]
pub(super) fn is_aligned<T, V>(address: *const T) -> bool {
    (address as usize).is_multiple_of(align_of::<V>())
}

macro_rules! copies {
    ([$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> Clone for $name {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($generics)*> Copy for $name {}
        // SAFETY: what it points at is borrowed for 'a, and is accessed as `Element` says: by several threads, where they like.
        unsafe impl<$($generics)*> Send for $name {}
        // SAFETY: as above.
        unsafe impl<$($generics)*> Sync for $name {}
    };
}
pub(super) use copies;

/// A row of elements along `D`, to read.
pub struct Row<'a, T, D> {
    first: *const T,
    len: i64,
    of: Along<'a, T, D>,
}

/// A row of elements along `D`, to read and write.
///
/// All threads have it: an element that one writes while others access it has some value of theirs.
pub struct RowMut<'a, T, D> {
    first: *mut T,
    len: i64,
    of: Along<'a, T, D>,
}

copies!(['a, T: Element, D: Dim] Row<'a, T, D>);
copies!(['a, T: Element, D: Dim] RowMut<'a, T, D>);

impl<'a, T: Element, D: Dim> Row<'a, T, D> {
    /// # Safety
    /// The address is good for reading `len` elements for `'a`.
    #[inline(always)]
    pub unsafe fn new(first: *const T, len: i64) -> Self {
        Row { first, len, of: PhantomData }
    }

    /// The elements from number `start` on.
    #[inline(always)]
    pub fn from(self, start: i64) -> Self {
        let start = start.max(0).min(self.len);
        // SAFETY: inside of the row, or at its end.
        Row { first: unsafe { self.first.offset(start as isize) }, len: self.len - start, ..self }
    }

    /// How many elements there are.
    #[inline(always)]
    pub fn len(self) -> i64 {
        self.len
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The element at a coordinate, if there is one.
    #[inline(always)]
    pub fn get(self, at: impl SameDim<D>) -> Option<T> {
        let at = at.along().get();
        // SAFETY: inside of the row.
        below(at, reach(self.len)).then(|| unsafe { T::read(self.first.offset(at as isize)) })
    }

    /// The first `LEN` vectors of `V` elements, if there are so many and they are aligned.
    #[inline(always)]
    pub fn vectors<const V: usize, const LEN: i32>(self) -> Option<Vectors<'a, T, D, V, LEN>>
    where
        Vector<T, V>: Element,
    {
        let enough = self.len >= V as i64 * LEN as i64;
        (enough && is_aligned::<T, Vector<T, V>>(self.first))
            .then_some(Vectors { first: self.first.cast_mut().cast(), of: PhantomData })
    }
}

impl<'a, T: Element, D: Dim> RowMut<'a, T, D> {
    /// # Safety
    /// The address is good for reading and writing `len` elements for `'a`, and nothing but rows made here accesses them.
    #[inline(always)]
    pub unsafe fn new(first: *mut T, len: i64) -> Self {
        RowMut { first, len, of: PhantomData }
    }

    /// The same, to read.
    #[inline(always)]
    pub fn as_row(self) -> Row<'a, T, D> {
        Row { first: self.first, len: self.len, of: PhantomData }
    }

    /// The elements from number `start` on.
    #[inline(always)]
    pub fn from(self, start: i64) -> Self {
        let row = self.as_row().from(start);
        RowMut { first: row.first.cast_mut(), len: row.len, ..self }
    }

    /// Writes the element at a coordinate, if there is one.
    #[inline(always)]
    pub fn set(self, at: impl SameDim<D>, value: T) {
        let at = at.along().get();
        if below(at, reach(self.len)) {
            // SAFETY: inside of the row.
            unsafe { T::write(self.first.offset(at as isize), value) }
        }
    }

    /// [`Row::vectors`], to write.
    #[inline(always)]
    pub fn vectors<const V: usize, const LEN: i32>(self) -> Option<VectorsMut<'a, T, D, V, LEN>>
    where
        Vector<T, V>: Element,
    {
        self.as_row().vectors::<V, LEN>().map(VectorsMut)
    }
}

/// `LEN` aligned vectors of `V` elements along `D`.
pub struct Vectors<'a, T, D, const V: usize, const LEN: i32> {
    first: *mut Vector<T, V>,
    of: Along<'a, T, D>,
}

/// The same, to write.
pub struct VectorsMut<'a, T, D, const V: usize, const LEN: i32>(Vectors<'a, T, D, V, LEN>);

copies!(['a, T: Element, D: Dim, const V: usize, const LEN: i32] Vectors<'a, T, D, V, LEN>);
copies!(['a, T: Element, D: Dim, const V: usize, const LEN: i32] VectorsMut<'a, T, D, V, LEN>);

impl<T: Element, D: Dim, const V: usize, const LEN: i32> Vectors<'_, T, D, V, LEN>
where
    Vector<T, V>: Element,
{
    /// The vector that begins at `at`, a fold of `V`; zeros where there is none.
    #[inline(always)]
    pub fn get<const F: i32>(self, at: Fold<D, F>) -> [T; V] {
        const { assert!(F as usize == V, "vectors of V elements are counted in folds of V") };
        let at = at.get();
        // SAFETY: inside of the vectors, which are aligned.
        if below(at, LEN) { unsafe { Vector::read(self.first.offset(at as isize)) }.0 } else { [T::default(); V] }
    }
}

impl<T: Element, D: Dim, const V: usize, const LEN: i32> VectorsMut<'_, T, D, V, LEN>
where
    Vector<T, V>: Element,
{
    /// The vector that begins at `at`.
    #[inline(always)]
    pub fn get<const F: i32>(self, at: Fold<D, F>) -> [T; V] {
        self.0.get(at)
    }

    /// Writes the vector that begins at `at`, a fold of `V`, if there is one.
    #[inline(always)]
    pub fn set<const F: i32>(self, at: Fold<D, F>, values: [T; V]) {
        const { assert!(F as usize == V, "vectors of V elements are counted in folds of V") };
        let at = at.get();
        if below(at, LEN) {
            // SAFETY: inside of the vectors, which are aligned.
            unsafe { Vector::write(self.0.first.offset(at as isize), Vector(values)) }
        }
    }
}
