//! Whether counts are those of a product, without multiplying: `left (right x) = counts x` for random vectors x of ones and minus ones (Freivalds 1977).

use super::BitMatrix;
use super::random::next;
use crate::Error;
use crate::dispatch;
use crate::stream::Verify;
use ndarray::Array2;
use rayon::prelude::*;

/// That these are the counts of `left`, m x k, and `right`, k x n: else [`Error::WrongProduct`]. Integers are exact, so nothing is allowed. A wrong row
/// escapes each of the vectors with a chance of a half at most.
pub(crate) fn check_counts(
    left: &BitMatrix,
    right: &BitMatrix,
    counts: &Array2<i32>,
    verify: Verify,
) -> Result<(), Error> {
    let (mut state, rows) = (verify.seed, counts.nrows());
    let mut off = vec![0; rows];
    for _ in 0..verify.vectors.max(1) {
        let signs: Vec<u64> = (0..right.words_per_row()).map(|_| next(&mut state)).collect();
        // Bits that meet a one, less those that meet a minus one.
        let of_right: Vec<i64> = right.row_iter().map(|row| 2 * both(row, &signs) - ones(row)).collect();
        off.par_iter_mut().enumerate().filter(|(_, off)| **off == 0).for_each(|(row, off)| {
            let expected: i64 = left.ones_of_row(row).map(|at| of_right[at]).sum();
            let signed = |(column, count): (usize, &i32)| i64::from(*count) * sign(&signs, column);
            *off = expected - counts.row(row).iter().enumerate().map(signed).sum::<i64>();
        });
    }
    let wrong = off.iter().filter(|off| **off != 0).count();
    match off.iter().position(|off| *off != 0) {
        Some(row) => {
            let difference = off[row].unsigned_abs() as f64;
            Err(Error::WrongProduct { product: None, row, difference, allowed: 0.0, wrong, rows })
        }
        None => {
            dispatch::checked(0.0);
            Ok(())
        }
    }
}

fn ones(row: &[u64]) -> i64 {
    row.iter().map(|word| i64::from(word.count_ones())).sum()
}

fn both(row: &[u64], signs: &[u64]) -> i64 {
    row.iter().zip(signs).map(|(word, signs)| i64::from((word & signs).count_ones())).sum()
}

/// A bit that is set is one, others are minus one.
fn sign(signs: &[u64], column: usize) -> i64 {
    2 * (signs[column / 64] >> (column % 64) & 1) as i64 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::Product;

    #[test]
    fn a_count_that_is_off_is_found_and_right_ones_pass() {
        let [left, right] =
            [(70, 200, 1), (200, 90, 2)].map(|(m, n, seed)| BitMatrix::random(m, n, 0.3, seed).unwrap());
        let (mut counts, verify) = (Product::of(&left, &right).unwrap().counts().unwrap(), Verify::default());
        let check = |counts: &Array2<i32>| check_counts(&left, &right, counts, verify);
        check(&counts).unwrap();
        for (row, column) in [(0, 0), (69, 89), (33, 64)] {
            counts[[row, column]] += 1;
            let error = check(&counts).unwrap_err();
            let Error::WrongProduct { row: at, difference: 1.0, allowed: 0.0, wrong: 1, rows: 70, .. } = error else {
                panic!("{error}")
            };
            assert_eq!(at, row);
            counts[[row, column]] -= 1;
        }
        // Two that a vector of ones would not tell from none.
        counts[[5, 7]] += 1;
        counts[[5, 8]] -= 1;
        assert!(matches!(check(&counts), Err(Error::WrongProduct { row: 5, .. })));
        check_counts(&BitMatrix::zeros(0, 200).unwrap(), &right, &Array2::zeros((0, 90)), verify).unwrap();
    }
}
