//! Memory seen through a layout.

use crate::axis::Layout;
use crate::compare::Meets;
use crate::cursor::Cursor;
use crate::difference::{Present, Without};
use crate::dim::{Dim, SameDim};
use crate::slice::{Cut, SliceError};
use crate::vectors::Vectors;
use core::marker::PhantomData;

/// Memory seen through a layout.
pub struct View<'a, T, L> {
    pub(crate) data: &'a [T],
    layout: PhantomData<L>,
}

/// Memory seen through a layout, to write.
pub struct ViewMut<'a, T, L> {
    pub(crate) data: &'a mut [T],
    layout: PhantomData<L>,
}

impl<T, L> Clone for View<'_, T, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, L> Copy for View<'_, T, L> {}

impl<'a, T, L: Layout> View<'a, T, L> {
    /// `data` has at least as many elements as the layout spans.
    pub(crate) fn of(data: &'a [T]) -> Self {
        View { data, layout: PhantomData }
    }

    /// A cursor at these coordinates.
    #[inline(always)]
    pub fn at<R: Meets<L::Set>>(self, coords: R) -> Cursor<&'a [T], L, R::Parts> {
        Cursor::new(self.data, coords.parts())
    }

    /// The part that begins at `start` and is `STEPS` steps of the outermost axis of `D` long. It has coordinates of its own,
    /// from zero. `start` is a multiple of that axis's unit.
    ///
    /// ```
    /// tilewright_dims::dims! { I, K }
    /// tilewright_dims::folds! { K8 = K / 8 }
    /// tilewright_dims::tensor!(A: u8, [K/8: 4, I: 4, K%8]);
    /// let data: Vec<u8> = (0..128).collect();
    /// let middle = A::view(&data)?.slice::<K, 2>(K8(1))?;
    /// assert_eq!(*middle.at(K(9) + I(2)), 32 + 32 + 2 * 8 + 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn slice<D: Dim, const STEPS: i32>(
        self,
        start: impl SameDim<D>,
    ) -> Result<View<'a, T, <L as Cut<D, STEPS>>::Out>, SliceError>
    where
        L: Cut<D, STEPS>,
        L::Set: Without<D, Was: Present<D>>,
    {
        let from = L::start(start.along())?;
        Ok(View::of(&self.data[from..]))
    }

    /// The same memory in vectors of `V` elements. The innermost axis, which is contiguous, gets a `V`-th as many steps.
    ///
    /// ```
    /// tilewright_dims::dims! { I, K }
    /// tilewright_dims::tensor!(A: f32, [I: 4 => 40, K: 32]);
    /// let data: Vec<f32> = (0..A::STORAGE).map(|i| i as f32).collect();
    /// let fours = A::view(&data)?.vectors::<4>();
    /// assert_eq!(*fours.at(I(2) + K(8)), [88.0, 89.0, 90.0, 91.0]);
    /// # Ok::<(), tilewright_dims::TooShort>(())
    /// ```
    pub fn vectors<const V: usize>(self) -> View<'a, [T; V], Vectors<L, V>>
    where
        Vectors<L, V>: Layout,
    {
        const { crate::vectors::assert_divides(L::LINKS, V) }
        View::of(self.data.as_chunks().0)
    }
}

impl<'a, T, L: Layout> ViewMut<'a, T, L> {
    /// `data` has at least as many elements as the layout spans.
    pub(crate) fn of(data: &'a mut [T]) -> Self {
        ViewMut { data, layout: PhantomData }
    }

    /// A cursor at these coordinates.
    #[inline(always)]
    pub fn at<R: Meets<L::Set>>(&mut self, coords: R) -> Cursor<&mut [T], L, R::Parts> {
        Cursor::new(&mut *self.data, coords.parts())
    }

    /// The same memory, to read.
    pub fn as_view(&self) -> View<'_, T, L> {
        View::of(self.data)
    }

    /// The same memory, borrowed for a while.
    pub fn reborrow(&mut self) -> ViewMut<'_, T, L> {
        ViewMut::of(self.data)
    }

    /// [`View::slice`], to write.
    pub fn slice<D: Dim, const STEPS: i32>(
        self,
        start: impl SameDim<D>,
    ) -> Result<ViewMut<'a, T, <L as Cut<D, STEPS>>::Out>, SliceError>
    where
        L: Cut<D, STEPS>,
        L::Set: Without<D, Was: Present<D>>,
    {
        let from = L::start(start.along())?;
        Ok(ViewMut::of(&mut self.data[from..]))
    }

    /// [`View::vectors`], to write.
    pub fn vectors<const V: usize>(self) -> ViewMut<'a, [T; V], Vectors<L, V>>
    where
        Vectors<L, V>: Layout,
    {
        const { crate::vectors::assert_divides(L::LINKS, V) }
        ViewMut::of(self.data.as_chunks_mut().0)
    }
}
