//! Products of matrices, divided among threads: by results, as faer does it, by their sums where results are few, or not at all.

use faer::linalg::matmul::matmul_with_conj;
use faer::traits::ComplexField;
use faer::{Accum, Conj, MatMut, MatRef, Par};

use super::{conj, parallelism};
use crate::{
    matrix::Element,
    raw::{Elements, ElementsMut},
};

/// Operations from which on several threads are faster than one: until 16 of them work some 0.15 ms pass (beside an H200, 2026-11-24), in
/// which one does four million and more.
const SHARED: f64 = 4e6;

/// Elements of a matrix from which on its product with a vector is shared: it is read once, at 24 GB/s by one core where it is in no cache of its own (1219 x 1198 f64 in 0.5 ms beside an H200, 2026-11-29).
const SHARED_ELEMENTS: usize = 1 << 20;

/// Products of a part of a sum at least: fewer do not pay for the addition of its results.
const LEAST_DEPTH: usize = 256;

/// How often a sum is longer than the longer side of the result before it is divided. Sides of results are what faer divides.
const LONGER: usize = 4;

/// Results below which faer has too little to divide among threads.
const FEW_RESULTS: usize = 512 * 512;

/// How threads share a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// One does it.
    Alone,
    /// Each has some of the results.
    Results,
    /// Each has so many parts of all sums, which are added in the end.
    Sums(usize),
}

impl Division {
    /// How that many threads share the product of these rows, columns and depth.
    pub(crate) fn of([rows, columns, depth]: [usize; 3], complex: bool, threads: usize) -> Division {
        let operations = if complex { 8.0 } else { 2.0 } * rows as f64 * columns as f64 * depth as f64;
        let is_vector = rows == 1 || columns == 1;
        let is_read = is_vector && rows.saturating_mul(columns).saturating_mul(depth) >= SHARED_ELEMENTS;
        if threads < 2 || operations < SHARED && !is_read {
            return Division::Alone;
        }
        let is_long = depth / LONGER >= rows.max(columns) && rows.saturating_mul(columns) <= FEW_RESULTS;
        match threads.min(depth / LEAST_DEPTH) {
            parts @ 2.. if is_long => Division::Sums(parts),
            _ => Division::Results,
        }
    }
}

/// A factor, and whether it is conjugated.
type Factor<'a, T> = (MatRef<'a, T>, Conj);

/// `c = alpha * a * b`, added to what `c` has where `added` is true.
pub(super) fn multiply<T: Element + ComplexField>(
    c: &mut ElementsMut<'_, T>,
    added: bool,
    alpha: T,
    a: (Elements<'_, T>, bool),
    b: (Elements<'_, T>, bool),
) {
    let factors = [(a.0.faer(), conj(a.1)), (b.0.faer(), conj(b.1))];
    let accum = if added { Accum::Add } else { Accum::Replace };
    let c = c.faer();
    let extents = [c.nrows(), c.ncols(), factors[0].0.ncols()];
    match Division::of(extents, !T::IS_REAL, rayon::current_num_threads()) {
        Division::Alone => product(c, accum, alpha, factors, Par::Seq),
        Division::Sums(parts) => match results(parts - 1, extents) {
            Some(mut others) => sum(c, &mut others, parts, accum, alpha, factors),
            // Too little memory for results of parts.
            None => product(c, accum, alpha, factors, parallelism()),
        },
        // Vectors are nothing that faer divides.
        Division::Results if extents[1] == 1 => rows(c, rayon::current_num_threads(), accum, alpha, factors),
        Division::Results if extents[0] == 1 => {
            let [a, b] = factors;
            let factors = [(b.0.transpose(), b.1), (a.0.transpose(), a.1)];
            rows(c.transpose_mut(), rayon::current_num_threads(), accum, alpha, factors)
        }
        Division::Results => product(c, accum, alpha, factors, parallelism()),
    }
}

/// In so many parts of the rows.
fn rows<T: Element + ComplexField>(c: MatMut<'_, T>, parts: usize, accum: Accum, alpha: T, [a, b]: [Factor<'_, T>; 2]) {
    let rows_of_c = c.nrows();
    if parts <= 1 || rows_of_c <= 1 {
        return product(c, accum, alpha, [a, b], Par::Seq);
    }
    let first = parts / 2;
    let middle = rows_of_c * first / parts;
    let ((above, below), (of_above, of_below)) = (c.split_at_row_mut(middle), a.0.split_at_row(middle));
    rayon::join(
        || rows(above, first, accum, alpha, [(of_above, a.1), b]),
        || rows(below, parts - first, accum, alpha, [(of_below, a.1), b]),
    );
}

fn product<T: ComplexField>(c: MatMut<'_, T>, accum: Accum, alpha: T, [a, b]: [Factor<'_, T>; 2], par: Par) {
    matmul_with_conj(c, accum, a.0, a.1, b.0, b.1, alpha, par);
}

