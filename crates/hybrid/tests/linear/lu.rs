//! LU: factors, solutions, inverses, determinants, conditions.

use super::layouts::{FORMS, Layout, Stored};
use super::numbers::{identity, random, square};
use super::places;
use super::reference::{adjoint, distance, exact, norm, residual, wide};
use ndarray::{Array2, array, s};
use tilewright_hybrid::linear::{
    Lu, Place, Scalar, determinant, inverse, log_determinant, reciprocal_condition, solve,
};
use tilewright_hybrid::{Class, Complex32, Complex64, Error, MatRef};

/// `norm(P A - L U) / (norm(A) n epsilon)`.
fn factor_residual<T: Scalar>(a: &Array2<T>, lu: &Lu<T>) -> f64 {
    let (l, u) = (lu.l().unwrap(), lu.u().unwrap());
    // Complex pivots are the largest by the sum of both parts, or by the root of their squares.
    let most = if T::COMPLEX { 2_f64.sqrt() } else { 1.0 } + 4.0 * T::EPSILON;
    for ((i, j), x) in l.indexed_iter() {
        assert!(x.modulus() <= most, "{} {x:?}", T::NAME);
        assert!(i > j || *x == if i == j { T::ONE } else { T::ZERO });
    }
    assert!(u.indexed_iter().all(|((i, j), x)| i <= j || *x == T::ZERO));
    let permuted = Array2::from_shape_fn(a.dim(), |(i, j)| a[[lu.permutation()[i], j]]);
    residual(&permuted, &exact::product(&wide(&l), &wide(&u)), norm(a), a.nrows().max(a.ncols()))
}

/// How far `a x` is from `b`, as a backward error in units of `n epsilon`.
fn solution_residual<T: Scalar>(a: &Array2<T>, x: &Array2<T>, b: &Array2<T>) -> f64 {
    residual(b, &exact::product(&wide(a), &wide(x)), norm(a) * norm(x) + norm(b), a.nrows())
}

fn factors<T: Scalar>(place: &Place) {
    for size in [1, 2, 5, 32, 65, 130] {
        for (name, a) in square::<T>(size) {
            let lu = Lu::factor(place, (&a).into()).unwrap();
            let off = factor_residual(&a, &lu);
            assert!(off <= 20.0, "{} {name} {size}: {off}", T::NAME);
        }
    }
    for (rows, columns) in [(70, 30), (30, 70), (1, 9), (9, 1), (0, 4), (4, 0)] {
        let a = random::<T>(9, rows, columns);
        let lu = Lu::factor(place, (&a).into()).unwrap();
        let off = factor_residual(&a, &lu);
        assert!(off <= 20.0, "{} {rows} x {columns}: {off}", T::NAME);
    }
}

/// F1: `norm(P A - L U) <= 20 n epsilon norm(A)`.
#[test]
fn f1_factors() {
    places::each("linear::lu::f1_factors", |place| {
        factors::<f32>(place);
        factors::<f64>(place);
        factors::<Complex32>(place);
        factors::<Complex64>(place);
    });
}

fn solutions<T: Scalar>(place: &Place) {
    for size in [1, 2, 33, 100] {
        for (name, a) in square::<T>(size).into_iter().filter(|(_, a)| !a.is_empty()) {
            let size = a.nrows();
            let lu = Lu::factor(place, (&a).into()).unwrap();
            // Hilbert's matrix has no regular factors in f32.
            let Ok(_) = lu.solve((&identity::<T>(size)).into()) else {
                assert!(name == "Hilbert" || size == 1, "{name} {size}");
                continue;
            };
            for columns in [1, 7, 0] {
                let b = random::<T>(3, size, columns);
                let x = lu.solve((&b).into()).unwrap();
                let off = solution_residual(&a, &x, &b);
                assert!(off <= 20.0, "{} {name} {size}: {off}", T::NAME);
                let x = lu.solve_adjoint((&b).into()).unwrap();
                let off = solution_residual(&adjoint(&a), &x, &b);
                assert!(off <= 20.0, "{} {name} {size}, adjoint: {off}", T::NAME);
            }
            let inverted = lu.inverse().unwrap();
            let off = distance(&identity::<T>(size), &exact::product(&wide(&a), &wide(&inverted)));
            let bound = 50.0 * size as f64 * T::EPSILON * norm(&a) * norm(&inverted);
            assert!(off <= bound, "{} {name} {size}: {off:e} > {bound:e}", T::NAME);
        }
    }
}

