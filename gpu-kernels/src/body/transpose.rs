//! A matrix stored the other way round, through shared memory. Registers: about 30; shared memory: 33 x 32 elements.

use crate::block::Block;
use crate::declaration::tiles;
use crate::dims::{X, X8, Y, Y8};
use crate::raw::matrix::{Matrix, MatrixMut};
use crate::raw::word::Element;
use crate::registers::each;
use crate::tile::Tile;
use tilewright_dims::{TensorType, tensor};

/// Threads of a block.
pub const THREADS: i32 = 256;
/// Rows and columns of a tile.
const TILE: i32 = 32;

tensor!(Reading: u8, [Y: 8, X: 32]);
tensor!(Writing: u8, [X: 8, Y: 32]);
// A column more than there is, so that a row of threads that goes down a column meets all banks.
tensor!(Staged: u8, [Y: 32 => 33, X: 32]);
type Held = <Staged as TensorType>::Layout;

/// Bytes of shared memory for elements of `bytes`.
pub const fn shared_bytes(bytes: usize) -> u32 {
    Staged::STORAGE as u32 * bytes as u32
}

/// Blocks for `Y` rows and `X` columns.
pub fn blocks(y: i64, x: i64) -> i64 {
    tiles(y, TILE.into()).saturating_mul(tiles(x, TILE.into()))
}

/// `to[x, y] = from[y, x]`: the same world coordinates, stored under another layout. A block turns a tile of 32 x 32.
#[inline(always)]
pub fn transpose<B: Block, T: Element>(block: B, from: Matrix<'_, T, Y, X>, to: MatrixMut<'_, T, X, Y>) {
    let tile = Tile::<B, T, Held>::new(block, 0);
    let across = tiles(i64::from(from.columns().0), TILE.into()) as i32;
    let (down, along) = (block.number() / across.max(1), block.number() % across.max(1));
    let corner = Y(down * TILE) + X(along * TILE);
    let (from, to) = (from.corner(corner), to.corner(corner));

    let own = Reading::coords_of(block.thread::<THREADS>());
    let read: [T; 4] = each(|step| from.get(own + Y8(step as i32)).unwrap_or_default());
    for step in 0..4 {
        tile.set(own + Y8(step), read[step as usize]);
    }
    block.barrier();

    let own = Writing::coords_of(block.thread::<THREADS>());
    for step in X8(0).until(X8(4)) {
        to.set(own + step, tile.get(own + step));
    }
}
