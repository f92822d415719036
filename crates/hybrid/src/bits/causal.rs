//! Chains in a relation without cycles, such as the causal order of a set of events.

use ndarray::Array2;
use rayon::prelude::*;

use crate::{
    Error,
    bits::{BitMatrix, as_array, closure::square},
};

/// How many chains lead from i to j: C + C^2 + C^3 + .., the number of ways along one or more steps.
///
/// # Errors
/// [`Error::NotSquare`]; [`Error::Cyclic`] if there is a cycle; [`Error::Overflow`] if a number of chains does not fit u64.
pub fn chains(relation: &BitMatrix) -> Result<Array2<u64>, Error> {
    let operation = "bits::chains";
    let order = order(operation, relation)?;
    let size = relation.rows();
    let mut ways = vec![0u64; elements(size)?];
    rows_of(&mut ways, size).enumerate().try_for_each(|(row, ways)| {
        relation.ones_of_row(row).for_each(|column| ways[column] = 1);
        for &through in &order {
            let here = ways[through];
            if here == 0 {
                continue;
            }
            for column in relation.ones_of_row(through) {
                let overflow = Error::Overflow { operation, element: "u64", row, column };
                ways[column] = here.checked_add(ways[column]).ok_or(overflow)?;
            }
        }
        Ok::<(), Error>(())
    })?;
    as_array(size, size, ways)
}

/// K = C (a I + C)^-1, the sum over chains in which each step counts -1/a, times -1: a scalar field's propagator on a causal set up to its
/// factor (Johnston, 2008). C is the relation, in any order of its elements; `a` is not zero.
///
/// Each row is solved by substitution along a topological order: a K = C - K C.
///
/// # Errors
/// [`Error::NotSquare`]; [`Error::Cyclic`] if there is a cycle; [`Error::Singular`] if `a` is zero.
pub fn chain_sums(relation: &BitMatrix, a: f64) -> Result<Array2<f64>, Error> {
    let order = order("bits::chain_sums", relation)?;
    let size = relation.rows();
    if a == 0.0 {
        return Err(Error::Singular { pivot: 0, size });
    }
    let mut sums = vec![0.0; elements(size)?];
    rows_of(&mut sums, size).enumerate().for_each(|(row, sums)| {
        relation.ones_of_row(row).for_each(|column| sums[column] = 1.0);
        for &through in &order {
            if sums[through] == 0.0 {
                continue;
            }
            sums[through] /= a;
            let here = sums[through];
            relation.ones_of_row(through).for_each(|column| sums[column] -= here);
        }
    });
    as_array(size, size, sums)
}

fn elements(size: usize) -> Result<usize, Error> {
    let fits = size.checked_mul(size).filter(|&all| all <= isize::MAX as usize / 8);
    fits.ok_or(Error::TooLarge { rows: size, columns: size, element_bits: 64 })
}

fn rows_of<T: Send>(values: &mut [T], size: usize) -> impl IndexedParallelIterator<Item = &mut [T]> {
    values.par_chunks_mut(size.max(1))
}

/// The elements, each behind all that come before it (Kahn).
pub(crate) fn order(operation: &'static str, relation: &BitMatrix) -> Result<Vec<usize>, Error> {
    square(operation, relation)?;
    let mut before = relation.column_counts();
    let mut order: Vec<usize> = (0..relation.rows()).filter(|&at| before[at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for later in relation.ones_of_row(at) {
            before[later] -= 1;
            if before[later] == 0 {
                order.push(later);
            }
        }
    }
    match before.iter().position(|&left| left != 0) {
        None => Ok(order),
        Some(vertex) => Err(Error::Cyclic { operation, vertex, left: relation.rows() - order.len() }),
    }
}
