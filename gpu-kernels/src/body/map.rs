//! A fused map: a multiply-add per channel and a scalar function, in one pass. No shared memory.

use crate::block::Block;
use crate::declaration::tiles;
use crate::dims::{C, C32, N, N8};
use crate::raw::matrix::{Matrix, MatrixMut};
use crate::raw::memory::Row;
use tilewright_dims::tensor;
use tilewright_macros::scalar_fn_of_scalar as scalar_fn;
use tilewright_scalar::Float;

#[path = "functions.rs"]
pub mod functions;

/// Threads of a block.
pub const THREADS: i32 = 256;

/// Elements of a vector.
const V: usize = 4;
const ROWS: i32 = 32;
const COLUMNS: i32 = 128;

tensor!(Threads: u8, [N: 8, C: 32]);
tensor!(Covered: u8, [N: 32, C: 128]);
// The same block in vectors.
tensor!(VectorThreads: u8, [N: 8, C/4: 32]);

/// Blocks for `N` samples of `C` channels.
pub fn blocks(n: i64, c: i64) -> i64 {
    let (rows, columns) = (Covered::extent::<N>().0, Covered::extent::<C>().0);
    tiles(n, rows.into()).saturating_mul(tiles(c, columns.into()))
}

/// `y[n, c] = f(x[n, c] * scale[c] + shift[c])`: operands that lack a dimension do not vary along it. A block computes 32 samples of
/// 128 channels: in vectors where all of them are there and aligned, else element by element.
#[inline(always)]
pub fn map<B: Block>(
    block: B,
    f: impl Fn(f32) -> f32,
    x: Matrix<'_, f32, N, C>,
    scale: Row<'_, f32, C>,
    shift: Row<'_, f32, C>,
    y: MatrixMut<'_, f32, N, C>,
) {
    let (rows, columns) = (Covered::extent::<N>(), Covered::extent::<C>());
    let across = (tiles(i64::from(x.columns().0), columns.0.into()) as i32).max(1);
    let (down, along) = (block.number() / across, block.number() % across);
    let corner = rows * down + columns * along;
    let (x, y) = (x.corner(corner), y.corner(corner));
    let (scale, shift) = (scale.from(corner.get::<C>().0.into()), shift.from(corner.get::<C>().0.into()));

    const VECTORS: i32 = COLUMNS / V as i32;
    if let (Some(x), Some(y), Some(scale), Some(shift)) = (
        x.panel::<V, ROWS, COLUMNS>(),
        y.panel::<V, ROWS, COLUMNS>(),
        scale.vectors::<V, VECTORS>(),
        shift.vectors::<V, VECTORS>(),
    ) {
        let own = VectorThreads::coords_of(block.thread::<THREADS>());
        let channels = own.get::<C>().fold::<4>();
        let ([a, b, c, d], [p, q, r, s]) = (scale.get(channels), shift.get(channels));
        for n in N8(0).until(N8(4)) {
            let at = own + n;
            let [x0, x1, x2, x3] = x.get(at);
            // One by one: an array that a loop goes through is memory where the loop stays one.
            y.set(
                at,
                [
                    f(Float::mul_add(x0, a, p)),
                    f(Float::mul_add(x1, b, q)),
                    f(Float::mul_add(x2, c, r)),
                    f(Float::mul_add(x3, d, s)),
                ],
            );
        }
        return;
    }
    let own = Threads::coords_of(block.thread::<THREADS>());
    for c in C32(0).until(C32(4)) {
        let at = own + c;
        let (Some(scale), Some(shift)) = (scale.get(at.get::<C>()), shift.get(at.get::<C>())) else { continue };
        for n in N8(0).until(N8(4)) {
            if let Some(x) = x.get(at + n) {
                y.set(at + n, f(Float::mul_add(x, scale, shift)));
            }
        }
    }
}

/// [`map`] of [`functions::gelu`].
#[inline(always)]
pub fn gelu<B: Block>(
    block: B,
    x: Matrix<'_, f32, N, C>,
    scale: Row<'_, f32, C>,
    shift: Row<'_, f32, C>,
    y: MatrixMut<'_, f32, N, C>,
) {
    map(block, functions::gelu, x, scale, shift, y);
}

/// [`map`] of [`functions::digamma`].
#[inline(always)]
pub fn digamma<B: Block>(
    block: B,
    x: Matrix<'_, f32, N, C>,
    scale: Row<'_, f32, C>,
    shift: Row<'_, f32, C>,
    y: MatrixMut<'_, f32, N, C>,
) {
    map(block, functions::digamma, x, scale, shift, y);
}
