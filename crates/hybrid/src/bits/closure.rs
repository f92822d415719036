//! Relations: element (i, j) says whether i comes before j. All of this is the CPU's; [`Device`](crate::Device) has closures and reductions on either processor.

use crate::{
    Error,
    bits::{BitMatrix, Join, Path, Product, causal, join_into},
};

/// Vertices that are taken as intermediate ones together: the words of a row's padding.
const PIVOTS: usize = 128;

/// The transitive closure: (i, j) is set if there is a path of one or more steps from i to j. It is reflexive where there are cycles alone.
///
/// Warshall's algorithm over blocks of 128 intermediate vertices: their rows are closed one by one, and all others are joined with
/// them by tables, which is the work of one [`Product::paths`]; repeated squaring takes up to log2 n of them.
///
/// # Errors
/// [`Error::NotSquare`].
pub fn closure(relation: &BitMatrix) -> Result<BitMatrix, Error> {
    square("bits::closure", relation)?;
    let size = relation.rows();
    let mut closed = relation.clone();
    for first in (0..size).step_by(PIVOTS) {
        let count = PIVOTS.min(size - first);
        close_pivots(&mut closed, first, count);
        let pivots = closed.row_range(first, count)?;
        let keys = keys(&closed, first, count)?;
        join_into(&mut closed, &keys, &pivots, Join::Or, Path::best());
    }
    Ok(closed)
}

/// The transitive reduction of a relation without cycles: the smallest relation with the same closure. It is the relation without each
/// (i, j) that a longer path makes unnecessary (Aho, Garey and Ullman, 1972).
///
/// # Errors
/// [`Error::NotSquare`]; [`Error::Cyclic`] if there is a cycle, a loop included: no smallest relation is then the only one.
pub fn reduction(relation: &BitMatrix) -> Result<BitMatrix, Error> {
    square("bits::reduction", relation)?;
    causal::order("bits::reduction", relation)?;
    let closed = closure(relation)?;
    relation.and_not(&Product::of(relation, &closed)?.paths()?)
}

pub(crate) fn square(operation: &'static str, relation: &BitMatrix) -> Result<(), Error> {
    let (rows, columns) = (relation.rows(), relation.columns());
    if rows == columns { Ok(()) } else { Err(Error::NotSquare { operation, rows, columns }) }
}

/// Joins what the pivots reach through one another.
fn close_pivots(relation: &mut BitMatrix, first: usize, count: usize) {
    for through in first..first + count {
        let reached = relation.row_words(through).to_vec();
        for row in first..first + count {
            if relation.get(row, through) == Some(true) {
                relation.row_words_mut(row).iter_mut().zip(&reached).for_each(|(to, from)| *to |= from);
            }
        }
    }
}

/// Which pivots each row reaches; nothing for the pivots' own rows, which are closed.
fn keys(relation: &BitMatrix, first: usize, count: usize) -> Result<BitMatrix, Error> {
    let mut keys = BitMatrix::zeros(relation.rows(), count)?;
    for row in (0..first).chain(first + count..relation.rows()) {
        let from = &relation.row_words(row)[first / 64..];
        keys.row_words_mut(row).iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    Ok(keys)
}
