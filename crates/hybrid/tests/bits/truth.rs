//! What is compared with: arrays of bool, and the definitions.

use ndarray::{Array2, ArrayView2};
use tilewright_hybrid::bits::BitMatrix;

/// Bits from a generator that the crate does not have: a linear one, whose high half is taken.
pub(crate) fn array(rows: usize, columns: usize, ones_in_eight: u64, seed: u64) -> Array2<bool> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    Array2::from_shape_simple_fn((rows, columns), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 61 < ones_in_eight
    })
}

/// The matrix, whose words held ones behind the last column before it was made.
pub(crate) fn hostile(elements: ArrayView2<'_, bool>) -> BitMatrix {
    let (rows, columns) = elements.dim();
    let honest = BitMatrix::from_array(elements).unwrap();
    let per_row = honest.words_per_row();
    let mut words = honest.words().to_vec();
    for row in words.chunks_mut(per_row.max(1)) {
        (columns..64 * per_row).for_each(|at| row[at / 64] |= 1 << (at % 64));
    }
    BitMatrix::from_words(rows, columns, words).unwrap()
}

/// How many pairs of row `i` and column `j` are both set.
pub(crate) fn count(a: &Array2<bool>, b: &Array2<bool>, i: usize, j: usize) -> u64 {
    a.row(i).iter().zip(b.column(j)).filter(|(a, b)| **a && **b).count() as u64
}

/// In how many places row `i` and column `j` differ.
pub(crate) fn distance(a: &Array2<bool>, b: &Array2<bool>, i: usize, j: usize) -> u64 {
    a.row(i).iter().zip(b.column(j)).filter(|(a, b)| a != b).count() as u64
}

/// All counts and distances of two matrices.
pub(crate) struct Truth {
    pub(crate) depth: usize,
    pub(crate) counts: Array2<u64>,
    pub(crate) distances: Array2<u64>,
}

impl Truth {
    /// By products of numbers, which are exact.
    pub(crate) fn of(a: &Array2<bool>, b: &Array2<bool>) -> Truth {
        let counted = |of_a: bool, of_b: bool| {
            let [left, right] = [(a, of_a), (b, of_b)].map(|(all, of)| all.mapv(|it| f64::from(u8::from(it == of))));
            left.dot(&right).mapv(|count| count as u64)
        };
        Truth { depth: a.ncols(), counts: counted(true, true), distances: counted(true, false) + counted(false, true) }
    }
}