/// Memory for the results of so many parts.
fn results<T: Element>(parts: usize, [rows, columns, _]: [usize; 3]) -> Option<Vec<T>> {
    let len = rows.checked_mul(columns)?.checked_mul(parts)?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(len).ok()?;
    memory.resize(len, T::ZERO);
    Some(memory)
}

/// The product in so many parts of the depth, halves of halves, each half added to the other one when both are there: always in the same
/// order, whichever comes first. `others` has room for the results of all parts but one.
fn sum<T: Element + ComplexField>(
    mut c: MatMut<'_, T>,
    others: &mut [T],
    parts: usize,
    accum: Accum,
    alpha: T,
    [a, b]: [Factor<'_, T>; 2],
) {
    if parts == 1 {
        return product(c, accum, alpha, [a, b], Par::Seq);
    }
    let (rows, columns, depth) = (c.nrows(), c.ncols(), a.0.ncols());
    let first = parts / 2;
    let middle = depth * first / parts;
    let (left, right) = (a.0.split_at_col(middle), b.0.split_at_row(middle));
    let (own, others) = others.split_at_mut(rows * columns);
    let (others, behind) = others.split_at_mut((first - 1) * rows * columns);
    let mut second = MatMut::from_column_major_slice_mut(own, rows, columns);
    rayon::join(
        || sum(c.as_mut(), others, first, accum, alpha, [(left.0, a.1), (right.0, b.1)]),
        || sum(second.as_mut(), behind, parts - first, Accum::Replace, alpha, [(left.1, a.1), (right.1, b.1)]),
    );
    c += &second;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Complex64;
    use crate::linear::{Place, Precision, matmul};
    use ndarray::Array2;

    #[test]
    fn what_is_divided_and_how() {
        let of = |extents| Division::of(extents, false, 16);
        assert_eq!(of([64, 64, 64]), Division::Alone);
        assert_eq!(Division::of([4096; 3], false, 1), Division::Alone);
        assert_eq!(of([4096; 3]), Division::Results);
        assert_eq!(of([87, 247, 4353]), Division::Sums(16));
        assert_eq!(of([100, 100, 1000]), Division::Sums(3));
        // Longer sums, but results enough for all threads; and too short ones.
        assert_eq!(of([1000, 1000, 10_000]), Division::Results);
        assert_eq!(of([300, 300, 1000]), Division::Results);
        assert_eq!(of([usize::MAX, 2, usize::MAX]), Division::Results);
        assert_eq!(Division::of([87, 87, 4353], true, 4), Division::Sums(4));
        // Vectors, by what is read.
        assert_eq!(of([1219, 1, 1198]), Division::Results);
        assert_eq!(of([1, 1198, 1219]), Division::Results);
        assert_eq!(of([1, 100, 20_000]), Division::Sums(16));
        assert_eq!(of([1000, 1, 1000]), Division::Alone);
        assert_eq!(of([1000, 2, 999]), Division::Alone);
    }

    #[test]
    fn results_of_parts_that_no_memory_has() {
        assert!(
            results::<f64>(3, [usize::MAX, 2, 1]).is_none() && results::<f64>(1 << 20, [1 << 20, 1 << 20, 1]).is_none()
        );
        assert_eq!(results::<f32>(2, [3, 4, 5]).map(|memory| memory.len()), Some(24));
    }

    /// More parts than this machine has threads, fewer products than parts, and results that are there: against sums of whole numbers.
    #[test]
    fn parts_add_up_to_the_whole() {
        let value = |i: usize| ((i * 7919 + 13) % 31) as f64 - 15.0;
        for (rows, columns, depth) in [(1, 1, 1), (3, 5, 1), (7, 2, 16), (5, 3, 257), (1, 11, 1001)] {
            let [a, b, before] =
                [rows * depth, depth * columns, rows * columns].map(|len| (0..len).map(value).collect::<Vec<_>>());
            let a_view = MatRef::from_column_major_slice(&a, rows, depth);
            // Row by row.
            let b_view = MatRef::from_row_major_slice(&b, depth, columns);
            for (parts, accum) in
                [1, 2, 3, 5, 16].into_iter().flat_map(|parts| [(parts, Accum::Replace), (parts, Accum::Add)])
            {
                let mut c = if accum == Accum::Add { before.clone() } else { vec![f64::NAN; before.len()] };
                let mut others = results::<f64>(parts - 1, [rows, columns, depth]).unwrap();
                let view = MatMut::from_column_major_slice_mut(&mut c, rows, columns);
                sum(view, &mut others, parts, accum, -2.0, [(a_view, Conj::No), (b_view, Conj::Yes)]);
                for (at, got) in c.into_iter().enumerate() {
                    let (i, j) = (at % rows, at / rows);
                    let exact: f64 = (0..depth).map(|k| a[i + k * rows] * b[k * columns + j]).sum();
                    let there = if accum == Accum::Add { before[at] } else { 0.0 };
                    assert_eq!(got, there - 2.0 * exact, "{rows} x {columns} of {depth} in {parts} parts");
                }
            }
        }
    }

    /// More than one thread reads it, conjugated and added to what is there, and the other way round.
    #[test]
    fn products_with_vectors_are_shared() {
        let (rows, depth) = (1219, 1198);
        let value = |at: usize| Complex64::new((at * 7 % 23) as f64 - 11.0, (at * 5 % 17) as f64 - 8.0);
        let matrix = Array2::from_shape_fn((rows, depth), |(i, k)| value(i * 31 + k));
        let vector = Array2::from_shape_fn((depth, 1), |(k, _)| value(k + 3));
        let old = Array2::from_shape_fn((rows, 1), |(i, _)| value(i + 5));
        let expected = matrix.mapv(|x| x.conj()).dot(&vector) * value(1) + &old;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let multiply = |a: crate::MatRef<'_, _>, b: crate::MatRef<'_, _>, c: &mut Array2<_>| {
            pool.install(|| matmul(&Place::Cpu, Precision::Auto, value(1), a, b, Complex64::ONE, c.into())).unwrap();
        };
        for matrix in [matrix.clone(), matrix.clone().reversed_axes().as_standard_layout().into_owned().reversed_axes()]
        {
            let [a, x] = [(&matrix).into(), (&vector).into()].map(|it: crate::MatRef<'_, Complex64>| it);
            let (mut c, mut turned) = (old.clone(), old.clone().reversed_axes());
            multiply(a.conj(), x, &mut c);
            multiply(x.t(), a.t().conj(), &mut turned);
            for got in [c.view(), turned.t()] {
                let off = got.iter().zip(&expected).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
                assert!(off <= 1e-9, "{off}");
            }
        }
    }
}
