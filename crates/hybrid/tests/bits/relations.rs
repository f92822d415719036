//! X6: closure, reduction and chains against Warshall's algorithm, closed forms and matrices of f64.

use ndarray::Array2;
use proptest::prelude::*;
use tilewright_hybrid::{
    Class, Error,
    bits::{
        BitMatrix, Product,
        causal::{chain_sums, chains},
        closure::{closure, reduction},
    },
};

use super::truth::array;

/// Warshall's three loops, element by element.
fn warshall(relation: &Array2<bool>) -> Array2<bool> {
    let mut closed: Vec<Vec<bool>> = relation.rows().into_iter().map(|row| row.to_vec()).collect();
    for through in 0..closed.len() {
        let reached = closed[through].clone();
        for from in closed.iter_mut().filter(|from| from[through]) {
            from.iter_mut().zip(&reached).for_each(|(to, there)| *to |= there);
        }
    }
    Array2::from_shape_fn(relation.dim(), |(from, to)| closed[from][to])
}

/// A random relation, about `degree` ones a row; `later` alone if it shall have no cycles.
fn relation(size: usize, degree: u64, seed: u64) -> Array2<bool> {
    let mut one = array(size, size, 8, seed);
    let keep = array(size, size, degree, seed ^ 1);
    let rare = array(size, size, 1, seed ^ 2);
    one.zip_mut_with(&keep, |one, &keep| *one &= keep);
    one.zip_mut_with(&rare, |one, &rare| *one &= rare);
    one
}

fn without_cycles(size: usize, degree: u64, seed: u64) -> Array2<bool> {
    let mut relation = relation(size, degree, seed);
    relation.indexed_iter_mut().for_each(|((from, to), one)| *one &= from < to);
    relation
}

fn bits(relation: &Array2<bool>) -> BitMatrix {
    BitMatrix::from_array(relation.view()).unwrap()
}

#[test]
fn x6_closure_is_warshalls() {
    for (size, degree) in [(1, 8), (2, 8), (63, 3), (128, 2), (129, 1), (300, 1), (512, 1), (257, 0)] {
        for relation in [relation(size, degree, 1), without_cycles(size, degree, 2)] {
            assert_eq!(closure(&bits(&relation)).unwrap().to_array(), warshall(&relation), "{size}");
        }
    }
}

#[test]
fn x6_a_ring_reaches_everything() {
    let ring = BitMatrix::from_fn(500, 500, |from, to| (from + 1) % 500 == to).unwrap();
    assert_eq!(closure(&ring).unwrap(), BitMatrix::ones(500, 500).unwrap());
    let line = BitMatrix::from_fn(500, 500, |from, to| from + 1 == to).unwrap();
    assert_eq!(closure(&line).unwrap(), BitMatrix::from_fn(500, 500, |from, to| from < to).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn x6_reduction_is_the_smallest_with_the_same_closure(size in 1usize..120, degree in 1u64..6, seed: u64) {
        let order = bits(&without_cycles(size, degree, seed));
        let reduced = reduction(&order).unwrap();
        let closed = closure(&order).unwrap();
        prop_assert_eq!(&closure(&reduced).unwrap(), &closed);
        prop_assert_eq!(&reduction(&closed).unwrap(), &reduced);
        // Each that is left is needed: between its ends there is nothing.
        for from in 0..size {
            for to in reduced.ones_of_row(from) {
                let between = (0..size).any(|at| closed.get(from, at) == Some(true) && closed.get(at, to) == Some(true));
                prop_assert!(!between);
            }
        }
    }

    #[test]
    fn x6_closures_are_closed(size in 1usize..300, degree in 0u64..4, seed: u64) {
        let relation = bits(&relation(size, degree, seed));
        let closed = closure(&relation).unwrap();
        let twice = Product::of(&closed, &closed).unwrap().paths().unwrap();
        prop_assert_eq!(twice.and_not(&closed).unwrap().count_ones(), 0);
        prop_assert_eq!(relation.and_not(&closed).unwrap().count_ones(), 0);
        prop_assert_eq!(closure(&closed).unwrap(), closed);
    }
}

#[test]
fn x6_squares_of_a_total_order_have_a_closed_form() {
    let size = 300;
    let order = BitMatrix::from_fn(size, size, |from, to| from < to).unwrap();
    let square = Product::of(&order, &order).unwrap().counts().unwrap();
    for ((from, to), &count) in square.indexed_iter() {
        assert_eq!(count, (to as i32 - from as i32 - 1).max(0));
    }
}

#[test]
fn x6_chains_of_a_total_order_double_with_each_element() {
    let order = BitMatrix::from_fn(60, 60, |from, to| from < to).unwrap();
    for ((from, to), &ways) in chains(&order).unwrap().indexed_iter() {
        assert_eq!(ways, if from < to { 1 << (to - from - 1) } else { 0 });
    }
    let more = BitMatrix::from_fn(70, 70, |from, to| from < to).unwrap();
    assert!(matches!(chains(&more), Err(Error::Overflow { .. })));
}

#[test]
fn x6_chain_sums_solve_their_equation() {
    for (size, a) in [(1, 1.0), (40, 0.5), (150, -2.25), (97, 3.0)] {
        // Neither upper nor lower triangular: elements are renamed.
        let order = without_cycles(size, 4, 7);
        let renamed = Array2::from_shape_fn((size, size), |(i, j)| order[[i * 7 % size, j * 7 % size]]);
        let relation = if size % 7 == 0 { order } else { renamed };
        let sums = chain_sums(&bits(&relation), a).unwrap();
        let c = relation.mapv(|one| f64::from(u8::from(one)));
        let left = sums.dot(&(Array2::<f64>::eye(size) * a + &c));
        let scale = sums.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        let worst = (left - c).iter().fold(0.0, |worst: f64, value| worst.max(value.abs()));
        assert!(worst <= 1e-12 * scale * size as f64, "{size}: {worst}, values up to {scale}");
    }
}

#[test]
fn what_has_cycles_has_no_order() {
    let ring = BitMatrix::from_fn(5, 5, |from, to| (from + 1) % 5 == to).unwrap();
    let aside = BitMatrix::from_fn(2, 3, |_, _| false).unwrap();
    assert_eq!(reduction(&ring).unwrap_err().to_string().matches('5').count(), 1);
    assert!(matches!(chains(&ring), Err(Error::Cyclic { vertex: 0, left: 5, .. })));
    assert!(matches!(chain_sums(&BitMatrix::identity(3).unwrap(), 1.0), Err(Error::Cyclic { .. })));
    for error in [closure(&aside).unwrap_err(), reduction(&aside).unwrap_err(), chains(&ring).unwrap_err()] {
        assert_eq!(error.class(), Class::User, "{error}");
    }
    assert_eq!(chain_sums(&BitMatrix::zeros(2, 2).unwrap(), 0.0).unwrap_err().class(), Class::Numeric);
}