/// F1, F4, F5: solutions and inverses, of all right-hand sides.
#[test]
fn f1_solutions() {
    places::each("linear::lu::f1_solutions", |place| {
        solutions::<f32>(place);
        solutions::<f64>(place);
        solutions::<Complex32>(place);
        solutions::<Complex64>(place);
    });
}

/// F1: matrices that break an elimination without pivots.
#[test]
fn f1_matrices_that_need_pivots() {
    places::each("linear::lu::f1_matrices_that_need_pivots", |place| {
        let saddle = Array2::from_shape_fn((8, 8), |(i, j)| f64::from((i + 4) % 8 == j));
        assert_eq!(inverse(place, (&saddle).into()).unwrap(), saddle);
        let mut a = random::<f64>(3, 128, 128);
        a.slice_mut(s![..64, ..64]).mapv_inplace(|x| x * 1e-12);
        let r = inverse(place, (&a).into()).unwrap();
        let off = distance(&identity::<f64>(128), &exact::product(&wide(&a), &wide(&r)));
        assert!(off < 1e-8, "{off}");
    });
}

fn singular<T: Scalar>(place: &Place) {
    for size in [2, 7, 40, 100] {
        let zero_row = |at: usize| {
            let mut a = random::<T>(5, size, size);
            a.row_mut(at).fill(T::ZERO);
            a
        };
        let mut twice = random::<T>(6, size, size);
        let row = twice.row(size / 3).to_owned();
        twice.row_mut(size - 1).assign(&row);
        let mut column = random::<T>(7, size, size);
        let first = column.column(0).to_owned();
        column.column_mut(size / 2).assign(&first);
        let cases = [
            (zero_row(0), Some(size - 1)),
            (zero_row(size / 2), Some(size - 1)),
            (twice, Some(size - 1)),
            (column, Some(size / 2)),
            (Array2::from_elem((size, size), T::ZERO), Some(0)),
        ];
        for (case, (a, expected)) in cases.into_iter().enumerate() {
            let lu = Lu::factor(place, (&a).into()).unwrap();
            let what = (T::NAME, size, case);
            assert_eq!(lu.singular_pivot(), expected, "{what:?}");
            let error = solve(place, (&a).into(), (&a).into()).unwrap_err();
            assert!(
                matches!(error, Error::Singular { pivot, size: n } if Some(pivot) == expected && n == size),
                "{what:?} {error}"
            );
            assert_eq!(error.class(), Class::Numeric);
            assert!(matches!(inverse(place, (&a).into()), Err(Error::Singular { .. })));
            assert_eq!(determinant(place, (&a).into()).unwrap(), T::ZERO);
            let log = log_determinant(place, (&a).into()).unwrap();
            assert_eq!((log.sign, log.log_abs), (T::ZERO, f64::NEG_INFINITY));
            assert_eq!(reciprocal_condition(place, (&a).into()).unwrap(), 0.0);
        }
    }
}

/// F2: exactly singular matrices are the same error everywhere.
#[test]
fn f2_singular_matrices() {
    places::each("linear::lu::f2_singular_matrices", |place| {
        singular::<f32>(place);
        singular::<f64>(place);
        singular::<Complex32>(place);
        singular::<Complex64>(place);
    });
}

/// F2: a nearly singular matrix has a solution, and a condition that says what it is worth.
#[test]
fn f2_nearly_singular_matrices() {
    places::each("linear::lu::f2_nearly_singular_matrices", |place| {
        let a = Array2::from_shape_fn((12, 12), |(i, j)| 1.0 / (i + j + 1) as f64);
        let lu = Lu::factor(place, (&a).into()).unwrap();
        assert_eq!(lu.singular_pivot(), None);
        assert!(lu.reciprocal_condition().unwrap() < 1e-15);
        assert!(lu.solve((&a).into()).unwrap().iter().all(|x| x.is_finite()));
    });
}

