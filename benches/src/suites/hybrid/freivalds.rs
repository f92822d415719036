//! Whether a product is one, without multiplying: `a (b x) = c x` for random vectors (Freivalds 1977).

use crate::Result;
use crate::cases::Random;
use rayon::prelude::*;
use tilewright_hybrid::linear::Scalar;

/// Vectors at once: what a wrong element escapes with is at most 2^-8.
const VECTORS: usize = 8;

/// That `c = a b`, of square matrices of real numbers in -1..1 that lie row by row. What differs by more than rounding is an error.
pub fn check<T: Scalar>([a, b, c]: [&[T]; 3], size: usize) -> Result<()> {
    let mut random = Random::new(size as u64);
    let vectors: Vec<[f64; VECTORS]> = (0..size)
        .map(|_| {
            let signs = random.bits();
            std::array::from_fn(|at| if signs >> at & 1 == 1 { 1.0 } else { -1.0 })
        })
        .collect();
    let (expected, got) = (times(a, &times(b, &vectors)), times(c, &vectors));
    // Sums of `size` elements, each of which is a sum of as many products: errors add up like random walks, with a large margin.
    let tolerance = 16.0 * T::EPSILON * (size as f64).powf(1.5);
    let off = |row: usize| {
        let differences = expected[row].iter().zip(&got[row]).map(|(expected, got)| (expected - got).abs());
        differences.fold(0.0, |largest, it: f64| if it <= largest { largest } else { it })
    };
    // What is no number is no product.
    let is_right = |row: &usize| off(*row) <= tolerance;
    let wrong: Vec<usize> = (0..size).filter(|row| !is_right(row)).collect();
    match wrong.first() {
        None => Ok(()),
        Some(first) => {
            let count = wrong.len();
            Err(format!("{count} of {size} rows are wrong, the first is {first}: {} > {tolerance}", off(*first)).into())
        }
    }
}

fn times<T: Scalar>(matrix: &[T], vectors: &[[f64; VECTORS]]) -> Vec<[f64; VECTORS]> {
    let of_row = |row: &[T]| {
        row.iter().zip(vectors).fold([0.0; VECTORS], |mut sums, (value, vector)| {
            let value = value.wide().re;
            sums.iter_mut().zip(vector).for_each(|(sum, element)| *sum += value * element);
            sums
        })
    };
    matrix.par_chunks_exact(vectors.len().max(1)).map(of_row).collect()
}
