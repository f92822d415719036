//! NPP's names, each function against a slow one written from docs/notes/npp.md.

mod arithmetic;
mod exchange;
mod geometry;

use crate::support::Random;
use tilewright_ops::npp::{C, X, Y};
use tilewright_ops::{Error, Item, Tensor};

const ROWS: usize = 5;
const COLUMNS: usize = 7;
const COUNT: usize = ROWS * COLUMNS * 3;

/// Integers of any size, the ends of the range and 0 often among them.
fn integers<T: TryFrom<i64>>(seed: u64, low: i64, high: i64) -> Vec<T> {
    let mut random = Random(seed);
    let any = |r: &mut Random| low + r.below((high - low + 1) as u64) as i64;
    let value = |r: &mut Random| match r.below(8) {
        0 => low,
        1 => high,
        2 => 0,
        3 => (1 - 2 * i64::from(low < 0) * r.below(2) as i64) * r.below(6) as i64,
        _ => any(r),
    };
    (0..COUNT).map(|_| T::try_from(value(&mut random)).ok().expect("in range")).collect()
}

fn bytes(seed: u64) -> Vec<u8> {
    integers(seed, 0, 255)
}

fn floats(seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    // Halves, and anything.
    let value = |r: &mut Random| match r.below(3) {
        0 => r.below(1200) as f32 / 2.0 - 200.0,
        _ => (r.unit() * 900.0 - 300.0) as f32,
    };
    (0..COUNT).map(|_| value(&mut random)).collect()
}

fn image<T: Item>(values: &[T]) -> Result<Tensor<T, (Y, X, C)>, Error> {
    Tensor::from_vec([ROWS, COLUMNS, 3], values.to_vec())
}

/// The values that `f` gives for each index.
fn each<T>(f: impl Fn(usize) -> T) -> Vec<T> {
    (0..COUNT).map(f).collect()
}
