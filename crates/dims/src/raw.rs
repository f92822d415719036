//! All unsafe code of this crate: memory as what is left of a tensor after some subscripts.

use core::marker::PhantomData;

/// What a plain subscript leaves: memory from there on, in which the dimensions `R` of the layout `L` have not been subscripted.
#[repr(transparent)]
pub struct Slab<T, L, R>(PhantomData<(L, R)>, [T]);

impl<T, L, R> Slab<T, L, R> {
    #[inline(always)]
    pub(crate) fn elements(&self) -> &[T] {
        &self.1
    }

    #[inline(always)]
    pub(crate) fn elements_mut(&mut self) -> &mut [T] {
        &mut self.1
    }
}

#[inline(always)]
pub(crate) fn slab<T, L, R>(data: &[T]) -> &Slab<T, L, R> {
    // SAFETY: `Slab` is transparent over `[T]`: its other field has no size and alignment 1. The lifetime is the argument's.
    unsafe { &*(core::ptr::from_ref(data) as *const Slab<T, L, R>) }
}

#[inline(always)]
pub(crate) fn slab_mut<T, L, R>(data: &mut [T]) -> &mut Slab<T, L, R> {
    // SAFETY: as above, and the borrow is exclusive, as the argument's.
    unsafe { &mut *(core::ptr::from_mut(data) as *mut Slab<T, L, R>) }
}