fn conditions<T: Scalar>(place: &Place) {
    for size in [1, 2, 10, 60] {
        let a = random::<T>(8, size, size);
        let lu = Lu::factor(place, (&a).into()).unwrap();
        let exact = 1.0 / (norm(&a) * norm(&lu.inverse().unwrap()));
        let got = lu.reciprocal_condition().unwrap();
        assert!(got >= exact * 0.99 && got <= 10.0 * exact, "{} {size}: {got} for {exact}", T::NAME);
    }
    let diagonal = Array2::from_shape_fn((9, 9), |(i, j)| T::from_f64(if i == j { 2_f64.powi(i as i32) } else { 0.0 }));
    let got = reciprocal_condition(place, (&diagonal).into()).unwrap();
    assert!((got * 256.0 - 1.0).abs() < 1e-5, "{got}");
}

#[test]
fn conditions_are_near() {
    places::each("linear::lu::conditions_are_near", |place| {
        conditions::<f32>(place);
        conditions::<f64>(place);
        conditions::<Complex32>(place);
        conditions::<Complex64>(place);
    });
}

fn determinants<T: Scalar>(place: &Place) {
    let number = |re, im| T::nearest(Complex64::new(re, im));
    let two = ndarray::arr2(&[[number(1.0, 1.0), number(2.0, 0.0)], [number(3.0, 0.0), number(4.0, -2.0)]]);
    let expected = two[[0, 0]].wide() * two[[1, 1]].wide() - two[[0, 1]].wide() * two[[1, 0]].wide();
    let got = determinant(place, (&two).into()).unwrap();
    assert!((got.wide() - expected).norm() <= 16.0 * T::EPSILON * expected.norm(), "{got:?} {expected}");
    for shift in 0..5 {
        let permutation = Array2::from_shape_fn((5, 5), |(i, j)| T::from_f64(f64::from((i + shift) % 5 == j)));
        assert_eq!(determinant(place, (&permutation).into()).unwrap(), T::ONE, "cycles of five are even");
    }
    let exchange = Array2::from_shape_fn((6, 6), |(i, j)| T::from_f64(f64::from(i + j == 5)));
    assert_eq!(determinant(place, (&exchange).into()).unwrap(), T::from_f64(-1.0));
    // Far beyond the range of floats.
    let large = Array2::from_shape_fn((300, 300), |(i, j)| T::from_f64(if i == j { -1e30 } else { 0.0 }));
    let log = log_determinant(place, (&large).into()).unwrap();
    let expected = 300.0 * T::from_f64(1e30).modulus().ln();
    assert_eq!(log.sign, T::ONE);
    assert!((log.log_abs - expected).abs() < 1e-9 * expected, "{}", log.log_abs);
    assert!(determinant(place, (&large).into()).unwrap().modulus().is_infinite());
    // Huge and tiny factors whose product is an ordinary number.
    let mixed = Array2::from_shape_fn((64, 64), |(i, j)| match i == j {
        true => T::from_f64(2_f64.powi(if i < 32 { 100 } else { -100 })),
        false => T::ZERO,
    });
    assert_eq!(determinant(place, (&mixed).into()).unwrap(), T::ONE);
}

#[test]
fn determinants_have_sign_and_size() {
    places::each("linear::lu::determinants_have_sign_and_size", |place| {
        determinants::<f32>(place);
        determinants::<f64>(place);
        determinants::<Complex32>(place);
        determinants::<Complex64>(place);
    });
}

fn views<T: Scalar>(place: &Place) {
    let (a, b) = (random::<T>(11, 20, 20), random::<T>(12, 20, 3));
    let scale = T::nearest(Complex64::new(0.5, 2.0));
    for form in FORMS {
        let undone = form.undone(&a.mapv(|x| T::nearest(x.wide() / scale.wide())));
        for layout in [Layout::Rows, Layout::ColumnWindow, Layout::Reversed] {
            let (stored_a, stored_b) = (Stored::new(layout, &undone), Stored::new(layout, &b));
            let (view_a, view_b) = (stored_a.view(), stored_b.view());
            let x = solve(place, form.of((&view_a).into()).scaled(scale), (&view_b).into()).unwrap();
            let off = solution_residual(&a, &x, &b);
            assert!(off <= 40.0, "{} {form:?} {layout:?}: {off}", T::NAME);
        }
    }
}

