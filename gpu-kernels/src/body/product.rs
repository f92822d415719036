//! A matrix product in f32: tiles in shared memory, 4 x 4 sums in registers of each thread. Registers: about 64; shared memory: 8432
//! bytes.

use crate::block::Block;
use crate::declaration::tiles;
use crate::dims::{I, J, K};
use crate::raw::matrix::{Matrix, MatrixMut};
use crate::raw::word::Vector;
use crate::registers::each;
use crate::tile::Tile;
use tilewright_dims::{Fold, TensorType, tensor};
use tilewright_scalar::Float;

/// Threads of a block.
pub const THREADS: i32 = 256;

// K is the slow axis of both, so that a thread reads its four rows and its four columns as vectors.
tensor!(AHeld: f32, [K: 16 => 68, I: 64]);
tensor!(BHeld: f32, [K: 16, J: 64]);
// Who stages what: threads side by side read elements that lie side by side.
tensor!(AThreads: u8, [I: 16, K: 16]);
tensor!(BThreads: u8, [K: 4, J: 64]);
// Who computes what: 16 x 16 threads, 4 x 4 sums each.
tensor!(Threads: u8, [I/4: 16, J/4: 16]);

type ATensor<B> = Tile<B, f32, <AHeld as TensorType>::Layout>;
type BTensor<B> = Tile<B, f32, <BHeld as TensorType>::Layout>;

/// Bytes of shared memory.
pub const SHARED_BYTES: u32 = {
    assert!(AHeld::BYTES.is_multiple_of(16), "the second tile begins where vectors may");
    (AHeld::BYTES + BHeld::BYTES) as u32
};

/// Blocks for a product of `I` rows and `J` columns; a sum over nothing is 0, and written.
pub fn blocks(i: i64, j: i64, _: i64) -> i64 {
    tiles(i, 64).saturating_mul(tiles(j, 64))
}

/// What a thread stages of both tiles.
type Staged = ([f32; 4], [f32; 4]);

/// `c[i, j]` is the sum over k of `a[i, k] * b[k, j]`, from the first k to the last, each step a fused multiply-add. A block computes
/// 64 x 64 elements.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "the compiler unrolls these, and keeps what they index in registers")]
pub fn product<B: Block>(block: B, a: Matrix<'_, f32, I, K>, b: Matrix<'_, f32, K, J>, c: MatrixMut<'_, f32, I, J>) {
    let (a_tile, b_tile) = (ATensor::new(block, 0), BTensor::new(block, ATensor::<B>::BYTES));
    let across = (tiles(i64::from(c.columns().0), 64) as i32).max(1);
    let corner = I(block.number() / across * 64) + J(block.number() % across * 64);
    let (a, b, c) = (a.corner(corner), b.corner(corner), c.corner(corner));
    let (thread, end) = (block.thread::<THREADS>(), a.columns());
    let (a_own, b_own) = (AThreads::coords_of(thread), BThreads::coords_of(thread));
    let own = Threads::coords_of(thread);

    let stage = |step: K| -> Staged {
        // Along a row of A places stay near; a step down B is one of the address.
        let (a_own, b) = (a_own + step, b.corner(step));
        let a = each(|n| a.get(a_own + Fold::<I, 16>::new(n as i32)).unwrap_or(0.0));
        (a, each(|n| b.get(b_own + Fold::<K, 4>::new(n as i32)).unwrap_or(0.0)))
    };
    let mut sums = [[0.0_f32; 4]; 4];
    let (mut step, mut staged) = (K(0), stage(K(0)));
    while step < end {
        for n in 0..4 {
            a_tile.set(a_own + Fold::<I, 16>::new(n as i32), staged.0[n]);
            b_tile.set(b_own + Fold::<K, 4>::new(n as i32), staged.1[n]);
        }
        block.barrier();
        step += K(16);
        // The next tiles are on their way while these are multiplied.
        staged = stage(step);
        for k in K(0).until(K(16)) {
            let Vector(rows) = a_tile.vectors::<Vector<f32, 4>, 4>().get(own + k);
            let Vector(columns) = b_tile.vectors::<Vector<f32, 4>, 4>().get(own + k);
            for i in 0..4 {
                for j in 0..4 {
                    sums[i][j] = Float::mul_add(rows[i], columns[j], sums[i][j]);
                }
            }
        }
        block.barrier();
    }
    for i in 0..4 {
        for j in 0..4 {
            c.set(own + I(i as i32) + J(j as i32), sums[i][j]);
        }
    }
}
