//! One value everywhere. Registers: about 12; no shared memory.

use crate::block::Block;
use crate::dims::I;
use crate::raw::memory::RowMut;
use crate::raw::word::{Element, Vector};
use tilewright_dims::Fold;

/// Threads of a block.
pub const THREADS: i32 = 256;
/// Vectors, or elements, that a thread writes.
const STEPS: i32 = 4;

/// Elements of a block, where 16 bytes are `V` of them.
const fn span(v: usize) -> i64 {
    (THREADS * STEPS) as i64 * v as i64
}

/// Blocks for `I` elements of which `V` are 16 bytes.
pub fn blocks<const V: usize>(i: i64) -> i64 {
    crate::declaration::tiles(i, span(V))
}

/// `out[i] = value`. A block writes 16 KiB, in vectors of `V` elements where they fit.
#[inline(always)]
pub fn fill<B: Block, T: Element, const V: usize, const F: i32>(block: B, value: T, out: RowMut<'_, T, I>)
where
    Vector<T, V>: Element,
{
    let out = out.from(i64::from(block.number()) * span(V));
    let thread = block.thread::<THREADS>();
    match out.vectors::<V, { THREADS * STEPS }>() {
        Some(out) => {
            for step in 0..STEPS {
                out.set(Fold::<I, F>::new(thread + step * THREADS), [value; V]);
            }
        }
        None => {
            for step in 0..STEPS * V as i32 {
                out.set(I(thread + step * THREADS), value);
            }
        }
    }
}