/// F3: transposed, conjugated and scaled views are as copies.
#[test]
fn f3_views() {
    places::each("linear::lu::f3_views", |place| {
        views::<f32>(place);
        views::<f64>(place);
        views::<Complex32>(place);
        views::<Complex64>(place);
    });
}

/// F4: sizes 0 and 1, and matrices that are not square.
#[test]
fn f4_sizes() {
    places::each("linear::lu::f4_sizes", |place| {
        let empty = Array2::<f64>::zeros((0, 0));
        assert_eq!(determinant(place, (&empty).into()).unwrap(), 1.0);
        assert_eq!(inverse(place, (&empty).into()).unwrap().dim(), (0, 0));
        assert_eq!(solve(place, (&empty).into(), (&Array2::zeros((0, 3))).into()).unwrap().dim(), (0, 3));
        let one = ndarray::arr2(&[[4.0]]);
        assert_eq!(inverse(place, (&one).into()).unwrap(), ndarray::arr2(&[[0.25]]));
        let wide = random::<f64>(1, 3, 4);
        let refused = |error: Error| assert!(matches!(error, Error::NotSquare { rows: 3, columns: 4, .. }), "{error}");
        refused(solve(place, (&wide).into(), (&wide).into()).unwrap_err());
        refused(inverse(place, (&wide).into()).unwrap_err());
        refused(determinant(place, (&wide).into()).unwrap_err());
        refused(reciprocal_condition(place, (&wide).into()).unwrap_err());
        let (a, b) = (random::<f64>(1, 3, 3), random::<f64>(1, 4, 1));
        assert!(matches!(solve(place, (&a).into(), (&b).into()), Err(Error::Shape { expected: 3, got: 4, .. })));
    });
}

/// NaN is no singularity: it comes out again, from the processor that was asked for.
#[test]
fn g12_nan_goes_through() {
    places::each("linear::lu::g12_nan_goes_through", |place| {
        let mut a = random::<f64>(1, 30, 30);
        a[[3, 4]] = f64::NAN;
        let (a, b) = (MatRef::from(&a), random::<f64>(2, 30, 1));
        let x = solve(place, a, (&b).into()).unwrap();
        assert!(x.iter().any(|x| x.is_nan()));
        assert!(determinant(place, a).unwrap().is_nan() && reciprocal_condition(place, a).unwrap().is_nan());
        assert!(inverse(place, a).unwrap().iter().any(|x| x.is_nan()));
        let lu = Lu::factor(place, a).unwrap();
        assert!(lu.u().unwrap().iter().any(|x| x.is_nan()) && lu.singular_pivot().is_none());
    });
}

/// A pivot that is infinite leaves finite numbers on the CPU, and NaN on a GPU, which does not tell them apart.
#[test]
fn g12_infinity_is_no_finite_number_afterwards() {
    places::each("linear::lu::g12_infinity_is_no_finite_number_afterwards", |place| {
        let mut a = random::<f64>(1, 20, 20);
        a[[7, 5]] = f64::INFINITY;
        assert!(!determinant(place, (&a).into()).unwrap().is_finite());
    });
}

/// Sums beyond the range are not elements beyond it.
#[test]
fn a_norm_beyond_the_range_leaves_the_factors_as_they_are() {
    places::each("linear::lu::a_norm_beyond_the_range_leaves_the_factors_as_they_are", |place| {
        let large: Array2<f64> = array![[1e308, 0.0], [1e308, 1e308]];
        let lu = Lu::factor(place, MatRef::from(&large)).unwrap();
        assert_eq!(lu.u().unwrap(), array![[1e308, 0.0], [0.0, 1e308]]);
        let x = lu.solve((&array![[1e308], [0.0]]).into()).unwrap();
        assert!((x[[0, 0]] - 1.0).abs() < 1e-15 && (x[[1, 0]] + 1.0).abs() < 1e-15, "{x}");
    });
}
