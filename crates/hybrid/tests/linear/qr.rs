//! QR and least squares.

use super::numbers::{random, square};
use super::places;
use super::reference::{adjoint, exact, norm, orthonormality, residual, wide};
use ndarray::Array2;
use tilewright_hybrid::linear::{Place, Qr, Scalar, least_squares};
use tilewright_hybrid::{Complex32, Complex64, Error, MatRef};

fn check<T: Scalar>(place: &Place, name: &str, a: &Array2<T>) {
    let qr = Qr::factor(place, a.into()).unwrap();
    let (q, r) = (qr.q().unwrap(), qr.r().unwrap());
    let size = a.nrows().min(a.ncols());
    assert_eq!((q.dim(), r.dim()), ((a.nrows(), size), (size, a.ncols())));
    assert!(r.indexed_iter().all(|((i, j), x)| i <= j || *x == T::ZERO));
    let off = orthonormality(&q);
    assert!(off <= 20.0, "{} {name} {:?}: {off}", T::NAME, a.dim());
    let off = residual(a, &exact::product(&wide(&q), &wide(&r)), norm(a), a.nrows().max(a.ncols()));
    assert!(off <= 20.0, "{} {name} {:?}: {off}", T::NAME, a.dim());
}

fn factors<T: Scalar>(place: &Place) {
    for (rows, columns) in
        [(1, 1), (5, 5), (64, 20), (20, 64), (130, 70), (7, 1), (1, 7), (0, 3), (3, 0), (260, 197), (150, 300)]
    {
        check(place, "random", &random::<T>(1, rows, columns));
    }
    square::<T>(40).iter().for_each(|(name, a)| check(place, name, a));
    check(place, "zero", &Array2::from_elem((6, 4), T::ZERO));
    let depends = |(i, j)| if j % 3 == 0 { 0.0 } else { ((i * (j % 7 + 2)) as f64).cos() };
    check(place, "some columns zero, others the same", &Array2::from_shape_fn((90, 70), |at| T::from_f64(depends(at))));
    // Columns that are nearly the same: what is left of the others is small in parts of them.
    for (rows, columns, by) in [(40, 6, 1e-5), (3000, 4, 1e4 * T::EPSILON)] {
        let near = random::<T>(5, rows, columns).mapv(|x| T::nearest(x.wide() * by + 1.0));
        check(place, "nearly the same", &near);
    }
}

#[test]
fn f1_factors() {
    places::each("linear::qr::f1_factors", |place| {
        factors::<f32>(place);
        factors::<f64>(place);
        factors::<Complex32>(place);
        factors::<Complex64>(place);
    });
}

/// Of half a million rows on, `16 * rows * epsilon` of a column in f32 is all of it: that is no bound below which it may be left out.
#[test]
fn f1_factors_of_many_rows() {
    check(&Place::Cpu, "many rows", &random::<f32>(1, 600_000, 3));
}

fn squares<T: Scalar>(place: &Place) {
    for (rows, columns) in [(1, 1), (30, 30), (50, 8), (100, 64)] {
        let (a, b) = (random::<T>(2, rows, columns), random::<T>(3, rows, 4));
        let x = least_squares(place, (&a).into(), (&b).into()).unwrap();
        // What is left is orthogonal to the columns.
        let left = wide(&b) - exact::product(&wide(&a), &wide(&x));
        let off = norm(&exact::product(&wide(&adjoint(&a)), &left));
        let bound = 40.0 * rows as f64 * T::EPSILON * norm(&a) * (norm(&b) + norm(&a) * norm(&x));
        assert!(off <= bound, "{} {rows} x {columns}: {off} > {bound}", T::NAME);
    }
    let mut a = random::<T>(4, 20, 6);
    let first = a.column(1).to_owned();
    a.column_mut(4).assign(&first);
    let error = least_squares(place, (&a).into(), MatRef::from(&a)).unwrap_err();
    assert!(matches!(error, Error::Singular { pivot: 4, size: 6 }), "{error}");
    let error = least_squares(place, MatRef::from(&a).t(), MatRef::from(&a)).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}

#[test]
fn least_squares_are_least() {
    places::each("linear::qr::least_squares_are_least", |place| {
        squares::<f32>(place);
        squares::<f64>(place);
        squares::<Complex32>(place);
        squares::<Complex64>(place);
    });
}

/// Columns that are nearly the same are not, however many rows they have; the same ones are.
#[test]
fn columns_of_many_rows_are_not_dependent_for_that() {
    places::each("linear::qr::columns_of_many_rows_are_not_dependent_for_that", |place| {
        const ROWS: usize = 200_000;
        let near = |by: f32| Array2::from_shape_fn((ROWS, 2), |(i, j)| 1.0 + by * (j * (i % 2)) as f32);
        let (a, x) = (near(0.03), ndarray::array![[3.0f32], [-2.0]]);
        let got = least_squares(place, (&a).into(), (&a.dot(&x)).into()).unwrap();
        // What sums of so many rows lose, in parts of a second singular value that is a hundredth of the first.
        assert!((&got - &x).iter().all(|off| off.abs() < 0.05), "{got}");
        let error = least_squares(place, (&near(0.0)).into(), (&Array2::ones((ROWS, 1))).into()).unwrap_err();
        assert!(matches!(error, Error::Singular { pivot: 1, size: 2 }), "{error}");
    });
}

fn not_finite<T: Scalar>(place: &Place) {
    for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // On the diagonal an infinite R is as large as the column that it is of.
        for at in [[0, 0], [5, 3], [19, 5]] {
            let (mut a, b) = (random::<T>(2, 20, 6), random::<T>(3, 20, 2));
            a[at] = T::from_f64(special);
            let qr = Qr::factor(place, (&a).into()).unwrap();
            let is_nan = |x: &T| x.modulus().is_nan();
            assert!(qr.q().unwrap().iter().all(is_nan), "{special} at {at:?}");
            let r = qr.r().unwrap();
            assert!(r.indexed_iter().all(|((i, j), x)| if i <= j { is_nan(x) } else { *x == T::ZERO }), "{r:?}");
            let x = least_squares(place, (&a).into(), (&b).into()).unwrap();
            assert!(x.dim() == (6, 2) && x.iter().all(is_nan), "{special} at {at:?}: {x:?}");
        }
    }
}

/// Such a matrix is not singular.
#[test]
fn g12_what_is_not_finite_comes_out_as_nan() {
    places::each("linear::qr::g12_what_is_not_finite_comes_out_as_nan", |place| {
        not_finite::<f32>(place);
        not_finite::<f64>(place);
        not_finite::<Complex32>(place);
        not_finite::<Complex64>(place);
    });
}
