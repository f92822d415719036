//! Sums of a row, each block's share by itself. Registers: about 32; shared memory: an element a thread.

use crate::block::Block;
use crate::dims::{I, J};
use crate::raw::memory::{Row, RowMut};
use crate::raw::word::{Element, Vector};
use crate::registers::each;
use crate::tile::Tile;
use core::ops::Add;
use tilewright_dims::{Fold, TensorType, tensor};

/// Threads of a block.
pub const THREADS: i32 = 256;
/// Most blocks that [`partials`] says: what one block adds up in a second launch.
const MOST: i64 = 1024;

tensor!(Threads: u8, [I: 256]);
type Held = <Threads as TensorType>::Layout;

/// Bytes of shared memory for elements of `bytes`.
pub const fn shared_bytes(bytes: usize) -> u32 {
    Threads::STORAGE as u32 * bytes as u32
}

/// Blocks for so many partial sums: one each.
pub fn blocks(_: i64, j: i64) -> i64 {
    j
}

/// How many partial sums of `i` elements are worth it: about 8192 elements each, 1024 sums at most, 1 at least. The result depends on
/// this number and on nothing else: not on the device, nor on the launch.
pub fn partials(i: i64) -> i64 {
    crate::declaration::tiles(i, 8192).clamp(1, MOST)
}

/// `sums[j]` is the sum of the chunks `j`, `j + J`, `j + 2 J`, .. of 256 vectors of 16 bytes. A thread adds up its place in each of
/// them, elements of a vector apart; then the vector's, then the threads' sums are added up in pairs, those far apart first.
#[inline(always)]
pub fn sum<B: Block, T: Element + Add<Output = T>, const V: usize, const F: i32>(
    block: B,
    x: Row<'_, T, I>,
    sums: RowMut<'_, T, J>,
) where
    Vector<T, V>: Element,
{
    let thread = block.thread::<THREADS>();
    let mut own = [T::default(); V];
    let chunk = i64::from(THREADS) * V as i64;
    let mut start = i64::from(block.number()) * chunk;
    while start < x.len() {
        let x = x.from(start);
        let values = match x.vectors::<V, THREADS>() {
            Some(x) => x.get(Fold::<I, F>::new(thread)),
            None => each(|i| x.get(I(thread * V as i32 + i as i32)).unwrap_or_default()),
        };
        own = each(|i| own[i] + values[i]);
        start += i64::from(block.blocks()) * chunk;
    }

    let mut half = V / 2;
    while half > 0 {
        for i in 0..half {
            own[i] = own[i] + own[i + half];
        }
        half /= 2;
    }
    let tile = Tile::<B, T, Held>::new(block, 0);
    tile.set(I(thread), own[0]);
    let mut half = THREADS / 2;
    while half > 0 {
        block.barrier();
        if thread < half {
            tile.set(I(thread), tile.get(I(thread)) + tile.get(I(thread + half)));
        }
        half /= 2;
    }
    if thread == 0 {
        sums.set(J(block.number()), tile.get(I(0)));
    }
}
