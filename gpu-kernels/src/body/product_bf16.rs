//! A matrix product of bf16 on tensor cores, sums in f32. Registers: about 90; shared memory: 10208 bytes.
//!
//! A bf16 is its bits, as `u16`. Both factors have K as their fast axis: rows of activations, rows of weights.

use crate::block::Block;
use crate::declaration::tiles;
use crate::dims::{I, J, K};
use crate::raw::matrix::{Matrix, MatrixMut};
use crate::raw::word::Vector;
use crate::registers::each;
use crate::tile::Tile;
use tilewright_dims::{Fold, TensorType, tensor};

/// Threads of a block: four warps.
pub const THREADS: i32 = 128;

// Rows of 40 elements: eight rows of four words meet all banks of shared memory.
tensor!(AHeld: u16, [I: 64 => 40, K: 32]);
tensor!(BHeld: u16, [J: 64 => 40, K: 32]);
// Who stages what: vectors of eight.
tensor!(AThreads: u8, [I: 32, K/8: 4]);
tensor!(BThreads: u8, [J: 32, K/8: 4]);
// A warp computes 32 x 32: two products of 16 rows by four of 8 columns.
tensor!(Warps: u8, [I/32: 2, J/32: 2]);
// What a lane holds of 16 x 16 of A, of 16 x 8 of B, and of the 16 x 8 sums: pairs (PTX, mma.m16n8k16, figures of the fragments).
tensor!(ALanes: u8, [I: 8, K/2: 4]);
tensor!(BLanes: u8, [J: 8, K/2: 4]);
tensor!(SumLanes: u8, [I: 8, J/2: 4]);

type ATensor<B> = Tile<B, u16, <AHeld as TensorType>::Layout>;
type BTensor<B> = Tile<B, u16, <BHeld as TensorType>::Layout>;

/// Bytes of shared memory.
pub const SHARED_BYTES: u32 = {
    assert!(AHeld::BYTES.is_multiple_of(16), "the second tile begins where vectors may");
    (AHeld::BYTES + BHeld::BYTES) as u32
};

/// Blocks for a product of `I` rows and `J` columns.
pub fn blocks(i: i64, j: i64, _: i64) -> i64 {
    tiles(i, 64).saturating_mul(tiles(j, 64))
}

/// What a thread stages of both tiles.
type Staged = ([[u16; 8]; 2], [[u16; 8]; 2]);

/// `c[i, j]` is the sum over k of `a[i, k] * b[j, k]`. Products are exact, sums are the tensor cores' own: the result is within
/// (K + 17) * 2^-23 of the sum of all sizes. A block computes 64 x 64 elements.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "the compiler unrolls these, and keeps what they index in registers")]
pub fn product_bf16<B: Block>(
    block: B,
    a: Matrix<'_, u16, I, K>,
    b: Matrix<'_, u16, J, K>,
    c: MatrixMut<'_, f32, I, J>,
) {
    let (a_tile, b_tile) = (ATensor::new(block, 0), BTensor::new(block, ATensor::<B>::BYTES));
    let across = (tiles(i64::from(c.columns().0), 64) as i32).max(1);
    let corner = I(block.number() / across * 64) + J(block.number() % across * 64);
    let (a, b, c) = (a.corner(corner), b.corner(corner), c.corner(corner));
    let (thread, end) = (block.thread::<THREADS>(), a.columns());
    let (a_own, b_own) = (AThreads::coords_of(thread), BThreads::coords_of(thread));
    let (lane, warp) = (thread % 32, Warps::coords_of(thread / 32));
    let (a_lane, b_lane) = (ALanes::coords_of(lane) + warp, BLanes::coords_of(lane) + warp);

    let stage = |step: K| -> Staged {
        let a = each(|n| a.vector::<8>(a_own + step + Fold::<I, 32>::new(n as i32)));
        (a, each(|n| b.vector::<8>(b_own + step + Fold::<J, 32>::new(n as i32))))
    };
    let mut sums = [[[0.0_f32; 4]; 4]; 2];
    let (mut step, mut staged) = (K(0), stage(K(0)));
    while step < end {
        for n in 0..2 {
            a_tile.vectors::<Vector<u16, 8>, 8>().set(a_own + Fold::<I, 32>::new(n as i32), Vector(staged.0[n]));
            b_tile.vectors::<Vector<u16, 8>, 8>().set(b_own + Fold::<J, 32>::new(n as i32), Vector(staged.1[n]));
        }
        block.barrier();
        step += K(32);
        staged = stage(step);
        let (a_pairs, b_pairs) = (a_tile.vectors::<[u16; 2], 2>(), b_tile.vectors::<[u16; 2], 2>());
        for k in 0..2 {
            let k = Fold::<K, 16>::new(k);
            let columns: [[u32; 2]; 4] = each(|n| {
                let at = b_lane + k + Fold::<J, 8>::new(n as i32);
                each(|half| pair(b_pairs.get(at + K(8 * half as i32))))
            });
            for m in 0..2 {
                let at = a_lane + k + Fold::<I, 16>::new(m as i32);
                let rows = each(|part| pair(a_pairs.get(at + I(part as i32 % 2 * 8) + K(part as i32 / 2 * 8))));
                for n in 0..4 {
                    sums[m][n] = block.multiply_add(sums[m][n], rows, columns[n]);
                }
            }
        }
        block.barrier();
    }
    let own = SumLanes::coords_of(lane) + warp;
    let parts = [I(0) + J(0), I(0) + J(1), I(8) + J(0), I(8) + J(1)];
    for m in 0..2 {
        for n in 0..4 {
            let at = own + Fold::<I, 16>::new(m as i32) + Fold::<J, 8>::new(n as i32);
            for part in 0..4 {
                c.set(at + parts[part], sums[m][n][part]);
            }
        }
    }
}

/// Two elements as the register that holds them, the first one low.
#[inline(always)]
fn pair(elements: [u16; 2]) -> u32 {
    u32::from(elements[0]) | u32::from(elements[1]) << 16
}
