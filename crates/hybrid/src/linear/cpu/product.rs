//! Products of matrices, divided among threads.

use faer::linalg::matmul::matmul_with_conj;
use faer::traits::ComplexField;
use faer::{Accum, Conj, MatMut, MatRef, Par};

use super::{Division, Kind, conj, parallelism};
use crate::{
    matrix::Element,
    raw::{Elements, ElementsMut},
};

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
    let (c, factors) = by_columns(c.faer(), factors);
    let extents = [c.nrows(), c.ncols(), factors[0].0.ncols()];
    let real = if T::IS_REAL { 1.0 } else { 4.0 };
    let turned = factors.map(|(it, _)| it.col_stride().unsigned_abs() < it.row_stride().unsigned_abs());
    let kind = Kind { bytes: size_of::<T>(), real, turned };
    match Division::of(extents, kind, rayon::current_num_threads()) {
        Division::Alone => product(c, accum, alpha, factors, Par::Seq),
        Division::Parts(parts) => parts_of(c, parts, accum, alpha, factors),
        Division::Shared => product(c, accum, alpha, factors, parallelism()),
    }
}

/// The transposed product, where that lies column by column, or is a vector that is no column.
fn by_columns<'a, 'b, T>(c: MatMut<'a, T>, [a, b]: [Factor<'b, T>; 2]) -> (MatMut<'a, T>, [Factor<'b, T>; 2]) {
    let lies_by_rows = c.col_stride().unsigned_abs() < c.row_stride().unsigned_abs();
    match if c.nrows() == 1 || c.ncols() == 1 { c.nrows() == 1 } else { lies_by_rows } {
        true => (c.transpose_mut(), [(b.0.transpose(), b.1), (a.0.transpose(), a.1)]),
        false => (c, [a, b]),
    }
}

/// Rows that vectors hold are not divided.
const TOGETHER: usize = 16;

/// In so many parts of the rows, of those in so many of the columns, and of these in so many of the depth.
fn parts_of<T: Element + ComplexField>(
    c: MatMut<'_, T>,
    [rows, columns, depth]: [usize; 3],
    accum: Accum,
    alpha: T,
    [a, b]: [Factor<'_, T>; 2],
) {
    let (rows_of_c, columns_of_c) = (c.nrows(), c.ncols());
    if rows_of_c == 0 || columns_of_c == 0 {
        return;
    }
    if rows > 1 {
        let first = rows / 2;
        let middle = (rows_of_c * first / rows).next_multiple_of(TOGETHER.min(rows_of_c.div_ceil(rows))).min(rows_of_c);
        let ((above, below), (of_above, of_below)) = (c.split_at_row_mut(middle), a.0.split_at_row(middle));
        rayon::join(
            || parts_of(above, [first, columns, depth], accum, alpha, [(of_above, a.1), b]),
            || parts_of(below, [rows - first, columns, depth], accum, alpha, [(of_below, a.1), b]),
        );
    } else if columns > 1 {
        let first = columns / 2;
        let middle = columns_of_c * first / columns;
        let ((left, right), (of_left, of_right)) = (c.split_at_col_mut(middle), b.0.split_at_col(middle));
        rayon::join(
            || parts_of(left, [1, first, depth], accum, alpha, [a, (of_left, b.1)]),
            || parts_of(right, [1, columns - first, depth], accum, alpha, [a, (of_right, b.1)]),
        );
    } else {
        sum(c, depth, accum, alpha, [a, b]);
    }
}

fn product<T: ComplexField>(c: MatMut<'_, T>, accum: Accum, alpha: T, [a, b]: [Factor<'_, T>; 2], par: Par) {
    matmul_with_conj(c, accum, a.0, a.1, b.0, b.1, alpha, par);
}

/// Memory for a result of a part.
fn result<T: Element>(rows: usize, columns: usize) -> Option<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(rows.checked_mul(columns)?).ok()
}

/// The product in so many parts of the depth, halves of halves, each half added to the other one when both are there: always in the same
/// order, whichever comes first. Where there is no memory for a half, it is added to the other one, product by product.
fn sum<T: Element + ComplexField>(
    mut c: MatMut<'_, T>,
    parts: usize,
    accum: Accum,
    alpha: T,
    [a, b]: [Factor<'_, T>; 2],
) {
    if parts == 1 {
        return product(c, accum, alpha, [a, b], Par::Seq);
    }
    let (rows, columns, depth) = (c.nrows(), c.ncols(), a.0.ncols());
    let (first, behind) = (parts / 2, parts - parts / 2);
    let middle = depth * first / parts;
    let (left, right) = (a.0.split_at_col(middle), b.0.split_at_row(middle));
    let [before, after] = [[(left.0, a.1), (right.0, b.1)], [(left.1, a.1), (right.1, b.1)]];
    let ((), second) = rayon::join(
        || sum(c.as_mut(), first, accum, alpha, before),
        || {
            let mut second = result(rows, columns)?;
            let own = MatMut::from_column_major_slice_mut(&mut second, rows, columns);
            sum(own, behind, Accum::Replace, alpha, after);
            Some(second)
        },
    );
    match second {
        Some(second) => c += MatRef::from_column_major_slice(&second, rows, columns),
        None => sum(c, behind, Accum::Add, alpha, after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Complex64;
    use crate::linear::{Place, Precision, matmul};
    use ndarray::Array2;

    #[test]
    fn results_of_parts_that_no_memory_has() {
        assert!(result::<f64>(usize::MAX, 2).is_none() && result::<f64>(1 << 40, 1 << 20).is_none());
        assert_eq!(result::<f32>(3, 4).map(|memory| memory.len()), Some(12));
    }

    /// More parts than this machine has threads, and than there are rows, columns or products: against sums of whole numbers.
    #[test]
    fn parts_add_up_to_the_whole() {
        let value = |i: usize| ((i * 7919 + 13) % 31) as f64 - 15.0;
        let divisions =
            [[1, 1, 1], [1, 1, 2], [1, 1, 5], [1, 1, 16], [4, 1, 1], [1, 7, 1], [2, 3, 1], [3, 2, 4], [7, 5, 3]];
        for (rows, columns, depth) in
            [(1, 1, 1), (3, 5, 1), (7, 2, 16), (5, 3, 257), (1, 11, 1001), (45, 1, 30), (100, 33, 9)]
        {
            let [a, b, before] =
                [rows * depth, depth * columns, rows * columns].map(|len| (0..len).map(value).collect::<Vec<_>>());
            let a_view = MatRef::from_column_major_slice(&a, rows, depth);
            // Row by row.
            let b_view = MatRef::from_row_major_slice(&b, depth, columns);
            for (parts, accum) in divisions.into_iter().flat_map(|parts| [(parts, Accum::Replace), (parts, Accum::Add)])
            {
                let mut c = if accum == Accum::Add { before.clone() } else { vec![f64::NAN; before.len()] };
                let view = MatMut::from_column_major_slice_mut(&mut c, rows, columns);
                parts_of(view, parts, accum, -2.0, [(a_view, Conj::No), (b_view, Conj::Yes)]);
                for (at, got) in c.into_iter().enumerate() {
                    let (i, j) = (at % rows, at / rows);
                    let exact: f64 = (0..depth).map(|k| a[i + k * rows] * b[k * columns + j]).sum();
                    let there = if accum == Accum::Add { before[at] } else { 0.0 };
                    assert_eq!(got, there - 2.0 * exact, "{rows} x {columns} of {depth} in {parts:?} parts");
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
