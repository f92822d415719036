//! Closures by repeated squares: what a GPU does, whose products are fast and whose steps are few.
//!
//! With its diagonal a relation says what is reached in one step or none, its square what is in two or fewer, and so on. When a square has nothing new, or
//! all paths are as short as it allows, a last product with the relation itself leaves what takes a step or more.

use super::BitMatrix;
use crate::Error;
use std::borrow::Cow;

/// Who multiplies relations, where those are.
pub(crate) trait Multiplier {
    /// A relation, where the others are.
    type Relation;

    fn bring(&self, relation: Cow<'_, BitMatrix>) -> Result<Self::Relation, Error>;

    fn transposed(&self, relation: &Self::Relation) -> Result<Self::Relation, Error>;

    /// The product over (OR, AND) of a relation with one that is given transposed.
    fn paths(&self, left: &Self::Relation, transposed: &Self::Relation) -> Result<Self::Relation, Error>;

    fn count_ones(&self, relation: &Self::Relation) -> Result<u64, Error>;
}

/// Relations that are there at one time: two factors and a product.
pub(crate) const AT_ONCE: usize = 3;

/// Squares that a closure of so many elements takes at most: no path needs more steps than there are others.
pub(crate) fn most_squares(size: usize) -> u32 {
    match size {
        0..=2 => 0,
        _ => usize::BITS - (size - 2).leading_zeros(),
    }
}

/// What is reached in one step or more.
pub(crate) fn closure<M: Multiplier>(by: &M, relation: &BitMatrix) -> Result<M::Relation, Error> {
    let reached = reached(by, relation)?;
    by.paths(&reached, &steps(by, relation)?)
}

/// What is reached in two steps or more.
pub(crate) fn longer<M: Multiplier>(by: &M, relation: &BitMatrix) -> Result<M::Relation, Error> {
    let reached = reached(by, relation)?;
    let steps = steps(by, relation)?;
    let closed = by.paths(&reached, &steps)?;
    drop(reached);
    by.paths(&closed, &steps)
}

/// What is reached in any number of steps, none among them.
fn reached<M: Multiplier>(by: &M, relation: &BitMatrix) -> Result<M::Relation, Error> {
    let mut with_diagonal = relation.clone();
    (0..relation.rows()).for_each(|at| _ = with_diagonal.set(at, at, true));
    let mut reached = by.bring(Cow::Owned(with_diagonal))?;
    let mut ones = by.count_ones(&reached)?;
    for _ in 0..most_squares(relation.rows()) {
        let transposed = by.transposed(&reached)?;
        reached = by.paths(&reached, &transposed)?;
        let more = by.count_ones(&reached)?;
        if more == ones {
            break;
        }
        ones = more;
    }
    Ok(reached)
}

/// The relation, transposed.
fn steps<M: Multiplier>(by: &M, relation: &BitMatrix) -> Result<M::Relation, Error> {
    by.transposed(&by.bring(Cow::Borrowed(relation))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{self, Product};
    use std::cell::Cell;

    /// On the host, by the CPU's products, counting them.
    #[derive(Default)]
    struct Here(Cell<u32>);

    impl Multiplier for Here {
        type Relation = BitMatrix;

        fn bring(&self, relation: Cow<'_, BitMatrix>) -> Result<BitMatrix, Error> {
            Ok(relation.into_owned())
        }

        fn transposed(&self, relation: &BitMatrix) -> Result<BitMatrix, Error> {
            relation.transposed()
        }

        fn paths(&self, left: &BitMatrix, transposed: &BitMatrix) -> Result<BitMatrix, Error> {
            self.0.set(self.0.get() + 1);
            Product::of_rows(left, transposed)?.paths()
        }

        fn count_ones(&self, relation: &BitMatrix) -> Result<u64, Error> {
            Ok(relation.count_ones())
        }
    }

    fn check(relation: &BitMatrix) -> u32 {
        let here = Here::default();
        assert_eq!(closure(&here, relation).unwrap(), bits::closure::closure(relation).unwrap());
        let products = here.0.get();
        assert!(products <= most_squares(relation.rows()) + 1, "{products} for {}", relation.rows());
        if let Ok(reduced) = bits::closure::reduction(relation) {
            let longer = longer(&Here::default(), relation).unwrap();
            assert_eq!(relation.and_not(&longer).unwrap(), reduced);
        }
        products
    }

    #[test]
    fn closures_by_squares_are_warshalls() {
        for size in [0, 1, 2, 3, 63, 64, 65, 129, 300] {
            let of = |step: &dyn Fn(usize, usize) -> bool| BitMatrix::from_fn(size, size, step).unwrap();
            check(&of(&|_, _| false));
            check(&of(&|from, to| from == to));
            check(&of(&|_, _| true));
            // A chain, either way, and a ring: the longest paths.
            check(&of(&|from, to| from + 1 == to));
            check(&of(&|from, to| from == to + 1));
            check(&of(&|from, to| (from + 1) % size == to));
            for seed in 1..4 {
                let sparse = BitMatrix::random(size, size, (1.5 / size.max(1) as f64).min(0.5), seed).unwrap();
                check(&sparse);
                check(&of(&|from, to| from < to && sparse.get(from, to) == Some(true)));
                check(&of(&|from, to| from > to && sparse.get(to, from) == Some(true)));
            }
        }
    }

    #[test]
    fn no_more_squares_are_taken_than_there_are_steps_to_find() {
        let chain = |length: usize| BitMatrix::from_fn(1000, 1000, |from, to| from + 1 == to && to < length).unwrap();
        // Paths of 999 steps take ten squares, those of 3 two, and one more to find nothing new; then the last product.
        assert_eq!([1000, 4, 0].map(|length| check(&chain(length))), [11, 4, 2]);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 1000].map(most_squares), [0, 0, 0, 1, 2, 2, 3, 10]);
        for size in 2..2000 {
            // The least power of two that is no shorter than the longest path.
            assert_eq!(1usize << most_squares(size), (size - 1).next_power_of_two(), "{size}");
        }
    }
}
