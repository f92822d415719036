//! Tensors in shared memory.

use crate::block::Block;
use crate::raw::word::Element;
use core::marker::PhantomData;
use tilewright_dims::{Layout, Meets, Vectors};

/// Elements of `T` laid out as `L` in a block's shared memory.
///
/// A place outside of the layout is refused by the simulated block; on a GPU nothing looks.
pub struct Tile<B, T, L> {
    block: B,
    start: i32,
    of: PhantomData<(T, L)>,
}

impl<B: Copy, T, L> Clone for Tile<B, T, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Copy, T, L> Copy for Tile<B, T, L> {}

impl<B: Block, T: Element, L: Layout> Tile<B, T, L> {
    /// The bytes that it takes, rounded up so that another tile may begin behind it.
    pub const BYTES: i32 = (L::STORAGE * size_of::<T>() as i32 + 15) / 16 * 16;

    /// A tile that begins so many bytes behind the start of shared memory, a multiple of 16.
    #[inline(always)]
    pub fn new(block: B, start: i32) -> Self {
        Tile { block, start, of: PhantomData }
    }

    /// The element at these coordinates.
    #[inline(always)]
    pub fn get(self, at: impl Meets<L::Set>) -> T {
        T::of_word(self.block.load(self.place(at)))
    }

    /// Writes the element at these coordinates.
    #[inline(always)]
    pub fn set(self, at: impl Meets<L::Set>, value: T) {
        self.block.store(self.place(at), value.word());
    }

    /// The same memory in vectors, such as `Vector<T, 4>` for `V` of 4, along the contiguous axis.
    #[inline(always)]
    pub fn vectors<W: Element, const V: usize>(self) -> Tile<B, W, Vectors<L, V>>
    where
        Vectors<L, V>: Layout,
    {
        const { assert!(size_of::<W>() == V * size_of::<T>(), "a vector of V elements has V times their size") };
        Tile { block: self.block, start: self.start, of: PhantomData }
    }

    #[inline(always)]
    fn place(self, at: impl Meets<L::Set>) -> i32 {
        #[cfg(not(target_arch = "nvptx64"))]
        if let Some((dim, value, extent)) = L::outside(at.parts()) {
            panic!("shared memory: {dim}({value}) lies outside 0..{extent}");
        }
        self.start + L::offset(at.parts()) * size_of::<T>() as i32
    }
}
