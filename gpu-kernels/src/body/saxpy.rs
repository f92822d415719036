//! `y = a x + y`. Registers: about 30; no shared memory.

use crate::block::Block;
use crate::dims::I;
use crate::raw::memory::{Row, RowMut};
use crate::registers::each;
use tilewright_dims::Fold;
use tilewright_scalar::Float;

/// Threads of a block.
pub const THREADS: i32 = 256;
/// Vectors that a thread computes.
const STEPS: i32 = 4;
/// Elements of a vector.
const V: usize = 4;
/// Elements of a block.
pub const SPAN: i64 = THREADS as i64 * STEPS as i64 * V as i64;

/// Blocks for `I` elements.
pub fn blocks(i: i64) -> i64 {
    crate::declaration::tiles(i, SPAN)
}

/// `y[i] = a * x[i] + y[i]`, rounded once. In vectors where both rows are aligned; the last block goes element by element.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "the compiler unrolls this, and keeps what it indexes in registers")]
pub fn saxpy<B: Block>(block: B, a: f32, x: Row<'_, f32, I>, y: RowMut<'_, f32, I>) {
    let start = i64::from(block.number()) * SPAN;
    let (x, y) = (x.from(start), y.from(start));
    let thread = block.thread::<THREADS>();
    const VECTORS: i32 = THREADS * STEPS;
    if let (Some(x), Some(y)) = (x.vectors::<V, VECTORS>(), y.vectors::<V, VECTORS>()) {
        let at = |step: usize| Fold::<I, 4>::new(thread + step as i32 * THREADS);
        let read: [_; STEPS as usize] = each(|step| (x.get(at(step)), y.get(at(step))));
        for step in 0..STEPS as usize {
            let (x, old) = read[step];
            y.set(at(step), each(|i| Float::mul_add(a, x[i], old[i])));
        }
        return;
    }
    for step in 0..STEPS * V as i32 {
        let at = I(thread + step * THREADS);
        if let (Some(x), Some(old)) = (x.get(at), y.as_row().get(at)) {
            y.set(at, Float::mul_add(a, x, old));
        }
    }
}
