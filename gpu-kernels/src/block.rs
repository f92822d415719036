//! A block of threads, as bodies of kernels see it.

use crate::raw::word::Word;

/// A block of threads, seen by one of them: on a GPU, or simulated on the CPU. Kernels are generic over it, so that the same body runs
/// on both.
pub trait Block: Copy {
    /// The block's number within the grid.
    fn number(self) -> i32;

    /// How many blocks there are.
    fn blocks(self) -> i32;

    /// The thread's number within a block of `THREADS`, a power of two.
    fn thread<const THREADS: i32>(self) -> i32;

    /// Waits until all threads of the block are here. What they wrote to shared memory before can be read behind it.
    fn barrier(self);

    /// A word of the block's shared memory, `at` bytes from its start, a multiple of the word's size.
    fn load<W: Word>(self, at: i32) -> W;

    /// Writes a word of the block's shared memory.
    fn store<W: Word>(self, at: i32, word: W);

    /// `a * b + sums`, by all 32 threads of a warp together: `mma.sync.m16n8k16` of bf16 with sums in f32. What of the three matrices
    /// each thread holds is laid down by PTX: see [`product_bf16`](crate::body::product_bf16).
    ///
    /// Products are exact. How the sixteen of them are added to a sum is the hardware's own: the result is within
    /// 17 * 2^-23 of the sum of all sizes.
    fn multiply_add(self, sums: [f32; 4], a: [u32; 4], b: [u32; 2]) -> [f32; 4];
}
