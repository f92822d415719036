//! Arrays that tests compare with.

use ndarray::{Array2, ArrayView2, s};
use tilewright_hybrid::store::{Extents, Sink, Source, Stored, Tile};

/// Pseudo-random 64-bit numbers.
pub(super) fn numbers(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A matrix of random values.
pub(super) fn matrix<T: Random>(rows: usize, columns: usize, seed: u64) -> Array2<T> {
    let mut next = numbers(seed);
    Array2::from_shape_simple_fn((rows, columns), || T::random(&mut next))
}

/// Element types of which there are random values.
pub(super) trait Random: Stored + PartialEq + std::fmt::Debug {
    fn random(next: &mut impl FnMut() -> u64) -> Self;
}

macro_rules! random {
    ($($type:ty: $next:ident => $value:expr),* $(,)?) => {$(
        impl Random for $type {
            fn random($next: &mut impl FnMut() -> u64) -> Self {
                $value
            }
        }
    )*};
}

random!(
    i8: next => next() as i8,
    i16: next => next() as i16,
    i32: next => next() as i32,
    i64: next => next() as i64,
    u8: next => next() as u8,
    u16: next => next() as u16,
    u32: next => next() as u32,
    u64: next => next(),
    bool: next => next() % 2 == 1,
    f32: next => (next() as i32) as f32,
    f64: next => (next() as i64) as f64,
    half::f16: next => half::f16::from_f32((next() as i8).into()),
    half::bf16: next => half::bf16::from_f32((next() as i8).into()),
    num_complex::Complex<f32>: next => num_complex::Complex::new((next() as i16).into(), (next() as i16).into()),
    num_complex::Complex<f64>: next => num_complex::Complex::new((next() as i32).into(), (next() as i32).into()),
);

/// A tile's elements, row by row.
pub(super) fn part<T: Stored>(matrix: &ArrayView2<'_, T>, tile: &Tile) -> Vec<T> {
    matrix.slice(s![tile.rows.clone(), tile.columns.clone()]).iter().copied().collect()
}

/// Random tiles, empty ones and the whole among them.
pub(super) fn some_tiles(extents: Extents, count: usize, seed: u64) -> Vec<Tile> {
    let mut next = numbers(seed);
    let mut range = |limit: usize| {
        let (one, other) = (next() as usize % (limit + 1), next() as usize % (limit + 1));
        one.min(other)..one.max(other)
    };
    let mut tiles: Vec<_> =
        (0..count).map(|_| Tile { rows: range(extents.rows), columns: range(extents.columns) }).collect();
    tiles.push(extents.whole());
    tiles
}

/// Asserts that every tile of a source is that of the matrix; buffers are poisoned before.
pub(super) fn check_source<T: Random>(source: &dyn Source, matrix: &ArrayView2<'_, T>) {
    use tilewright_hybrid::store::ReadTyped;
    let extents = Extents::new(matrix.nrows(), matrix.ncols());
    assert_eq!((source.extents(), source.element()), (extents, T::ELEMENT));
    let mut poison = numbers(99);
    for tile in some_tiles(extents, 20, 3) {
        let expected = part(matrix, &tile);
        let mut got: Vec<T> = (0..expected.len()).map(|_| T::random(&mut poison)).collect();
        source.prefetch(&tile).unwrap();
        source.read(&tile, &mut got).unwrap();
        source.release(&tile).unwrap();
        assert!(got == expected, "{tile:?} of {extents:?} {}", T::ELEMENT.name());
    }
}

/// Writes a matrix in tiles of a size, in an order that is none.
pub(super) fn fill<T: Random>(sink: &dyn Sink, matrix: &ArrayView2<'_, T>, size: Extents) {
    use tilewright_hybrid::store::WriteTyped;
    let mut tiles: Vec<_> = sink.extents().tiles(size).collect();
    let mut next = numbers(11);
    tiles.sort_by_cached_key(|_| next());
    tiles.iter().for_each(|tile| sink.write(tile, &part(matrix, tile)).unwrap());
}
